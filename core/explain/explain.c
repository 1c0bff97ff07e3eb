#include "explain/explain.h"

#include "base/date.h"
#include "protocol/attempts.h"
#include "artifacts/symcache/format.h"

static void
write_key(sym_out_t *out, const char *key)
{
    sym_out_raw(out, SYM_STR(", \""));
    sym_out_raw(out, sym_cstr(key));
    sym_out_raw(out, SYM_STR("\": "));
}


static void
write_text(sym_out_t *out, const char *key, sym_str_t text)
{
    write_key(out, key);
    sym_out_string(out, text);
}


static void
write_number(sym_out_t *out, const char *key, uint64_t value)
{
    write_key(out, key);
    sym_out_dec(out, value);
}


/* Seconds since 1970; 0: never. */
static void
write_time(sym_out_t *out, const char *key, int64_t time_s)
{
    char date[SYM_ISO_DATE_LEN];

    if (time_s <= 0 || !sym_iso_date_write((uint64_t) time_s, date)) {
        write_key(out, key);
        sym_out_raw(out, SYM_STR("null"));
        return;
    }

    write_text(out, key, sym_str(date, sizeof(date)));
}


static void
write_module(sym_out_t *out, const sym_module_key_t *key, const char *state)
{
    sym_out_raw(out, SYM_STR("{\"name\": "));
    sym_out_string(out, key->name);
    write_text(out, "id", key->id);
    write_text(out, "state", sym_cstr(state));
}


static void
write_ready(sym_out_t *out, const sym_module_record_t *record)
{
    write_text(out, "quality", sym_cstr(sym_quality_name(record->quality)));
    write_text(out, "incomplete", record->reason);
    write_number(out, "size", record->bytes);
    write_number(out, "stored_size", record->pages * 4096);
    write_number(out, "format", record->kind_version);
    write_number(out, "source_size", record->source_bytes);
    write_text(out, "source", record->source);
}


static void
write_negative(sym_out_t *out, const sym_module_record_t *record,
               uint32_t now_s)
{
    write_text(out, "reason", record->reason);
    write_time(out, "expires", record->expires_at);
    write_key(out, "is_expired");
    sym_out_raw(out, sym_module_expired(record, now_s) ? SYM_STR("true")
                                                       : SYM_STR("false"));
}


static void
write_attempts(sym_out_t *out, const sym_explained_t *sources, uint32_t n)
{
    bool is_first = true, is_cut = false;

    write_key(out, "attempts");
    sym_out_raw(out, SYM_STR("["));

    for (uint32_t i = 0; i < n; i++) {
        sym_str_t text = sources[i].record.attempts;
        sym_attempt_t attempt;

        is_cut |= sym_attempts_is_cut(text);

        while (sym_attempts_next(&text, &attempt)) {
            sym_out_raw(out, is_first ? SYM_STR("{\"source\": ")
                                      : SYM_STR(", {\"source\": "));
            sym_out_string(out, attempt.source);
            write_text(out, "outcome", attempt.outcome);
            write_number(out, "bytes", attempt.bytes);
            write_number(out, "ms", attempt.ms);
            write_text(out, "url", attempt.url);
            sym_out_raw(out, SYM_STR("}"));
            is_first = false;
        }
    }

    sym_out_raw(out, SYM_STR("]"));

    if (is_cut) {
        write_key(out, "truncated");
        sym_out_raw(out, SYM_STR("true"));
    }
}


static void
write_source(sym_out_t *out, const sym_explained_t *source, uint32_t now_s)
{
    const sym_module_record_t *record = &source->record;

    sym_out_raw(out, SYM_STR("{\"name\": "));
    sym_out_string(out, sym_scope_word(source->key.scope));
    write_text(out, "state",
               sym_cstr(record->state == 0
                            ? "unknown"
                            : sym_module_state_name(record->state)));

    if (record->state == SYM_MODULE_READY) {
        write_text(out, "quality", sym_cstr(sym_quality_name(record->quality)));
    } else if (record->state != 0) {
        write_negative(out, record, now_s);
    }

    sym_out_raw(out, SYM_STR("}"));
}


static void
write_sources(sym_out_t *out, const sym_explained_t *sources, uint32_t n,
              uint32_t now_s)
{
    write_key(out, "sources");
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
    const sym_module_record_t *record = &told->record;

    write_module(out, &told->key, sym_module_state_name(record->state));
    write_text(out, "from", sym_scope_word(told->key.scope));

    if (record->state == SYM_MODULE_READY) {
        write_ready(out, record);
    } else {
        write_negative(out, record, now_s);
    }

    write_time(out, "when", record->stored_at);
    write_time(out, "last_use", record->used_at);
    write_attempts(out, sources, n);
}


void
sym_explain_write(const sym_module_key_t *key, const sym_explained_t *told,
                  const sym_explained_t *sources, uint32_t n_sources,
                  uint32_t now_s, sym_str_t blocked_hosts, sym_out_t *out)
{
    if (told != NULL) {
        write_told(out, told, sources, n_sources, now_s);
    } else {
        write_module(out, key, "unknown");
    }

    write_sources(out, sources, n_sources, now_s);

    if (blocked_hosts.len != 0) {
        write_key(out, "blocked_hosts");
        sym_out_raw(out, blocked_hosts);
    }

    sym_out_raw(out, SYM_STR("}"));
}


/* --- what the store has --- */

static sym_status_t
look_at_sources(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                const sym_module_key_t *key, sym_kind_t kind,
                sym_explained_t *sources, sym_error_t *err)
{
    for (uint32_t i = 0; i < scopes->n; i++) {
        sym_module_key_t one = *key;
        sym_status_t rc;

        one.scope = scopes->names[i];
        rc = sym_snapshot_find_any(snapshot, &one, kind, &sources[i].key, &sources[i].record, err);

        if (rc == SYM_NOT_FOUND) {
            sources[i] = (sym_explained_t){ .key = one };
        } else if (rc != SYM_OK) {
            return rc;
        } else if (sources[i].record.state == SYM_MODULE_READY
                   && sym_snapshot_is_unsound(snapshot,
                                              sources[i].record.module_id))
        {
            sources[i].record.state = SYM_MODULE_MALFORMED;
            sources[i].record.reason = SYM_STR(SYM_UNSOUND_REASON);
        }
    }

    return SYM_OK;
}


/* Nothing counts: what did, or is but a part; NULL: nothing. */
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


sym_status_t
sym_explain(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
            const sym_module_key_t *key, uint32_t now_s,
            sym_explained_t *sources, sym_str_t blocked_hosts, sym_out_t *out,
            sym_error_t *err)
{
    const sym_explained_t *told;
    sym_explained_t chosen;
    sym_outlook_t outlook;
    sym_status_t rc = look_at_sources(snapshot, scopes, key,
                                      SYM_KIND_SYMCACHE, sources, err);

    rc = rc != SYM_OK
             ? rc
             : sym_snapshot_choose(snapshot, scopes, key, SYM_KIND_SYMCACHE,
                                   SYM_STR(""), now_s, &chosen.key,
                                   &chosen.record, &outlook, err);
    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        return rc;
    }

    told = rc == SYM_OK ? &chosen : past(sources, scopes->n);
    sym_explain_write(key, told, sources, scopes->n, now_s, blocked_hosts, out);
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
