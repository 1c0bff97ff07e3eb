#include "artifacts/symcache/write/dictionary.h"

#include "base/json_plain.h"

/* Share of the search that is left for candidates with four common bytes.
 * Candidates with eight are tried first, because common prefixes ("core",
 * "std:") would otherwise crowd out long matches. */
#define TRIES4_SHARE 3

static inline uint32_t
hash4(const sym_dict_t *dict, const uint8_t *p)
{
    return sym_load32(p) * 2654435761u >> (32 - dict->hash_bits);
}


static inline uint32_t
hash8(const sym_dict_t *dict, const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return (uint32_t) (v * 0x9e3779b97f4a7c15u >> (64 - dict->hash_bits));
}


static void
chain(sym_dict_chains_t *c, uint32_t hash, uint32_t place)
{
    c->next[place] = c->head[hash];
    c->head[hash] = (uint16_t) (place + 1);
}


/* Clears only the part that this many bits can address.  For small modules,
 * clearing all would be most of the work. */
static void
empty_chains(sym_dict_t *dict)
{
    unsigned bits = 1;

    while (bits < SYM_DICT_HASH_BITS && (uint32_t) 1 << bits < dict->len) {
        bits++;
    }

    dict->hash_bits = bits;
    memset(dict->by4.head, 0, sizeof(*dict->by4.head) << bits);
    memset(dict->by8.head, 0, sizeof(*dict->by8.head) << bits);
}


void
sym_dict_index(sym_dict_t *dict)
{
    empty_chains(dict);

    for (uint32_t i = 0; i + 4 <= dict->len; i++) {
        chain(&dict->by4, hash4(dict, dict->bytes + i), i);
    }

    for (uint32_t i = 0; i + 8 <= dict->len; i++) {
        chain(&dict->by8, hash8(dict, dict->bytes + i), i);
    }
}


/* Searches one chain for a match longer than *best bytes. */
static inline void
follow_chain(const sym_dict_t *dict, const uint16_t *next, uint32_t at,
             unsigned tries, sym_str_t text, size_t *best, uint32_t *place)
{
    const uint8_t *p = (const uint8_t *) text.data;

    for (; at != 0 && tries > 0; at = next[at - 1], tries--) {
        const uint8_t *d = dict->bytes + at - 1;
        size_t most = dict->len - (at - 1), n;

        /* the match must be longer than *best (at least 3), so these four bytes
         * are equal */
        most = most < text.len ? most : text.len;
        if (most > *best
            && sym_load32(d + *best - 3) == sym_load32(p + *best - 3)) {
            n = sym_common_length(d, p, most);
            if (n > *best) {
                *best = n;
                *place = at - 1;
            }
        }
    }
}


/* The longest dictionary string that is a prefix of p.  0: it is shorter than
   SYM_COPY_MIN. */
static size_t
longest_match(const sym_dict_t *dict, const uint8_t *p, size_t left,
              unsigned tries, uint32_t *place)
{
    sym_str_t text = sym_str((const char *) p, left);
    size_t best = SYM_COPY_MIN - 1;
    uint32_t at = left < 4 ? 0 : dict->by4.head[hash4(dict, p)];

    /* for most literal bytes the search ends with this test */
    if (at == 0) {
        return 0;
    }

    if (left >= 8) {
        follow_chain(dict, dict->by8.next, dict->by8.head[hash8(dict, p)],
                     tries, text, &best, place);
    }

    if (best < 8) {
        follow_chain(dict, dict->by4.next, at, tries / TRIES4_SHARE, text,
                     &best, place);
    }

    return best < SYM_COPY_MIN ? 0 : best;
}


static uint8_t *
put_literals(uint8_t *out, const uint8_t *p, size_t n)
{
    while (n > 0) {
        size_t run = n < SYM_TOKEN_COPY ? n : SYM_TOKEN_COPY;

        *out++ = (uint8_t) (run - 1);
        memcpy(out, p, run);
        out += run;
        p += run;
        n -= run;
    }

    return out;
}


