#include "explain/explain.h"

#include "explain/member.h"
#include "protocol/attempts.h"
#include "artifacts/symcache/format.h"

/* Records of one name and source that are read for other ids. */
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
    sym_member_number(out, "size", record->bytes);
    sym_member_number(out, "stored_size", record->pages * 4096);
    sym_member_number(out, "format", record->kind_version);
    sym_member_number(out, "source_size", record->source_bytes);
    sym_member_text(out, "source", told->source);
}


static void
write_negative(sym_out_t *out, const sym_object_record_t *record,
               uint32_t now_s)
{
    sym_member_text(out, "reason", record->reason);
    sym_member_time(out, "expires", record->expires_at);
    sym_member_bool(out, "is_expired", sym_module_expired(record, now_s));
}


static void
write_attempts(sym_out_t *out, const sym_explained_t *sources, uint32_t n)
{
    bool is_first = true, is_cut = false;

    sym_member_key(out, "attempts");
    sym_out_raw(out, SYM_STR("["));

    for (uint32_t i = 0; i < n; i++) {
        sym_str_t text = sources[i].record.attempts;
        sym_attempt_t attempt;

        is_cut |= sym_attempts_is_cut(text);

        while (sym_attempts_next(&text, &attempt)) {
            sym_out_raw(out, is_first ? SYM_STR("{\"source\": ")
                                      : SYM_STR(", {\"source\": "));
            sym_out_string(out, attempt.source);
            sym_member_text(out, "outcome", attempt.outcome);
            sym_member_number(out, "bytes", attempt.bytes);
            sym_member_number(out, "ms", attempt.ms);
            sym_member_text(out, "url", attempt.url);
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


/* Results of requests in other ways. */
static void
write_variants(sym_out_t *out, const sym_explained_t *source, uint32_t now_s)
{
    sym_member_key(out, "variants");

    for (unsigned i = 0; i < source->n_variants; i++) {
        const sym_object_record_t *record = &source->variants[i];

        sym_out_raw(out, i == 0 ? SYM_STR("[{\"variant\": ")
                                : SYM_STR(", {\"variant\": "));
        sym_out_string(out, record->asked);
        sym_member_text(
            out, "code_id",
            sym_str(record->object.code_id.text, record->object.code_id.len));
        sym_member_text(out, "state",
                        sym_cstr(sym_module_state_name(record->state)));
        write_negative(out, record, now_s);
        sym_member_time(out, "when", record->stored_at);
        sym_out_raw(out, SYM_STR("}"));
    }

    sym_out_raw(out, SYM_STR("]"));
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

    if (source->n_variants != 0) {
        write_variants(out, source, now_s);
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
    sym_member_text(out, "from", sym_scope_word(told->key.scope));

    if (record->state == SYM_MODULE_READY) {
        write_ready(out, told);
    } else {
        write_negative(out, record, now_s);
    }

    sym_member_time(out, "when", record->stored_at);
    sym_member_time(out, "last_use", record->used_at);
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

static sym_status_t
add_variant(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    sym_explained_t *source = ctx;

    (void) scope;
    source->variants[source->n_variants++] = *record;
    return source->n_variants == SYM_VARIANTS_MAX ? SYM_AGAIN : SYM_OK;
}


/* If nothing else is known, the newest variant is shown. */
static void
take_newest(sym_explained_t *source)
{
    for (unsigned i = 0; i < source->n_variants; i++) {
        const sym_object_record_t *record = &source->variants[i];

        if (source->record.state == 0
            || record->stored_at > source->record.stored_at) {
            source->record = *record;
        }
    }
}


static sym_status_t
look_at_variants(sym_snapshot_t *snapshot, const sym_module_key_t *key,
                 sym_kind_t kind, sym_explained_t *source, sym_error_t *err)
{
    bool is_unknown = source->record.state == 0;

    source->n_variants = 0;
    (void) sym_snapshot_variants(snapshot, key, kind, add_variant, source, err);
    if (is_unknown) {
        take_newest(source);
    }

    return err->status;
}


/* The artifact, or the negative record of the canonical id. */
static sym_status_t
look_at_source(sym_snapshot_t *snapshot, const sym_module_key_t *key,
               sym_kind_t kind, sym_explained_t *source, sym_error_t *err)
{
    sym_object_ref_t ref;
    sym_object_record_t *record = &source->record;
    sym_status_t rc;

    *source = (sym_explained_t){ .key = *key };
    sym_object_ref_of_key(key, &ref);
    rc = sym_snapshot_object(snapshot, key->scope, &ref, kind, record, err);

    if (rc == SYM_NOT_FOUND) {
        rc = sym_snapshot_negative(snapshot, key->scope, &ref, kind, record,
                                   err);
    } else if (rc == SYM_OK && record->state == SYM_MODULE_READY
               && sym_snapshot_is_unsound(snapshot, record->module_id))
    {
        record->state = SYM_MODULE_MALFORMED;
        record->reason = SYM_STR(SYM_UNSOUND_REASON);
    }

    record->state = rc == SYM_OK ? record->state : 0;
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
look_at_sources(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                const sym_module_key_t *key, sym_kind_t kind,
                sym_explained_t *sources, sym_error_t *err)
{
    for (uint32_t i = 0; i < scopes->n; i++) {
        sym_module_key_t one = *key;

        one.scope = scopes->names[i];
        if (look_at_source(snapshot, &one, kind, &sources[i], err) != SYM_OK
            || look_at_variants(snapshot, &one, kind, &sources[i], err)
                   != SYM_OK)
        {
            return err->status;
        }
    }

    return SYM_OK;
}


/* No record is valid: an expired or partial one, or NULL. */
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
        return SYM_AGAIN; /* they are sorted by name */
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

        /* docs/formats/store.md, section 2: position of the ids of a name */
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
            const sym_module_key_t *key, uint32_t now_s,
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
    sym_status_t rc =
        look_at_sources(snapshot, scopes, key, SYM_KIND_SYMCACHE, sources, err);

    sym_object_ref_of_key(key, &ref);
    rc = rc != SYM_OK
             ? rc
             : sym_snapshot_choose(snapshot, scopes, &ref, SYM_KIND_SYMCACHE,
                                   now_s, &choice, err);
    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        return rc;
    }

    if (rc == SYM_OK) {
        chosen.record = choice.record;
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
                    uint32_t now_s, sym_explained_t *sources, sym_out_t *out,
                    sym_error_t *err)
{
    sym_status_t rc =
        look_at_sources(snapshot, scopes, key, kind, sources, err);

    if (rc == SYM_OK) {
        write_attempts(out, sources, scopes->n);
        write_sources(out, sources, scopes->n, now_s);
    }

    return rc;
}
