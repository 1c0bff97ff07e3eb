#include "daemon/places.h"

#include <time.h>

#include "sources/paths/plan.h"

typedef struct {
    places_t *places;
    inflight_t *inflight;
    const sym_rpc_message_t *m;
    const sym_source_plan_t *plan;
    uint32_t failed_s; /* failures of one search are retried together */
} search_t;


static uint32_t
expires_at(uint32_t ttl_s)
{
    return (uint32_t) time(NULL) + ttl_s;
}


/* False: out of memory. */
static bool
make_plan(sym_arena_t *arena, const inflight_t *inflight,
          sym_source_plan_t *plan)
{
    return sym_source_plan(arena, &inflight->ref, &inflight->rules,
                           sym_kind_files(inflight->kind, inflight->ref.type),
                           (inflight->flags & SYM_RPC_ALL_PLACES) != 0
                                   || sym_kind_wants_code(inflight->kind)
                               ? SYM_CODE_FILES_FIRST
                               : SYM_DEBUG_FILES_FIRST,
                           plan)
           == SYM_OK;
}


static sym_path_key_t
key_of(const inflight_t *inflight, sym_str_t path)
{
    return (sym_path_key_t){ inflight->key.scope, path,
                             inflight->ref.checksum };
}


static void
put(places_t *p, const sym_path_key_t *key, const sym_path_record_t *record)
{
    sym_error_t err = { 0 };
    sym_status_t rc = sym_store_put_path(p->store, key, record, &p->last, &err);

    p->is_waiting |= rc == SYM_OK;
    if (rc != SYM_OK && rc != SYM_MALFORMED) {
        p->failed(p->owner, &err);
    }
}


static void
put_outcome(const search_t *s, const sym_place_outcome_t *o)
{
    const sym_path_record_t record = {
        .outcome = o->outcome,
        .status = o->status,
        .expires_at = expires_at(
            o->outcome == SYM_PATH_ABSENT ? s->m->ttl.absent : s->failed_s),
        .reader = sym_path_reader(),
        .ms = o->ms,
        .bytes = o->bytes,
        .word = o->word,
        .reason = o->reason,
        .url = o->url,
    };

    const sym_path_key_t key = key_of(s->inflight, s->plan->at[o->place].path);

    put(s->places, &key, &record);
}


static void
take_file(const search_t *s, const sym_place_outcome_t *o, place_file_t *file)
{
    sym_str_t path = s->plan->at[o->place].path;

    if (path.len > sizeof(file->path)) {
        return;
    }

    memcpy(file->path, path.data, path.len);
    file->place = key_of(s->inflight, sym_str(file->path, path.len));
    file->number = o->place;
    if (o->url.len != 0) {
        memcpy(file->url, o->url.data, o->url.len);
    }

    file->record = (sym_path_record_t){
        .status = o->status,
        .expires_at = expires_at(s->m->ttl.malformed),
        .reader = sym_path_reader(),
        .ms = o->ms,
        .bytes = o->bytes,
        .url = sym_str(file->url, o->url.len),
    };
}


/* Whether the search asks for the place. */
static bool
is_asked(const inflight_t *inflight, const sym_source_place_t *place)
{
    return (inflight->flags & (SYM_RPC_CANONICAL | SYM_RPC_SENT)) == 0
           || place->is_sent == ((inflight->flags & SYM_RPC_SENT) != 0);
}


/* Places up to `end` that have no outcome. */
static void
put_others(const search_t *s, unsigned end)
{
    bool is_failed =
        s->m->type == SYM_RPC_NONE && s->m->state == SYM_MODULE_FAILED;

    for (unsigned i = 0; i < end; i++) {
        const sym_place_outcome_t o = {
            .place = (uint8_t) i,
            .outcome = is_failed ? SYM_PATH_FAILED : SYM_PATH_ABSENT,
            .word = is_failed ? SYM_STR("untried") : SYM_STR("unlisted"),
            .reason = s->m->text,
        };

        if ((s->inflight->walked & (uint64_t) 1 << i) == 0
            && is_asked(s->inflight, &s->plan->at[i]))
        {
            s->inflight->walked |= (uint64_t) 1 << i;
            put_outcome(s, &o);
        }
    }
}


static void
note(const search_t *s, place_file_t *file)
{
    sym_str_t rest = s->m->outcomes;
    sym_place_outcome_t o;

    while (file->place.path.len == 0 && sym_outcomes_next(&rest, &o)) {
        if (o.place >= s->plan->n) {
            continue;
        }

        s->inflight->walked |= (uint64_t) 1 << o.place;
        if (o.outcome == SYM_PATH_READ) {
            take_file(s, &o, file);
        } else {
            put_outcome(s, &o);
        }
    }

    if (file->place.path.len != 0) {
        put_others(s, file->number);
    } else if (s->m->type == SYM_RPC_NONE) {
        put_others(s, s->plan->n);
    }
}


void
places_note(places_t *p, inflight_t *inflight, const sym_rpc_message_t *m,
            place_file_t *file)
{
    sym_source_plan_t plan;
    sym_arena_t arena;
    search_t s = { p, inflight, m, &plan, fetch_result_jitter(m->ttl.failed) };

    file->place.path = SYM_STR("");
    sym_arena_init(&arena, 0);
    if (make_plan(&arena, inflight, &plan)) {
        note(&s, file);
    }

    sym_arena_drop(&arena);
}


void
places_put_file(places_t *p, const place_file_t *file)
{
    if (file->place.path.len != 0) {
        put(p, &file->place, &file->record);
    }
}


void
places_commit(places_t *p)
{
    sym_error_t err = { 0 };

    if (p->is_waiting
        && sym_store_flush_path(p->store, &p->last, &err) != SYM_OK) {
        p->failed(p->owner, &err);
    }

    p->is_waiting = false;
}