static uint8_t *
put_copy(uint8_t *out, size_t n, uint32_t place)
{
    uint16_t place16 = (uint16_t) place;
    size_t most = SYM_TOKEN_LONG - SYM_TOKEN_COPY;

    n -= SYM_COPY_MIN;
    if (n < most) {
        *out++ = (uint8_t) (SYM_TOKEN_COPY + n);
    } else {
        *out++ = SYM_TOKEN_LONG;
        out = sym_uleb_write(out, n - most);
    }

    memcpy(out, &place16, sizeof(place16));
    return out + sizeof(place16);
}


static uint64_t
read_uleb(const uint8_t **p)
{
    uint64_t v = 0;
    unsigned shift = 0;

    do {
        v |= (uint64_t) (**p & 0x7f) << shift;
        shift += 7;
    } while (*(*p)++ & 0x80);

    return v;
}


/* Moves p past a token; *n is the number of bytes that it encodes. */
static inline const uint8_t *
read_token(const sym_dict_t *dict, const uint8_t **p, size_t *n)
{
    unsigned token = *(*p)++;
    const uint8_t *from = *p;

    if (token < SYM_TOKEN_COPY) {
        *n = token + 1;
        *p += *n;
        return from;
    }

    *n = token - SYM_TOKEN_COPY + SYM_COPY_MIN;
    *n += token == SYM_TOKEN_LONG ? (size_t) read_uleb(p) : 0;
    from = dict->bytes + sym_load16(*p);
    *p += 2;
    return from;
}


/* Number of tokens at `from` that encode text of both names; *len is the length
 * of that text.  Unless both names end there, the last token is a copy.  The
 * token where the names differ is searched again, because this name may have a
 * longer match, and because two runs of literal bytes are never adjacent. */
static size_t
common_tokens(const sym_dict_t *dict, const uint8_t *from,
              sym_recent_match_t match, size_t *len)
{
    const uint8_t *next = from;
    size_t done = 0, copied = 0, n;

    *len = 0;
    while (done < match.common) {
        const bool is_copy = *next >= SYM_TOKEN_COPY;

        (void) read_token(dict, &next, &n);
        done += n;
        if (match.is_whole ? done > match.common : done >= match.common) {
            return copied;
        }

        if (is_copy || done == match.common) {
            copied = done;
            *len = (size_t) (next - from);
        }
    }

    return copied;
}


void
sym_dict_pack(const sym_dict_t *dict, sym_recent_t *recent, sym_str_t name,
              unsigned tries, sym_buffer_t *out)
{
    /* an empty name may have a NULL pointer */
    const uint8_t *p = (const uint8_t *) (name.len != 0 ? name.data : "");
    const uint8_t *end = p + name.len, *literals = p;
    uint8_t *o;

    /* In the worst case all bytes are literal, with a token for every 64.  A
     * copy and the literal token after it are never longer than their bytes. */
    if (!sym_buffer_room(out, SYM_LEB_MAX + name.len + name.len / 32 + 16)) {
        return;
    }

    sym_recent_add(recent, name);
    o = sym_uleb_write(out->data + out->len,
                       (uint64_t) name.len << 1 | (sym_is_plain(name) ? 1 : 0));

    while (p < end) {
        size_t left = (size_t) (end - p), n = 0, len;
        uint32_t place = 0;

        if (p == literals && left >= SYM_RECENT_MIN
            && (recent->credit != 0 || left == name.len))
        {
            sym_recent_match_t match =
                sym_recent_find(recent, left, (size_t) (o - out->data));
            const uint8_t *from = out->data + match.packed;

            n = common_tokens(dict, from, match, &len);
            memcpy(o, from, len);
            o += len;
        }

        if (n == 0) {
            n = longest_match(dict, p, left, tries, &place);
            if (n == 0) {
                p++;
                continue;
            }

            o = put_literals(o, literals, (size_t) (p - literals));
            o = put_copy(o, n, place);
        }

        p += n;
        literals = p;
    }

    o = put_literals(o, literals, (size_t) (p - literals));
    out->len = (size_t) (o - out->data);
}


bool
sym_dict_packed_is(const sym_dict_t *dict, const uint8_t *p, sym_str_t name)
{
    size_t done = 0, n;

    if (read_uleb(&p) >> 1 != name.len) {
        return false;
    }

    while (done < name.len) {
        const uint8_t *from = read_token(dict, &p, &n);

        if (memcmp(from, name.data + done, n) != 0) {
            return false;
        }
        done += n;
    }

    return true;
}
