#include "artifacts/symcache/write/dictionary.h"

#include <stdlib.h>

#include "base/json_plain.h"

/* Measured on names of C++ and Rust modules: windows of 64 bytes pack 7 %
 * worse than 128, grams of 4 or 8 some percent worse than 6. */
#define WINDOW 128
#define GRAM 6

/* A dictionary byte must serve this many bytes of names to pay for itself. */
#define SAMPLE_PER_DICT_BYTE 16

#define COUNT_BITS_MAX 18

/* Of the places that are tried for one match, those with eight bytes alike come
 * first, or common openings ("core", "std:") would crowd out the long matches;
 * this part of them is for those with four. */
#define TRIES4_SHARE 3

/* Reads GRAM_READ bytes, of which GRAM count: a copy of exactly six bytes would
 * stall on its way through the stack. */
#define GRAM_READ 8

static inline uint32_t
gram_hash(const uint8_t *p, unsigned bits)
{
    uint64_t v;

    memcpy(&v, p, GRAM_READ);
    v <<= 8 * (GRAM_READ - GRAM); /* little endian: drops the last bytes */
    return (uint32_t) (v * 0x9e3779b97f4a7c15u >> (64 - bits));
}


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


/* Frequent strings count, unique ones are worth nothing. */
static inline uint32_t
worth(uint32_t count)
{
    return count > 1 ? count : 0;
}


/* The window of [p, p + len) that covers most, or len if none is worth it;
 * worths[] has room for len. */
static size_t
best_window(const uint8_t *p, size_t len, const uint16_t *counts, unsigned bits,
            uint32_t *worths)
{
    size_t grams = WINDOW - GRAM_READ + 1, best = len;
    uint64_t sum = 0, best_sum = grams; /* less is not worth its bytes */

    for (size_t i = 0; i + GRAM_READ <= len; i++) {
        worths[i] = worth(counts[gram_hash(p + i, bits)]);
        sum += worths[i];

        if (i >= grams) {
            sum -= worths[i - grams];
        }

        if (i + 1 >= grams && sum > best_sum) {
            best_sum = sum;
            best = i + 1 - grams;
        }
    }

    return best;
}


static void
chain(sym_dict_chains_t *c, uint32_t hash, uint32_t place)
{
    c->next[place] = c->head[hash];
    c->head[hash] = (uint16_t) (place + 1);
}


/* Only what this many bits can reach: of small modules emptying all of it would
 * be most of the work. */
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


static void
index_dictionary(sym_dict_t *dict)
{
    empty_chains(dict);

    for (uint32_t i = 0; i + 4 <= dict->len; i++) {
        chain(&dict->by4, hash4(dict, dict->bytes + i), i);
    }

    for (uint32_t i = 0; i + 8 <= dict->len; i++) {
        chain(&dict->by8, hash8(dict, dict->bytes + i), i);
    }
}


static void
count_grams(const uint8_t *p, size_t len, uint16_t *counts, unsigned bits)
{
    for (size_t i = 0; i + GRAM_READ <= len; i++) {
        uint16_t *count = &counts[gram_hash(p + i, bits)];

        *count = (uint16_t) (*count + (*count != UINT16_MAX));
    }
}


bool
sym_dict_train(sym_dict_t *dict, const uint8_t *samples, size_t len)
{
    size_t want = len / SAMPLE_PER_DICT_BYTE, epochs, step;
    unsigned bits = 10;
    uint16_t *counts;
    uint32_t *worths;

    dict->len = 0;
    want = want > SYM_DICT_MAX ? SYM_DICT_MAX : want;
    epochs = want / WINDOW;
    if (epochs == 0) {
        index_dictionary(dict);
        return true;
    }

    while (bits < COUNT_BITS_MAX && (size_t) 1 << bits < len) {
        bits++;
    }

    step = len / epochs;
    counts = calloc((size_t) 1 << bits, sizeof(*counts));
    worths = malloc(step * sizeof(*worths));
    if (counts == NULL || worths == NULL) {
        free(counts);
        free(worths);
        return false;
    }

    count_grams(samples, len, counts, bits);

    for (size_t e = 0; e < epochs; e++) {
        const uint8_t *p = samples + e * step;
        size_t at = best_window(p, step, counts, bits, worths);

        if (at == step) {
            continue;
        }

        memcpy(dict->bytes + dict->len, p + at, WINDOW);
        dict->len += WINDOW;

        for (size_t i = 0; i + GRAM_READ <= WINDOW; i++) {
            counts[gram_hash(p + at + i, bits)] = 0; /* covered */
        }
    }

    free(counts);
    free(worths);
    index_dictionary(dict);
    return true;
}


