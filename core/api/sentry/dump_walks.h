/*
 * dump_walks.h - the walks of a crash report's threads.  Private to dump*.c.
 *
 * A few threads are walked at a time; frames are added to the request when a
 * walk ends.
 */
#ifndef SYM_API_SENTRY_DUMP_WALKS_H
#define SYM_API_SENTRY_DUMP_WALKS_H

#include "api/sentry/dump.h"
#include "api/sentry/readers.h"

/* Unwind rules of a module, for the walks. */
typedef struct {
    bool is_tried; /* opening was tried in this snapshot */
    bool is_open;
    sym_cfi_t cfi;
} sentry_dump_rules_t;

typedef struct {
    uint32_t thread; /* SYM_CRASH_NO_THREAD: the slot is free */
    sym_walk_t walk;
} sentry_dump_slot_t;

typedef struct {
    sentry_t base; /* first */
    const sym_crash_t *crash;
    sentry_dump_file_t file;
    const sym_request_t
        *linked;            /* the request with the options; NULL: the report
                               has them */
    sym_str_t failure;      /* why there is no report, or "" */
    sym_rewrite_pt rewrite; /* NULL: names are not rewritten */
    uint32_t n_rules;       /* number of rules that were applied */
    bool is_read, is_rewritten;

    sym_walk_owner_t owner;
    sym_process_t process;
    sym_image_t *images;        /* image of each module */
    sentry_dump_rules_t *rules; /* rules of each module */
    sentry_dump_slot_t *slots;
    uint8_t *ends;       /* sym_walk_end_t for each thread */
    uint32_t thread;     /* number of threads that have begun */
    uint32_t n_reserved; /* number of their frames, or an upper bound */
    bool is_walked;
    bool is_out_of_memory; /* a callback had no memory */
} sentry_dump_t;

/* Returns the text, or "" if it is too long for a reference. */
static inline sym_str_t
sentry_dump_text(sym_str_t text)
{
    return text.len <= SYM_OBJECT_TEXT_MAX ? text : SYM_STR("");
}


/* Prepares the walks of all threads; call it when the request has modules and
 * stacks. */
sym_status_t sentry_walks_prepare(sentry_dump_t *d);

/* Begins all walks again, without frames. */
void sentry_walks_restart(sentry_dump_t *d);

/* For another snapshot: rules are opened again. */
void sentry_walks_reopen(sentry_dump_t *d);

/* A step that walks all threads.  The next step is the first one of an answer
 * with frames. */
sym_status_t sentry_walks_go_on(sym_request_t *r, sym_out_t *out,
                                uint32_t *budget);

#endif
