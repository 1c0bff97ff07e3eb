#include "explain/explain.h"

#include "aws/date.h"
#include "explain/attempts.h"
#include "symcache/format.h"

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
    write_number(out, "format", record->format);
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
write_attempts(sym_out_t *out, sym_str_t text)
{
    sym_attempt_t attempt;
    bool is_first = true;

    write_key(out, "attempts");
    sym_out_raw(out, SYM_STR("["));

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

    sym_out_raw(out, SYM_STR("]"));
}


void
sym_explain_write(const sym_module_key_t *key,
                  const sym_module_record_t *record, uint32_t now_s,
                  sym_out_t *out)
{
    write_module(out, key, sym_module_state_name(record->state));

    if (record->state == SYM_MODULE_READY) {
        write_ready(out, record);
    } else {
        write_negative(out, record, now_s);
    }

    write_time(out, "when", record->stored_at);
    write_time(out, "last_use", record->used_at);
    write_attempts(out, record->attempts);
    sym_out_raw(out, SYM_STR("}"));
}


void
sym_explain_unknown(const sym_module_key_t *key, sym_out_t *out)
{
    write_module(out, key, "unknown");
    sym_out_raw(out, SYM_STR("}"));
}
