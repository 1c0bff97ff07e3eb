/*
 * job.h - one file that `symloader load` was asked for.
 */
#ifndef SYMLOADER_CLI_JOB_H
#define SYMLOADER_CLI_JOB_H

#include "driver/store_upload.h"
#include "cli/order.h"
#include "cli/operands.h"

typedef struct job_s job_t;

struct job_s {
    job_t *next; /* the owner's */
    void *owner;
    uint64_t sequence; /* which file it is, from 1 */

    char *path;
    char *source; /* the same, absolute */
    char *root;   /* of the folder it was found in, absolute; or NULL */
    int fd;
    uint64_t size;
    bool is_in_tree;

    store_upload_t upload; /* key: once the converter has named the module */
};

/* NULL: cannot be had, *err says why. */
job_t *job_open(const walk_file_t *file, sym_error_t *err);

/* Drops what is not committed. */
void job_free(job_t *job);

/* Bytes of the file that its converter has read. */
uint64_t job_position(const job_t *job);

/* As companions_open(), of this file. */
int job_companion(const job_t *job, const sym_companion_t *want,
                  converter_given_t *given);

/* Where the file lies says something else than its MODULE line. */
bool job_is_misplaced(const job_t *job);

/* name and id: as the MODULE line has them, not checked yet. */
sym_status_t job_begin(job_t *job, sym_store_t *store,
                       const pool_module_t *module, sym_error_t *err);

store_upload_result_t job_commit(job_t *job, sym_store_t *store, order_t *order,
                                 const converter_done_t *done, bool force,
                                 sym_error_t *err);

#endif
