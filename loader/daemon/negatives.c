#include "daemon/negatives.h"

#include <stdlib.h>

/* Bounds the memory for a turn: a record takes up to 4 KiB in LMDB. */
#define NEGATIVES_MAX 1024

struct negative_s {
    negative_t *next;
    inflight_t *inflight;
    sym_ingest_t *ingest;
    fetch_result_t outcome;
};

static void
append(negatives_t *s, negative_t *one)
{
    if (s->last != NULL) {
        s->last->next = one;
    } else {
        s->first = one;
    }

    s->last = one;
    s->n++;
}


/* Puts the outcome into the store; NULL: nothing to commit. */
static sym_ingest_t *
put(negatives_t *s, const inflight_t *inflight, fetch_result_t *o)
{
    sym_ingest_t *ingest;
    sym_error_t err = { 0 };

    if (fetch_result_put(s->places.store, &inflight->key, inflight->kind, o,
                         &ingest, &err)
        != SYM_OK)
    {
        s->places.failed(s->places.owner, &err);
        return NULL;
    }

    return ingest;
}


void
negatives_add(negatives_t *s, inflight_t *inflight, fetch_result_t *o)
{
    negative_t *one = malloc(sizeof(*one));

    /* what was not tried has failed with the rest */
    if (o->state == SYM_MODULE_FAILED) {
        places_settle(&s->places, inflight, inflight->open, o);
    }

    /* waiting clients get the outcome even if it cannot be stored */
    if (one == NULL) {
        inflight_settle(s->inflights, inflight, o);
        return;
    }

    inflight_hold(s->inflights, inflight);
    *one = (negative_t){ .inflight = inflight, .ingest = put(s, inflight, o) };
    one->outcome = *o;
    append(s, one);

    if (s->n >= NEGATIVES_MAX) {
        negatives_commit(s);
    }
}


static negative_t *
take_first(negatives_t *s)
{
    negative_t *one = s->first;

    s->first = one->next;
    s->n--;

    if (s->first == NULL) {
        s->last = NULL;
    }

    return one;
}


void
negatives_commit(negatives_t *s)
{
    while (s->first != NULL) {
        negative_t *one = take_first(s);
        sym_error_t err = { 0 };

        if (one->ingest != NULL
            && sym_ingest_finish(one->ingest, &err) != SYM_OK) {
            s->places.failed(s->places.owner, &err);
        }

        /* all places together, also those with outcomes of other searches */
        places_commit(&s->places);
        (void) places_result(&s->places, one->inflight, &one->outcome);
        inflight_settle(s->inflights, one->inflight, &one->outcome);
        free(one);
    }

    places_commit(&s->places);
}


void
negatives_free(negatives_t *s)
{
    while (s->first != NULL) {
        free(take_first(s));
    }
}
