/*
 * settle.h - negative outcomes of one turn of the loop, kept together.
 *
 * A commit that is on disk costs milliseconds, whatever is in it, and sources
 * that have nothing answer at once: so outcomes are put into the store as they
 * come, and committed and told to all who wait at the end of the turn.  Until
 * then a flight is held: whoever asks for its module joins it.
 */
#ifndef SYMLOADER_SETTLE_H
#define SYMLOADER_SETTLE_H

#include "flight.h"

typedef struct settling_s settling_t;

typedef struct {
    sym_store_t *store;
    flights_t *flights;
    void *owner;
    void (*failed)(void *owner, const sym_error_t *err); /* the store has */

    settling_t *first, *last;
    unsigned n;
} settle_t;

/* Kept if it can be, told to all who wait in any case; the flight is not the
 * caller's any more. */
void settle_add(settle_t *s, flight_t *flight, sym_str_t attempts,
                outcome_t *o);

/* Ends them all, in the order in which they came. */
void settle_all(settle_t *s);

/* Without the store: it is not to be touched any more. */
void settle_free(settle_t *s);

#endif
