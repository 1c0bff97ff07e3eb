/*
 * job.h - one file on its way into the store.
 *
 * Takes what the pool passes on from a converter, names the module, and hands
 * the extents to the store.  Nothing can be seen there before the last step.
 */
#ifndef SYMLOADER_JOB_H
#define SYMLOADER_JOB_H

#include "order.h"
#include "store/store.h"
#include "walk.h"
#include "wire.h"

typedef struct job_s job_t;

struct job_s {
    job_t *next; /* the owner's */
    void *owner;
    uint64_t sequence; /* which file it is, from 1 */

    char *path;
    char *source; /* the same, absolute */
    int fd;
    uint64_t size;
    bool is_in_tree;

    /* once the converter has named the module */
    sym_module_key_t key; /* into name and id */
    char name[SYM_NAME_MAX];
    char id[SYM_ID_MAX];
    sym_ingest_t *ingest;
    bool is_store_error; /* what failed was the store, not the file */
};

/* NULL: cannot be opened, *err says why. */
job_t *job_open(const walk_file_t *file, sym_error_t *err);

/* Drops what is not committed. */
void job_free(job_t *job);

/* Bytes of the file that its converter has read. */
uint64_t job_position(const job_t *job);

/* Where the file lies says something else than its MODULE line. */
bool job_is_misplaced(const job_t *job);

/* name and id: as the MODULE line has them, not checked yet. */
sym_status_t job_begin(job_t *job, sym_store_t *store, sym_str_t name,
                       sym_str_t id, sym_error_t *err);
sym_status_t job_extent(job_t *job, uint32_t number, const uint8_t *data,
                        size_t len, sym_error_t *err);

typedef enum {
    JOB_FAILED,
    JOB_STORED,
    JOB_KEPT_BETTER, /* what the store has is better */
    JOB_KEPT_LATER   /* a later file of the same module was quicker */
} job_result_t;

job_result_t job_commit(job_t *job, sym_store_t *store, order_t *order,
                        const wire_done_t *done, bool force, sym_error_t *err);

#endif
