#include "settle.h"

#include <stdlib.h>

/* Bounds the memory that a turn takes: a record is up to 4 KiB in LMDB. */
#define SETTLE_MAX 1024

struct settling_s {
    settling_t *next;
    flight_t *flight;
    sym_ingest_t *ingest;
    outcome_t outcome;
};

static void
append(settle_t *s, settling_t *one)
{
    if (s->last != NULL) {
        s->last->next = one;
    } else {
        s->first = one;
    }

    s->last = one;
    s->n++;
}


/* Put into the store; NULL: there is nothing that a commit would bring. */
static sym_ingest_t *
put(settle_t *s, const flight_t *flight, sym_str_t attempts, outcome_t *o)
{
    sym_ingest_t *ingest;
    sym_error_t err = { 0 };

    if (outcome_put(s->store, &flight->key, attempts, o, &ingest, &err)
        != SYM_OK) {
        s->failed(s->owner, &err);
        return NULL;
    }

    return ingest;
}


void
settle_add(settle_t *s, flight_t *flight, sym_str_t attempts, outcome_t *o)
{
    settling_t *one = malloc(sizeof(*one));
    sym_ingest_t *ingest = NULL;

    if (one != NULL) {
        ingest = put(s, flight, attempts, o);
    }

    /* those who wait are told, whether or not it can be kept */
    if (ingest == NULL) {
        free(one);
        flight_settle(s->flights, flight, o);
        return;
    }

    flight_hold(s->flights, flight);
    *one = (settling_t){ .flight = flight, .ingest = ingest, .outcome = *o };
    append(s, one);

    if (s->n >= SETTLE_MAX) {
        settle_all(s);
    }
}


static settling_t *
take_first(settle_t *s)
{
    settling_t *one = s->first;

    s->first = one->next;
    s->n--;

    if (s->first == NULL) {
        s->last = NULL;
    }

    return one;
}


void
settle_all(settle_t *s)
{
    while (s->first != NULL) {
        settling_t *one = take_first(s);
        sym_error_t err = { 0 };

        if (sym_ingest_finish(one->ingest, &err) != SYM_OK) {
            s->failed(s->owner, &err);
        }

        flight_settle(s->flights, one->flight, &one->outcome);
        free(one);
    }
}


void
settle_free(settle_t *s)
{
    while (s->first != NULL) {
        free(take_first(s));
    }
}
