#include "explain/explain.h"

#include "explain/member.h"
#include "artifacts/symcache/format.h"

/* Maximum number of records of one name and source to read for other ids. */
#define OTHER_IDS_READ 256


static void
write_module(sym_out_t *out, const sym_module_key_t *key, const char *state)
{
    sym_out_raw(out, SYM_STR("{\"name\": "));
    sym_out_string(out, key->name);
    sym_member_text(out, "id", key->id);
    sym_member_text(out, "state", sym_cstr(state));
}


static void
write_ready(sym_out_t *out, const sym_explained_t *told)
{
    const sym_object_record_t *record = &told->record;

    sym_member_text(out, "quality",
                    sym_cstr(sym_quality_name(record->quality)));
    sym_member_text(out, "incomplete", record->reason);
    sym_member_number(out, "bytes", record->bytes);
    sym_member_number(out, "stored_bytes", record->pages * 4096);
    sym_member_number(out, "format", record->kind_version);
    sym_member_number(out, "file_bytes", record->source_bytes);
    sym_member_text(out, "file", told->source);
}


static void
write_negative(sym_out_t *out, const sym_object_record_t *record,
               uint32_t now_s)
{
    sym_member_text(out, "reason", record->reason);
    sym_member_time(out, "expires_at", record->expires_at);
    sym_member_bool(out, "is_expired", sym_module_expired(record, now_s));
}


static bool
has_attempts(const sym_explained_t *sources, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && sources[i].n_attempts == 0) {
        i++;
    }

    return i < n;
}


static void
write_attempts(sym_out_t *out, const sym_explained_t *sources, uint32_t n)
{
    bool is_first = true, is_cut = false;

    sym_member_key(out, "attempts");
    sym_out_raw(out, SYM_STR("["));

    for (uint32_t i = 0; i < n; i++) {
        is_cut |= sources[i].is_cut;

        for (unsigned k = 0; k < sources[i].n_attempts; k++) {
            const sym_explained_attempt_t *a = &sources[i].attempts[k];

            sym_out_raw(out, is_first ? SYM_STR("{\"source\": ")
                                      : SYM_STR(", {\"source\": "));
            sym_out_string(out, sym_scope_word(sources[i].key.scope));
            sym_member_text(out, "outcome", a->outcome);
            sym_member_number(out, "bytes", a->bytes);
            sym_member_number(out, "ms", a->ms);
            sym_member_text(out, "url", a->url);
            sym_out_raw(out, SYM_STR("}"));
            is_first = false;
        }
    }

    sym_out_raw(out, SYM_STR("]"));

    if (is_cut) {
        sym_member_key(out, "truncated");
        sym_out_raw(out, SYM_STR("true"));
    }
}


static void
write_source(sym_out_t *out, const sym_explained_t *source, uint32_t now_s)
{
    const sym_object_record_t *record = &source->record;

    sym_out_raw(out, SYM_STR("{\"name\": "));
    sym_out_string(out, sym_scope_word(source->key.scope));
    sym_member_text(out, "state",
                    sym_cstr(record->state == 0
                                 ? "unknown"
                                 : sym_module_state_name(record->state)));

    if (record->state == SYM_MODULE_READY) {
        sym_member_text(out, "quality",
                        sym_cstr(sym_quality_name(record->quality)));
    } else if (record->state != 0) {
        write_negative(out, record, now_s);
    }

    sym_out_raw(out, SYM_STR("}"));
}


static void
write_sources(sym_out_t *out, const sym_explained_t *sources, uint32_t n,
              uint32_t now_s)
{
    sym_member_key(out, "sources");
    sym_out_raw(out, SYM_STR("["));

    for (uint32_t i = 0; i < n; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("") : SYM_STR(", "));
        write_source(out, &sources[i], now_s);
    }

    sym_out_raw(out, SYM_STR("]"));
}


static void
write_told(sym_out_t *out, const sym_explained_t *told,
           const sym_explained_t *sources, uint32_t n, uint32_t now_s)
{
    const sym_object_record_t *record = &told->record;

    write_module(out, &told->key, sym_module_state_name(record->state));
    sym_member_text(out, "source", sym_scope_word(told->key.scope));

    if (record->state == SYM_MODULE_READY) {
        write_ready(out, told);
    } else {
        write_negative(out, record, now_s);
    }

    sym_member_time(out, "stored_at", record->stored_at);
    sym_member_time(out, "used_at", record->used_at);
    write_attempts(out, sources, n);
}


static void
write_other_ids(sym_out_t *out, const sym_other_ids_t *others)
{
    sym_member_key(out, "other_ids");
    sym_out_raw(out, SYM_STR("["));

    for (unsigned i = 0; i < others->n; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("") : SYM_STR(", "));
        sym_out_string(out, others->ids[i]);
    }

    sym_out_raw(out, SYM_STR("]"));
}


