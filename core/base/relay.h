/*
 * relay.h - work on numbered pieces in two steps: many threads do the first
 * step; one thread at a time does the second, in order.
 *
 * The result of the first step stays in a slot until the second takes it.  A
 * thread that is too far ahead waits, so memory does not grow with the number
 * of pieces.  The first free slot is used next, so that its memory is reused.
 */
#ifndef SYM_BASE_RELAY_H
#define SYM_BASE_RELAY_H

#include <stdbool.h>

#include "base/slots.h"
#include "base/thread_pool.h"

#define SYM_RELAY_SLOTS SYM_SLOTS

typedef struct {
    size_t n_pieces;
    void *ctx;

    /* Runs on any thread; no other piece shares the slot. */
    void (*make)(void *ctx, size_t piece, size_t slot);

    /* Called for each piece in order; false: stop. */
    bool (*take)(void *ctx, size_t piece, size_t slot);
} sym_relay_t;

/* pool: threads that help; NULL: the caller does all the work. */
void sym_relay_run(const sym_relay_t *relay, const sym_thread_pool_t *pool);

#endif
