#include "artifacts/symcache/write/recent.h"

_Static_assert(SYM_RECENT_BYTES >= SYM_PART_BYTES_MAX, "a name fits the ring");

void
sym_recent_add(sym_recent_t *r, sym_str_t name)
{
    size_t at = r->end % SYM_RECENT_BYTES;

    /* keeps each name in one piece */
    if (name.len > SYM_RECENT_BYTES - at) {
        r->end += SYM_RECENT_BYTES - at;
        at = 0;
    }

    if (name.len != 0) {
        memcpy(r->texts + at, name.data, name.len);
    }
    r->end += name.len;
}


static sym_recent_place_t *
place_of(sym_recent_t *r, const uint8_t *p)
{
    uint64_t words[2];

    memcpy(words, p, SYM_RECENT_MIN);
    words[0] = words[0] * 0x9e3779b97f4a7c15u ^ words[1];
    return &r->places[words[0] * 0xbf58476d1ce4e5b9u
                      >> (64 - SYM_RECENT_PLACE_BITS)];
}


sym_recent_match_t
sym_recent_find(sym_recent_t *r, size_t left, size_t packed)
{
    const uint64_t text = r->end - left;
    const uint8_t *p = r->texts + text % SYM_RECENT_BYTES;
    sym_recent_place_t *place = place_of(r, p), met = *place;
    size_t most = left < met.left ? left : met.left;
    sym_recent_match_t match = { .packed = met.packed };

    *place = (sym_recent_place_t){ .text = text,
                                   .packed = packed & 0xffffffffffff,
                                   .left = left & 0xffff };

    r->credit -= r->credit != 0;

    /* later names may have overwritten its text */
    if (r->end - met.text > SYM_RECENT_BYTES) {
        return match;
    }

    /* tokens up to here are of this name */
    most = most < text - met.text ? most : (size_t) (text - met.text);
    match.common =
        sym_common_length(p, r->texts + met.text % SYM_RECENT_BYTES, most);
    if (match.common < SYM_RECENT_MIN) {
        match.common = 0;
        return match;
    }

    match.is_whole = match.common == left && left == met.left;
    if (r->credit < SYM_RECENT_CREDIT_MAX) {
        r->credit += SYM_RECENT_REWARD;
    }

    return match;
}
