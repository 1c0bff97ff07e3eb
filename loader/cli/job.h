/*
 * job.h - one file of `symloader load`.
 */
#ifndef SYMLOADER_CLI_JOB_H
#define SYMLOADER_CLI_JOB_H

#include "cli/operands.h"
#include "cli/package.h"
#include "driver/conversion.h"

typedef struct {
    conversion_t conversion;

    char *path;
    char *source; /* absolute path of the file */
    char *opened; /* absolute path of the file that was opened; for a pointer,
                     its target */
    char *root;   /* absolute path of the folder in which it was found; or
                     NULL */
    char *site;   /* for a script or source map: its path on its web site; or
                   "" */
    package_t *package;    /* the package that it is, or that contains it; or
                           NULL */
    uint64_t offset, size; /* offset: in its descriptor */
    bool is_in_tree, is_package;
} job_t;

/* Opens a file.  url_prefix: path of the folder on the site, or NULL.  NULL: it
 * cannot be opened; *err has the reason. */
job_t *job_open(const walk_file_t *file, const char *url_prefix,
                sym_error_t *err);

/* Opens a package, to have it taken apart. */
job_t *job_open_package(const walk_file_t *file, sym_error_t *err);

/* Opens the next file of a package, of which one is left. */
job_t *job_open_member(package_t *package, sym_error_t *err);

/* Callbacks of conversions: release, and companion; the latter calls
 * companions_open() for this file, or
 * package_companion(). */
void job_release(conversion_t *c);
int job_companion(conversion_t *c, const sym_companion_t *want,
                  converter_given_t *given);

/* Number of the file's bytes that its converter has read; 0 for a file of a
 * package. */
uint64_t job_position(const job_t *job);

/* Whether the file's path contradicts its MODULE line. */
bool job_is_misplaced(const job_t *job);

#endif
