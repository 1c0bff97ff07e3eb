/*
 * negatives.h - negative outcomes of one turn of the loop, kept together.
 *
 * A durable commit costs milliseconds, whatever is in it, and sources without
 * the modules answer at once.  So outcomes are put into the store as they
 * come, and committed and told to all waiting clients at the end of the turn.
 * Until then the in-flight request is held, and further questions for its
 * module join it.
 */
#ifndef SYMLOADER_DAEMON_NEGATIVES_H
#define SYMLOADER_DAEMON_NEGATIVES_H

#include "daemon/inflight.h"

typedef struct negative_s negative_t;

typedef struct {
    sym_store_t *store;
    inflights_t *inflights;
    void *owner;
    void (*failed)(void *owner, const sym_error_t *err); /* the store has */

    negative_t *first, *last;
    unsigned n;
} negatives_t;

/* Stores the outcome if possible, and tells all waiting clients in any case.
 * Takes the in-flight request over. */
void negatives_add(negatives_t *s, inflight_t *inflight, sym_str_t attempts,
                   fetch_result_t *o);

/* Ends them all, in the order in which they came. */
void negatives_commit(negatives_t *s);

/* Without the store: it is not to be touched any more. */
void negatives_free(negatives_t *s);

#endif
