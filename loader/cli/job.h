/*
 * job.h - one file that `symloader load` was asked for.
 */
#ifndef SYMLOADER_CLI_JOB_H
#define SYMLOADER_CLI_JOB_H

#include "cli/operands.h"
#include "driver/conversion.h"

typedef struct {
    conversion_t conversion;

    char *path;
    char *source; /* the same, absolute */
    char *opened; /* the file itself, absolute: of a pointer another one */
    char *root;   /* of the folder it was found in, absolute; or NULL */
    uint64_t size;
    bool is_in_tree;
} job_t;

/* NULL: cannot be had, *err says why. */
job_t *job_open(const walk_file_t *file, sym_error_t *err);

/* The release event; the companion event: companions_open() of this file. */
void job_release(conversion_t *c);
int job_companion(conversion_t *c, const sym_companion_t *want,
                  converter_given_t *given);

/* Bytes of the file that its converter has read. */
uint64_t job_position(const job_t *job);

/* Where the file lies says something else than its MODULE line. */
bool job_is_misplaced(const job_t *job);

#endif
