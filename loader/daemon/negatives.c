#include "daemon/negatives.h"

#include <stdlib.h>

/* Limits the memory for a turn. */
#define NEGATIVES_MAX 1024

struct negative_s {
    negative_t *next;
    inflight_t *inflight;
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


void
negatives_add(negatives_t *s, inflight_t *inflight, fetch_result_t *o)
{
    negative_t *one = malloc(sizeof(*one));

    /* places that were not tried have failed with the others */
    if (o->state == SYM_MODULE_FAILED) {
        o->ttl_s = fetch_result_jitter(o->ttl_s);
        places_settle(&s->places, inflight, inflight->open, o);
    }

    if (one == NULL) {
        inflight_settle(s->inflights, inflight, o);
        return;
    }

    inflight_hold(s->inflights, inflight);
    *one = (negative_t){ .inflight = inflight, .outcome = *o };
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
    /* combines all places, including those with outcomes of other searches */
    places_commit(&s->places);

    while (s->first != NULL) {
        negative_t *one = take_first(s);

        /* waiting clients get the outcome even if it could not be stored */
        (void) places_result(&s->places, one->inflight, &one->outcome);
        inflight_settle(s->inflights, one->inflight, &one->outcome);
        free(one);
    }
}


void
negatives_free(negatives_t *s)
{
    while (s->first != NULL) {
        free(take_first(s));
    }
}
