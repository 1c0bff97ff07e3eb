#include "protocol/outcomes.h"

#include "base/cursor.h"
#include "base/hex.h"

#define FIXED 21

static char *
put(char *p, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        *p++ = (char) (v >> (8 * i));
    }

    return p;
}


static char *
put_text(char *p, sym_str_t s)
{
    if (s.len != 0) {
        memcpy(p, s.data, s.len);
    }

    return p + s.len;
}


static sym_str_t
fit(sym_str_t s, size_t max, size_t *room)
{
    if (s.len > max || s.len > *room) {
        return SYM_STR("");
    }

    *room -= s.len;
    return s;
}


void
sym_outcomes_add(const sym_place_outcome_t *o, char text[SYM_OUTCOMES_MAX],
                 size_t *len)
{
    size_t left = SYM_OUTCOMES_MAX - *len;
    size_t kept = FIXED * (size_t) (SYM_PLAN_MAX - o->place);
    size_t room = left > kept ? left - kept : 0;
    sym_str_t word, reason, url;
    char *p = text + *len;

    if (left < FIXED) {
        return;
    }

    word = fit(o->word, SYM_PATH_WORD_MAX, &room);
    url = fit(o->url, SYM_PATH_URL_MAX, &room);
    reason = fit(o->reason, SYM_REASON_MAX, &room);

    p = put(p, o->place, 1);
    p = put(p, o->outcome, 1);
    p = put(p, o->status, 2);
    p = put(p, o->ms, 4);
    p = put(p, o->bytes, 8);
    p = put(p, word.len, 1);
    p = put(p, reason.len, 2);
    p = put(p, url.len, 2);
    p = put_text(put_text(put_text(p, word), reason), url);
    *len = (size_t) (p - text);
}


static bool
is_valid(const sym_place_outcome_t *o)
{
    return o->place < SYM_PLAN_MAX && o->outcome >= SYM_PATH_READ
           && o->outcome <= SYM_PATH_FAILED && o->word.len <= SYM_PATH_WORD_MAX
           && o->reason.len <= SYM_REASON_MAX && o->url.len <= SYM_PATH_URL_MAX;
}


bool
sym_outcomes_next(sym_str_t *text, sym_place_outcome_t *o)
{
    sym_error_t err = { 0 };
    sym_cursor_t c;
    uint16_t reason, url;
    uint8_t word;

    if (text->len == 0) {
        return false;
    }

    c = sym_cursor((const uint8_t *) text->data, text->len, "outcomes", &err);
    o->place = sym_u8(&c);
    o->outcome = (sym_path_outcome_t) sym_u8(&c);
    o->status = sym_u16(&c);
    o->ms = sym_u32(&c);
    o->bytes = sym_u64(&c);
    word = sym_u8(&c);
    reason = sym_u16(&c);
    url = sym_u16(&c);
    o->word = sym_bytes(&c, word);
    o->reason = sym_bytes(&c, reason);
    o->url = sym_bytes(&c, url);

    if (!sym_ok(&c) || !is_valid(o)) {
        return false;
    }

    *text = sym_str(text->data + text->len - sym_left(&c), sym_left(&c));
    return true;
}


/* Takes the part before the next slash; false: no slash is left. */
static bool
take_part(sym_str_t *rest, sym_str_t *part)
{
    const char *at = rest->len == 0 ? NULL : memchr(rest->data, '/', rest->len);

    if (at == NULL) {
        return false;
    }

    *part = sym_str(rest->data, (size_t) (at - rest->data));
    *rest = sym_str(at + 1, rest->len - part->len - 1);
    return true;
}


bool
sym_place_blocked(sym_str_t word, sym_place_blocked_t *blocked)
{
    sym_str_t rest = word, part;

    return sym_str_starts(word, SYM_STR(SYM_PLACE_BLOCKED))
           && take_part(&rest, &part) && take_part(&rest, &part)
           && sym_dec_read(part, &blocked->block_ms)
           && take_part(&rest, &blocked->outcome)
           && sym_dec_read(rest, &blocked->ms);
}
