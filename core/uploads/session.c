#include "uploads/session.h"

#include <stdio.h>

#include "base/hex.h"
#include "uploads/names.h"

bool
sym_session_md5_ok(sym_str_t md5)
{
    for (size_t i = 0; i < md5.len; i++) {
        if (sym_hex_digit(md5.data[i]) < 0
            || (md5.data[i] >= 'A' && md5.data[i] <= 'F'))
        {
            return false;
        }
    }

    return md5.len == SYM_SESSION_MD5;
}


bool
sym_session_key_ok(sym_str_t key)
{
    return key.len <= SYM_SESSION_KEY_MAX
           && sym_mozilla_name(key) == SYM_MOZILLA_FILE;
}


bool
sym_session_range(sym_str_t header, sym_session_t *session)
{
    sym_str_t range = header, unit, first;
    uint64_t last, total;
    bool has_total;

    session->from = session->to = 0;
    session->end = SYM_SESSION_WHOLE;
    if (header.data == NULL) {
        return true;
    }

    unit = sym_str_cut(&range, ' ');
    first = sym_str_cut(&range, '/'); /* range: the length */
    has_total = sym_dec_read(range, &total);
    if (!sym_str_eq(unit, SYM_STR("bytes"))
        || (!has_total && !sym_str_eq(range, SYM_STR("*"))))
    {
        return false;
    }

    if (sym_str_eq(first, SYM_STR("*"))) {
        session->from = session->to = has_total ? total : 0;
        session->end = has_total ? SYM_SESSION_END : SYM_SESSION_QUERY;
        return true;
    }

    range = first;
    first = sym_str_cut(&range, '-');
    if (!sym_dec_read(first, &session->from) || !sym_dec_read(range, &last)
        || session->from > last || last == UINT64_MAX
        || (has_total && last >= total))
    {
        return false;
    }

    session->to = last + 1;
    session->end =
        has_total && session->to == total ? SYM_SESSION_END : SYM_SESSION_RANGE;
    return true;
}


static size_t
write_file(const sym_session_t *s, char *out, size_t size)
{
    return (size_t) snprintf(out, size, "%llu %.*s %.*s",
                             (unsigned long long) s->size, (int) s->md5.len,
                             s->md5.data, (int) s->key.len, s->key.data);
}


size_t
sym_session_write(const sym_session_t *s, char out[SYM_SESSION_TEXT])
{
    size_t n = (size_t) snprintf(out, SYM_SESSION_TEXT, "%llu %llu %d ",
                                 (unsigned long long) s->from,
                                 (unsigned long long) s->to, (int) s->end);

    return n + write_file(s, out + n, SYM_SESSION_TEXT - n);
}


bool
sym_session_read(sym_str_t text, sym_session_t *s)
{
    sym_str_t from = sym_str_cut(&text, ' '), to = sym_str_cut(&text, ' ');
    sym_str_t end = sym_str_cut(&text, ' '), size = sym_str_cut(&text, ' ');
    uint64_t number;

    s->md5 = sym_str_cut(&text, ' ');
    s->key = text;
    if (!sym_dec_read(from, &s->from) || !sym_dec_read(to, &s->to)
        || !sym_dec_read(end, &number) || number > SYM_SESSION_WHOLE
        || !sym_dec_read(size, &s->size))
    {
        return false;
    }

    s->end = (sym_session_end_t) number;
    return s->from <= s->to && sym_session_md5_ok(s->md5)
           && sym_session_key_ok(s->key);
}


void
sym_session_id(const sym_session_t *s, uint8_t id[SYM_SHA1_BYTES])
{
    char text[SYM_SESSION_TEXT];
    size_t n = write_file(s, text, sizeof(text));

    sym_sha1(SYM_STR("upload v2: "), sym_str(text, n), id);
}
