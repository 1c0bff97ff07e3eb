#include "daemon/places.h"

#include <time.h>

#include "sources/paths/plan.h"

/* The version of the readers, stored in records of files. */
#ifdef SYM_TEST_FAULTS
#define places_reader() (sym_kinds_reader() - 1)
#else
#define places_reader() sym_kinds_reader()
#endif

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


/* An artifact, and the source that is searched for it. */
typedef struct {
    const sym_object_ref_t *ref;
    const sym_source_rules_t *rules;
    sym_str_t scope;
    sym_kind_t kind;
    uint32_t flags;
} search_of_t;

static search_of_t
search_of(const inflight_t *inflight)
{
    return (search_of_t){ &inflight->ref, &inflight->rules, inflight->key.scope,
                          inflight->kind, inflight->flags };
}


/* False: out of memory. */
static bool
make_plan(sym_arena_t *arena, const search_of_t *of, sym_source_plan_t *plan)
{
    return sym_source_plan(arena, of->ref, of->rules,
                           sym_kind_files(of->kind, of->ref->type),
                           (of->flags & SYM_RPC_ALL_PLACES) != 0
                                   || sym_kind_wants_code(of->kind)
                               ? SYM_CODE_FILES_FIRST
                               : SYM_DEBUG_FILES_FIRST,
                           plan)
           == SYM_OK;
}


/* --- looking up --- */

static uint32_t
left_s(uint32_t until)
{
    uint32_t now = (uint32_t) time(NULL);

    return until == 0 ? FETCH_TTL_MAX_S : until > now ? until - now : 0;
}


/* Finds the artifact.  A poor one is the result only if no place is open.  The
 * same is true if the files of all places are wanted. */