void
sym_explain_write(const sym_module_key_t *key, const sym_explained_t *told,
                  const sym_explained_t *sources, uint32_t n_sources,
                  const sym_other_ids_t *others, uint32_t now_s,
                  sym_str_t blocked_hosts, sym_out_t *out)
{
    if (told != NULL) {
        write_told(out, told, sources, n_sources, now_s);
    } else {
        write_module(out, key, "unknown");
        if (has_attempts(sources, n_sources)) {
            write_attempts(out, sources, n_sources);
        }
    }

    write_sources(out, sources, n_sources, now_s);

    if (others != NULL && others->n != 0) {
        write_other_ids(out, others);
    }

    if (blocked_hosts.len != 0) {
        sym_member_key(out, "blocked_hosts");
        sym_out_raw(out, blocked_hosts);
    }

    sym_out_raw(out, SYM_STR("}"));
}


/* --- records of the store --- */

typedef struct {
    sym_arena_t *arena;
    sym_explained_t *source;
    sym_explained_attempt_t *attempts; /* room for all places */
    size_t urls;                       /* bytes left */
} collect_t;

static void
add_attempt(collect_t *c, const sym_place_t *place)
{
    char text[SYM_PLACE_OUTCOME_MAX];
    sym_str_t url = sym_place_location(place);
    sym_explained_t *source = c->source;

    if (url.len > c->urls) {
        source->is_cut = true;
        return;
    }

    /* the path points into the plan */
    c->urls -= url.len;
    c->attempts[source->n_attempts++] = (sym_explained_attempt_t){
        .outcome =
            sym_arena_copy(c->arena, sym_place_outcome(place->record, text)),
        .url = sym_arena_copy(c->arena, url),
        .bytes = place->record->bytes,
        .ms = place->record->ms,
    };
}


static void
look_at_place(void *ctx, const sym_place_t *place)
{
    collect_t *c = ctx;
    sym_object_record_t *r = &c->source->record;

    if (place->record == NULL) {
        return;
    }

    if (sym_place_is_tried(place)) {
        add_attempt(c, place);
    }

    (void) sym_place_weigh(place, r);
}


/* A source without a place for the module. */
static void
look_at_nothing(collect_t *c, const sym_object_ref_t *ref)
{
    c->source->n_attempts = 1;
    c->attempts[0] = (sym_explained_attempt_t){
        .outcome = SYM_STR("skipped"),
        .url = ref->code_id.len != 0 || !ref->is_either
                   ? SYM_STR("has no path for such an id")
                   : SYM_STR("needs a code id"),
    };
}


/* Finds the artifact and the places of a source. */
static sym_status_t
look_at_source(sym_snapshot_t *snapshot, const sym_scopes_t *scopes, uint32_t n,
               const sym_lookup_t *of, sym_arena_t *arena,
               sym_explained_t *source, sym_error_t *err)
{
    collect_t c = { arena, source,
                    sym_arena_calloc(arena, SYM_PLAN_MAX,
                                     sizeof(sym_explained_attempt_t)),
                    SYM_EXPLAIN_URLS };
    sym_object_record_t *record = &source->record;
    unsigned n_places = 0;
    sym_status_t rc = sym_snapshot_object(snapshot, source->key.scope, of->ref,
                                          of->kind, record, err);

    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        return rc;
    }

    if (c.attempts == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (rc == SYM_NOT_FOUND) {
        *record = (sym_object_record_t){ .state = 0 };
    } else if (record->state == SYM_MODULE_READY
               && sym_snapshot_is_unsound(snapshot, record->module_id))
    {
        record->state = SYM_MODULE_MALFORMED;
        record->reason = SYM_STR(SYM_UNSOUND_REASON);
    }

    source->attempts = c.attempts;
    if (sym_places_each(snapshot, scopes, n, of, SYM_DEBUG_FILES_FIRST, arena,
                        look_at_place, &c, &n_places, err)
        != SYM_OK)
    {
        return err->status;
    }

    if (n_places == 0 && scopes->rules != NULL && scopes->rules[n] != NULL) {
        look_at_nothing(&c, of->ref);
    }

    return SYM_OK;
}


static sym_status_t
look_at_sources(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                const sym_module_key_t *key, sym_kind_t kind,
                sym_arena_t *arena, sym_explained_t *sources, sym_error_t *err)
{
    sym_object_ref_t ref;
    const sym_lookup_t of = { &ref, kind, 0 };

    sym_object_ref_of_key(key, &ref);
    for (uint32_t i = 0; i < scopes->n && err->status == SYM_OK; i++) {
        sources[i] = (sym_explained_t){ .key = *key };
        sources[i].key.scope = scopes->names[i];
        (void) look_at_source(snapshot, scopes, i, &of, arena, &sources[i],
                              err);
    }

    return err->status;
}