static size_t
common_length(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t n = 0;

    while (most - n >= 8) {
        uint64_t x, y;

        memcpy(&x, a + n, 8);
        memcpy(&y, b + n, 8);
        if (x != y) {
            return n + (size_t) (__builtin_ctzll(x ^ y) / 8);
        }
        n += 8;
    }

    while (n < most && a[n] == b[n]) {
        n++;
    }

    return n;
}


/* Improves on a match of *best bytes at *place along one chain. */
static inline void
follow_chain(const sym_dict_t *dict, const uint16_t *next, uint32_t at,
             unsigned tries, sym_str_t text, size_t *best, uint32_t *place)
{
    const uint8_t *p = (const uint8_t *) text.data;

    for (; at != 0 && tries > 0; at = next[at - 1], tries--) {
        const uint8_t *d = dict->bytes + at - 1;
        size_t most = dict->len - (at - 1), n;

        /* longer than *best (at least 3), so these four are alike, too */
        most = most < text.len ? most : text.len;
        if (most > *best
            && sym_load32(d + *best - 3) == sym_load32(p + *best - 3)) {
            n = common_length(d, p, most);
            if (n > *best) {
                *best = n;
                *place = at - 1;
            }
        }
    }
}


/* Longest dictionary string that p begins with; 0: none of SYM_COPY_MIN. */
static size_t
longest_match(const sym_dict_t *dict, const uint8_t *p, size_t left,
              unsigned tries, uint32_t *place)
{
    sym_str_t text = sym_str((const char *) p, left);
    size_t best = SYM_COPY_MIN - 1;

    if (left >= 8) {
        follow_chain(dict, dict->by8.next, dict->by8.head[hash8(dict, p)],
                     tries, text, &best, place);
    }

    if (best < 8 && left >= 4) {
        follow_chain(dict, dict->by4.next, dict->by4.head[hash4(dict, p)],
                     tries / TRIES4_SHARE, text, &best, place);
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


void
sym_dict_pack(const sym_dict_t *dict, sym_str_t name, unsigned tries,
              sym_buffer_t *out)
{
    /* an empty name may have no bytes to count from */
    const uint8_t *p = (const uint8_t *) (name.len != 0 ? name.data : "");
    const uint8_t *end = p + name.len, *literals = p;
    uint8_t *o;

    /* at worst all literals: a token for every 64 bytes */
    if (!sym_buffer_room(out, SYM_LEB_MAX + name.len + name.len / 32 + 16)) {
        return;
    }

    o = sym_uleb_write(out->data + out->len,
                       (uint64_t) name.len << 1 | (sym_is_plain(name) ? 1 : 0));

    while (p < end) {
        uint32_t place = 0;
        size_t n = longest_match(dict, p, (size_t) (end - p), tries, &place);

        if (n == 0) {
            p++;
            continue;
        }

        o = put_literals(o, literals, (size_t) (p - literals));
        o = put_copy(o, n, place);
        p += n;
        literals = p;
    }

    o = put_literals(o, literals, (size_t) (p - literals));
    out->len = (size_t) (o - out->data);
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


bool
sym_dict_packed_is(const sym_dict_t *dict, const uint8_t *p, sym_str_t name)
{
    size_t done = 0, n;

    if (read_uleb(&p) >> 1 != name.len) {
        return false;
    }

    while (done < name.len) {
        unsigned token = *p++;
        const uint8_t *from = p;

        if (token < SYM_TOKEN_COPY) {
            n = token + 1;
            p += n;
        } else {
            n = token - SYM_TOKEN_COPY + SYM_COPY_MIN;
            n += token == SYM_TOKEN_LONG ? (size_t) read_uleb(&p) : 0;
            from = dict->bytes + sym_load16(p);
            p += 2;
        }

        if (memcmp(from, name.data + done, n) != 0) {
            return false;
        }
        done += n;
    }

    return true;
}