static sym_status_t
find_artifact(sym_snapshot_t *s, const search_of_t *of, sym_asking_t *asking,
              fetch_result_t *o, sym_error_t *err)
{
    sym_object_record_t record;
    sym_status_t rc =
        sym_snapshot_object(s, of->scope, of->ref, of->kind, &record, err);

    o->state = 0;
    if (rc == SYM_OK && record.state == SYM_MODULE_READY) {
        *o = (fetch_result_t){ .state = SYM_MODULE_READY,
                               .is_poor = sym_object_is_poor(&record) };
        asking->has_artifact = true;
        asking->is_poor = o->is_poor;
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


uint64_t
places_hash(const places_t *p, sym_str_t scope, sym_str_t path)
{
    sym_hash_state_t hash = sym_hash_begin(&p->key);

    sym_hash_add(&hash, scope);
    sym_hash_add(&hash, path);
    return sym_hash_end(hash);
}


static void
hash_places(const places_t *p, const search_of_t *of,
            const sym_source_plan_t *plan, owner_plan_t *found)
{
    found->n = plan->n;
    found->checksum = sym_hash(&p->key, of->ref->checksum);
    for (unsigned i = 0; i < plan->n; i++) {
        found->paths[i] = places_hash(p, of->scope, plan->at[i].path);
    }
}


static sym_status_t
find_places(sym_snapshot_t *s, const search_of_t *of,
            const sym_source_plan_t *plan, const sym_asking_t *asking,
            fetch_result_t *o, uint64_t *open, sym_error_t *err)
{
    sym_str_t paths[SYM_PLAN_MAX];
    sym_places_t places = { of->scope, of->ref->checksum, paths, plan->n };
    sym_settled_t settled;

    for (unsigned i = 0; i < plan->n; i++) {
        paths[i] = plan->at[i].path;
    }

    if (sym_snapshot_settle(s, &places, asking, &settled, err) != SYM_OK) {
        return err->status;
    }

    *open = settled.open;
    if (settled.open != 0) {
        return SYM_NOT_FOUND;
    }

    if (o->state == 0) {
        fetch_result_set(o,
                         settled.state == SYM_MODULE_READY ? SYM_MODULE_FAILED
                                                           : settled.state,
                         left_s(settled.until), settled.reason);
    }

    return SYM_OK;
}


static sym_status_t
look_up_in(const places_t *p, sym_snapshot_t *s, const search_of_t *of,
           fetch_result_t *o, owner_plan_t *found, sym_error_t *err)
{
    sym_asking_t asking = { .ref = of->ref,
                            .kind = of->kind,
                            .reader = places_reader(),
                            .now_s = (int64_t) time(NULL) };
    sym_source_plan_t plan;
    sym_arena_t arena;
    sym_status_t rc =
        s != NULL ? find_artifact(s, of, &asking, o, err) : err->status;

    if (rc == SYM_OK && asking.has_artifact && !asking.is_poor
        && (of->flags & SYM_RPC_ALL_PLACES) == 0)
    {
        return SYM_OK;
    }

    sym_arena_init(&arena, 0);
    if (!make_plan(&arena, of, &plan)) {
        fetch_result_set(o, SYM_MODULE_FAILED, 1, SYM_STR("out of memory"));
        rc = SYM_OK;

    } else {
        hash_places(p, of, &plan, found);
        if (rc == SYM_OK) {
            rc = find_places(s, of, &plan, &asking, o, &found->open, err);
        }
    }

    sym_arena_drop(&arena);
    return rc;
}


/* If the store fails, there are no results. */
static sym_status_t
look_up(places_t *p, const search_of_t *of, fetch_result_t *o,
        owner_plan_t *found)
{
    sym_snapshot_t *s = NULL;
    sym_error_t err = { 0 };
    sym_status_t rc;

    found->open = UINT64_MAX;
    found->n = 0;
    o->state = 0;
    (void) sym_snapshot_begin(p->store, &s, &err);
    rc = look_up_in(p, s, of, o, found, &err);
    if (s != NULL) {
        sym_snapshot_end(s);
    }

    if (err.status != SYM_OK) {
        p->failed(p->owner, &err);
    }

    return rc == SYM_OK ? SYM_OK : SYM_NOT_FOUND;
}


sym_status_t
places_look_up(places_t *p, const sym_rpc_message_t *m, fetch_result_t *o,
               owner_plan_t *plan)
{
    const search_of_t of = { &m->ref, &m->rules, m->key.scope,
                             (sym_kind_t) m->kind, m->flags };

    return look_up(p, &of, o, plan);
}


sym_status_t
places_look_again(places_t *p, const inflight_t *inflight, fetch_result_t *o,
                  uint64_t *open)
{
    const search_of_t of = search_of(inflight);
    owner_plan_t plan;
    sym_status_t rc = look_up(p, &of, o, &plan);

    *open = plan.open;
    return rc;
}


sym_status_t
places_result(places_t *p, const inflight_t *inflight, fetch_result_t *o)
{
    fetch_result_t found;
    uint64_t open;
    sym_status_t rc = places_look_again(p, inflight, &found, &open);

    /* a stored poor artifact is the result, regardless of other places */
    if (rc == SYM_OK || found.state == SYM_MODULE_READY) {
        if (found.reason_len == 0 && found.state == o->state) {
            memcpy(found.reason, o->reason, o->reason_len);
            found.reason_len = o->reason_len;
        }
        *o = found;
    }

    return rc;
}


/* --- outcomes --- */

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
put_record(places_t *p, const sym_path_key_t *key, const sym_rpc_ttl_t *ttl,
           uint32_t failed_s, const sym_place_outcome_t *o)
{
    const sym_path_record_t record = {
        .outcome = o->outcome,
        .status = o->status,
        .expires_at =
            expires_at(o->outcome == SYM_PATH_ABSENT ? ttl->absent : failed_s),
        .reader = places_reader(),
        .ms = o->ms,
        .bytes = o->bytes,
        .word = o->word,
        .reason = o->reason,
        .url = o->url,
    };

    put(p, key, &record);
}


static void
put_outcome(const search_t *s, const sym_place_outcome_t *o)
{
    const sym_path_key_t key = key_of(s->inflight, s->plan->at[o->place].path);

    put_record(s->places, &key, &s->m->ttl, s->failed_s, o);
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
    file->type = s->plan->at[o->place].file;
    if (o->url.len != 0) {
        memcpy(file->url, o->url.data, o->url.len);
    }

    file->record = (sym_path_record_t){
        .status = o->status,
        .expires_at = expires_at(s->m->ttl.malformed),
        .reader = places_reader(),
        .ms = o->ms,
        .bytes = o->bytes,
        .url = sym_str(file->url, o->url.len),
    };
}


/* Records that a place has an outcome; false: it already had one. */
static bool
take(inflight_t *inflight, unsigned place)
{
    bool was_open = inflight->open >> place & 1;

    inflight->open &= ~((uint64_t) 1 << place);
    inflight->tried |= (uint64_t) 1 << place;
    return was_open;
}


/* Returns the places of the FETCH up to `end` that have no outcome. */
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

        if ((s->inflight->places.owned >> i & 1) != 0 && take(s->inflight, i)) {
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

        (void) take(s->inflight, o.place);
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
    const search_of_t of = search_of(inflight);
    sym_source_plan_t plan;
    sym_arena_t arena;
    search_t s = { p, inflight, m, &plan, fetch_result_jitter(m->ttl.failed) };

    file->place.path = SYM_STR("");
    sym_arena_init(&arena, 0);
    if (make_plan(&arena, &of, &plan)) {
        note(&s, file);
    }

    sym_arena_drop(&arena);
}


void
places_companion_add(companion_places_t *of, const sym_object_ref_t *ref)
{
    if (of->n_ids + SYM_REF_IDS <= SYM_PATH_IDS_MAX) {
        of->n_ids += sym_store_ids_of_ref(ref, of->ids + of->n_ids);
    }
}


static void
add_ids(sym_path_record_t *record, const sym_store_id_t *ids, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned k = 0;

        while (k < record->n_ids && !sym_store_id_eq(&record->ids[k], &ids[i]))
        {
            k++;
        }
        if (k < SYM_PATH_IDS_MAX) {
            record->ids[k] = ids[i];
            record->n_ids += k == record->n_ids;
        }
    }
}


/* Keeps the modules of earlier outcomes.  False: the record is that of a module's
 * search, which has read the file. */
static bool
add_earlier(places_t *p, const sym_path_key_t *key, sym_path_record_t *record)
{
    sym_snapshot_t *s = NULL;
    sym_path_record_t old;
    sym_error_t err = { 0 };
    bool is_other = false;

    if (sym_snapshot_begin(p->store, &s, &err) != SYM_OK) {
        return true;
    }

    if (sym_snapshot_path(s, key, &old, &err) == SYM_OK) {
        is_other = old.outcome == SYM_PATH_READ && old.tried != 0;
        if (sym_path_is_companion(&old)) {
            add_ids(record, old.ids, old.n_ids);
        }
    }

    sym_snapshot_end(s);
    return !is_other;
}


/* No artifact was made from the file, so no kind counts as tried. */
static void
put_companion(places_t *p, const sym_path_key_t *key,
              const companion_places_t *of, uint32_t ttl_s,
              const sym_place_outcome_t *o)
{
    sym_path_record_t record = {
        .outcome = o->outcome,
        .status = o->status,
        .expires_at = expires_at(ttl_s),
        .reader = places_reader(),
        .ms = o->ms,
        .bytes = o->bytes,
        .word = o->word,
        .reason = o->reason,
    };

    add_ids(&record, of->ids, of->n_ids);
    if (add_earlier(p, key, &record)) {
        put(p, key, &record);
    }
}


void
places_note_companion(places_t *p, companion_places_t *of,
                      const sym_rpc_message_t *m)
{
    sym_str_t rest = m->outcomes;
    sym_place_outcome_t o;

    while (sym_outcomes_next(&rest, &o)) {
        sym_str_t place = o.url;
        const char *end =
            place.len != 0 ? memchr(place.data, '\n', place.len) : NULL;

        if (end != NULL && end - place.data <= SYM_SCOPE_MAX) {
            size_t scope = (size_t) (end - place.data);
            const sym_path_key_t key = {
                sym_str(place.data, scope),
                sym_str(end + 1, place.len - scope - 1), SYM_STR("")
            };

            /* after a failure the file is tried again when its modules are, or
             * earlier */
            put_companion(p, &key, of,
                          o.outcome == SYM_PATH_READ ? m->ttl.malformed
                          : o.outcome == SYM_PATH_ABSENT
                              ? m->ttl.absent
                              : m->ttl.failed - m->ttl.failed / 4,
                          &o);
            if (of->n_paths < COMPANION_PATHS_MAX) {
                of->paths[of->n_paths++] = places_hash(p, key.scope, key.path);
            }
        }
    }
}


void
places_settle(places_t *p, inflight_t *inflight, uint64_t places,
              const fetch_result_t *o)
{
    const sym_path_record_t record = {
        .outcome = o->state == SYM_MODULE_MALFORMED ? SYM_PATH_MALFORMED
                                                    : SYM_PATH_FAILED,
        .expires_at = expires_at(o->ttl_s),
        .reader = places_reader(),
        .bytes = o->is_too_large ? sym_store_temp_bytes(p->store) : 0,
        .word =
            o->is_too_large ? SYM_STR(SYM_PATH_TOO_LARGE) : SYM_STR("untried"),
        .reason = sym_str(o->reason, o->reason_len),
    };
    const search_of_t of = search_of(inflight);
    sym_source_plan_t plan;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    if (make_plan(&arena, &of, &plan)) {
        for (unsigned i = 0; i < plan.n; i++) {
            const sym_path_key_t key = key_of(inflight, plan.at[i].path);

            if ((places >> i & 1) != 0 && take(inflight, i)) {
                put(p, &key, &record);
            }
        }
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