/* If no record is valid: returns an expired or partial one, or NULL. */
static const sym_explained_t *
past(const sym_explained_t *sources, uint32_t n)
{
    const sym_explained_t *told = NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (sym_module_state_weight(sources[i].record.state)
            > (told == NULL ? 0 : sym_module_state_weight(told->record.state)))
        {
            told = &sources[i];
        }
    }

    return told;
}


typedef struct {
    const sym_module_key_t *key;
    sym_other_ids_t *others;
} same_name_t;

static sym_status_t
add_other_id(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    const same_name_t *same = ctx;
    sym_other_ids_t *others = same->others;
    char *text = others->texts[others->n];
    sym_str_t id = sym_object_shown_id(&record->object, text);

    (void) scope;
    if (!sym_str_eq(record->object.name, same->key->name)) {
        return SYM_AGAIN; /* records are sorted by name */
    }

    if (record->state != SYM_MODULE_READY || sym_str_eq(id, same->key->id)) {
        return SYM_OK;
    }

    for (unsigned i = 0; i < others->n; i++) {
        if (sym_str_eq(others->ids[i], id)) {
            return SYM_OK;
        }
    }

    others->ids[others->n++] = id;
    return others->n == SYM_OTHER_IDS_MAX ? SYM_AGAIN : SYM_OK;
}


/* Reads a bounded number of records with this name. */
static sym_status_t
find_other_ids(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
               const sym_module_key_t *key, sym_other_ids_t *others,
               sym_error_t *err)
{
    same_name_t same = { key, others };

    for (uint32_t i = 0; i < scopes->n && others->n < SYM_OTHER_IDS_MAX; i++) {
        sym_str_t scope = scopes->names[i];
        sym_store_mark_t mark = { .len = scope.len + 1 + key->name.len + 1 };
        uint64_t left = OTHER_IDS_READ;
        sym_status_t rc;

        /* see docs/formats/store.md, section 2: the walk begins at the ids of
         * the name */
        if (scope.len != 0) {
            memcpy(mark.key, scope.data, scope.len);
        }
        memcpy(mark.key + scope.len + 1, key->name.data, key->name.len);
        rc = sym_snapshot_objects(snapshot, &scope, &mark, &left, add_other_id,
                                  &same, err);

        if (rc != SYM_OK && rc != SYM_AGAIN) {
            return rc;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_explain(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
            const sym_module_key_t *key, uint32_t now_s, sym_arena_t *arena,
            sym_explained_t *sources, sym_str_t blocked_hosts, sym_out_t *out,
            sym_error_t *err)
{
    sym_other_ids_t others = { 0 };
    const sym_explained_t *told;
    bool is_ready;
    sym_explained_t chosen = { .key = *key };
    sym_object_ref_t ref;
    sym_choice_t choice;
    char id[SYM_CODE_ID_MAX];
    sym_status_t rc = look_at_sources(snapshot, scopes, key, SYM_KIND_SYMCACHE,
                                      arena, sources, err);

    sym_object_ref_of_key(key, &ref);
    rc = rc != SYM_OK
             ? rc
             : sym_places_choose(snapshot, scopes,
                                 &(sym_lookup_t){ &ref, SYM_KIND_SYMCACHE, 0 },
                                 now_s, arena, &choice, err);
    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        return rc;
    }

    if (rc == SYM_OK) {
        chosen.record = choice.record;
        if (choice.state != SYM_MODULE_READY) {
            chosen.record = sources[choice.source].record;
            chosen.record.state = choice.state;
            chosen.record.expires_at = choice.until;
            chosen.record.reason = choice.reason;
        }
        chosen.key.scope = scopes->names[choice.source];
        chosen.source =
            sym_snapshot_source(snapshot, chosen.key.scope, &chosen.record);
    }

    if (rc == SYM_OK && choice.state == SYM_MODULE_READY) {
        chosen.key.name = choice.record.object.name;
        chosen.key.id = sym_object_shown_id(&choice.record.object, id);
    }

    told = rc == SYM_OK ? &chosen : past(sources, scopes->n);
    is_ready = told != NULL && told->record.state == SYM_MODULE_READY;

    if (!is_ready
        && find_other_ids(snapshot, scopes, key, &others, err) != SYM_OK) {
        return err->status;
    }

    sym_explain_write(key, told, sources, scopes->n, is_ready ? NULL : &others,
                      now_s, blocked_hosts, out);
    return told != NULL ? SYM_OK : SYM_NOT_FOUND;
}


sym_status_t
sym_explain_sources(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                    const sym_module_key_t *key, sym_kind_t kind,
                    uint32_t now_s, sym_arena_t *arena,
                    sym_explained_t *sources, sym_out_t *out, sym_error_t *err)
{
    sym_status_t rc =
        look_at_sources(snapshot, scopes, key, kind, arena, sources, err);

    if (rc == SYM_OK) {
        write_attempts(out, sources, scopes->n);
        write_sources(out, sources, scopes->n, now_s);
    }

    return rc;
}
