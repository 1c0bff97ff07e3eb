#include "daemon/forget.h"

#include "common/module.h"

static void
doubt_flight(void *ctx, inflight_t *inflight)
{
    serve_t *s = ctx;
    submission_t *c;

    inflight_doubt(&s->inflights, inflight);

    for (c = submission_first(&s->conversions); c != NULL;
         c = submission_next(c)) {
        c->conversion.is_void |= c->inflight == inflight;
    }
}


/* --- a module --- */

typedef struct {
    serve_t *serve;
    const sym_module_key_t *key;
} doubt_t;

static void
doubt_id(void *ctx, table_node_t *node)
{
    const doubt_t *d = ctx;
    inflight_t *inflight = (inflight_t *) node;

    if (inflight_is_of(inflight, d->key)) {
        doubt_flight(d->serve, inflight);
    }
}


void
forget_running(serve_t *s, const sym_module_key_t *key)
{
    doubt_t d = { s, key };
    inflight_t *inflight = NULL;

    if (key->name.len == 0 || key->code_id.len != 0) {
        table_each(&s->inflights.by_question, doubt_id, &d);
        return;
    }

    while ((inflight = inflight_next_of(&s->inflights, key, inflight)) != NULL)
    {
        doubt_flight(s, inflight);
    }
}


sym_status_t
forget_module(serve_t *s, const sym_module_key_t *key, sym_error_t *err)
{
    sym_status_t rc = module_remove(s->store, key, err);

    inflights_changed(&s->inflights, key, s->now);
    forget_running(s, key);
    return rc;
}


/* --- a path --- */

/* Modules that are being made with a companion, or without it. */
static void
doubt_users(serve_t *s, uint64_t path)
{
    submission_t *c;

    for (c = submission_first(&s->conversions); c != NULL;
         c = submission_next(c)) {
        if (c->inflight != NULL && supplement_was_at(c, path)) {
            doubt_flight(s, c->inflight);
        }
    }

    supplements_changed(&s->supplements, path);
}


sym_status_t
forget_path(serve_t *s, sym_str_t scope, sym_str_t path, sym_error_t *err)
{
    uint64_t cleared = 0;
    sym_status_t rc =
        sym_store_clear_path(s->store, scope, path, &cleared, err);

    do {
        uint64_t hash = places_hash(&s->negatives.places, scope, path);

        recent_add(&s->inflights.recent, hash, s->now);
        inflights_at(&s->inflights, hash, doubt_flight, s);
        doubt_users(s, hash);
    } while (sym_path_next_part(&path));

    return rc == SYM_OK && cleared == 0 ? SYM_NOT_FOUND : rc;
}
