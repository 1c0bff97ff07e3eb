/*
 * negatives.h - negative outcomes of one turn of the loop, committed together.
 *
 * A durable commit takes milliseconds, regardless of its size, and sources
 * without the modules answer at once.  So outcomes of places are put into the
 * store as they arrive.  At the end of the turn, they are committed, and sent
 * to all waiting clients.  Until then the in-flight request is held, and
 * further requests for its module join it.
 */
#ifndef SYMLOADER_DAEMON_NEGATIVES_H
#define SYMLOADER_DAEMON_NEGATIVES_H

#include "daemon/places.h"

typedef struct negative_s negative_t;

typedef struct {
    places_t places;
    inflights_t *inflights;

    negative_t *first, *last;
    unsigned n;
} negatives_t;

/* Sends the outcome to all waiting clients after the commit.  The lifetime of a
 * failure is varied.  Takes ownership of the in-flight request. */
void negatives_add(negatives_t *s, inflight_t *inflight, fetch_result_t *o);

/* Commits all of them, and settles them in order of arrival. */
void negatives_commit(negatives_t *s);

/* Frees them without the store, which may be unusable. */
void negatives_free(negatives_t *s);

#endif
