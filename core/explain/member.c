#include "explain/member.h"

#include "base/date.h"

void
sym_member_key(sym_out_t *out, const char *key)
{
    sym_out_raw(out, SYM_STR(", \""));
    sym_out_raw(out, sym_cstr(key));
    sym_out_raw(out, SYM_STR("\": "));
}


void
sym_member_text(sym_out_t *out, const char *key, sym_str_t text)
{
    sym_member_key(out, key);
    sym_out_string(out, text);
}


void
sym_member_number(sym_out_t *out, const char *key, uint64_t value)
{
    sym_member_key(out, key);
    sym_out_dec(out, value);
}


void
sym_member_time(sym_out_t *out, const char *key, int64_t time_s)
{
    char date[SYM_ISO_DATE_LEN];

    if (time_s <= 0 || !sym_iso_date_write((uint64_t) time_s, date)) {
        sym_member_key(out, key);
        sym_out_raw(out, SYM_STR("null"));
        return;
    }

    sym_member_text(out, key, sym_str(date, sizeof(date)));
}


void
sym_member_bool(sym_out_t *out, const char *key, bool value)
{
    sym_member_key(out, key);
    sym_out_raw(out, value ? SYM_STR("true") : SYM_STR("false"));
}
