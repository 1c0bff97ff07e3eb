/*
 * relay.h - work on a row of pieces in two steps: many threads do the first;
 * the second is done in order, by one thread at a time.
 *
 * The result of the first step lies in a slot until the second has taken it, and
 * a thread that is too far ahead waits: memory does not grow with the number of
 * pieces.  The first free slot is the next, so what it has of memory is used again.
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

    /* Of any piece, in any thread; the slot is this piece's alone. */
    void (*make)(void *ctx, size_t piece, size_t slot);

    /* Of one piece after the other; false: that was the last. */
    bool (*take)(void *ctx, size_t piece, size_t slot);
} sym_relay_t;

/* pool: threads that help; NULL: the caller does all of it. */
void sym_relay_run(const sym_relay_t *relay, const sym_thread_pool_t *pool);

#endif
