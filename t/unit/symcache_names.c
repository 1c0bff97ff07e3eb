/*
 * Names as the writer packs them: each unpacks to itself by the rules of
 * docs/formats/symcache.md, section 9, whatever it has in common with the
 * dictionary and other names.
 */
#include "artifacts/symcache/write/dictionary.h"
#include "tap.h"

#include <stdlib.h>

#define NAMES 4000
#define NAME_MAX_BYTES SYM_PART_BYTES_MAX

static sym_dict_t dict;
static sym_recent_t recent;
static sym_buffer_t out;
static char names[NAMES][400];
static size_t lens[NAMES], begins[NAMES];

static uint32_t
pick(uint32_t n)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}


/* Unpacks as documented; the packed bytes end at `end`. */
static bool
unpacks_to(const uint8_t *p, const uint8_t *end, const char *want, size_t len)
{
    size_t claimed = 0, done = 0;

    for (unsigned shift = 0; p < end; shift += 7) {
        claimed |= (size_t) (*p & 0x7f) << shift;
        if ((*p++ & 0x80) == 0) {
            break;
        }
    }

    while (p < end && done < len) {
        size_t token = *p++, n = token - 60, shift = 0, more = 0, place;

        if (token < 64) {
            n = token + 1;
            if (n > (size_t) (end - p) || n > len - done
                || memcmp(p, want + done, n) != 0) {
                return false;
            }
            p += n;
            done += n;
            continue;
        }

        while (token == 255 && p < end) {
            more |= (size_t) (*p & 0x7f) << shift;
            shift += 7;
            if ((*p++ & 0x80) == 0) {
                break;
            }
        }

        n += more;
        if (end - p < 2) {
            return false;
        }
        place = p[0] | (size_t) p[1] << 8;
        p += 2;
        if (place + n > dict.len || n > len - done
            || memcmp(dict.bytes + place, want + done, n) != 0)
        {
            return false;
        }
        done += n;
    }

    return claimed >> 1 == len && done == len && p == end;
}


static bool
packs(const char *name, size_t len)
{
    size_t begin = out.len;

    sym_dict_pack(&dict, &recent, sym_str(name, len), SYM_DICT_QUICK, &out);
    return unpacks_to(out.data + begin, out.data + out.len, name, len)
           && sym_dict_packed_is(&dict, out.data + begin, sym_str(name, len));
}


/* Words, some of them new, some of them the beginning, middle or end of another
 * name. */
static void
make_name(size_t id)
{
    static const char *const words[] = { "std::vector<",
                                         "absl::flat_hash_map",
                                         "unsigned char",
                                         "> >::operator()",
                                         "a",
                                         "::",
                                         "allocator<T>",
                                         "\"\\\x01",
                                         "k",
                                         "basic_string" };
    char *name = names[id];
    size_t len = 0;

    for (uint32_t n = pick(12); n > 0; n--) {
        size_t room = sizeof(names[0]) - len, from, some;
        const size_t other =
            id == 0 ? 0 : id - 1 - pick(id < 50 ? (uint32_t) id : 50);

        if (pick(2) == 0 || lens[other] == 0) {
            const char *word = words[pick(10)];

            some = strlen(word);
            some = some < room ? some : room;
            memcpy(name + len, word, some);
        } else {
            from = pick(3) == 0 ? 0 : pick((uint32_t) lens[other]);
            some = lens[other] - from;
            some = pick(2) == 0 ? some : pick((uint32_t) some + 1);
            some = some < room ? some : room;
            memmove(name + len, names[other] + from, some);
        }
        len += some;

        if (pick(4) == 0 && len < sizeof(names[0])) {
            name[len++] = (char) pick(256);
        }
    }

    lens[id] = len;
}


static void
test_texts(void)
{
    sym_buffer_t samples = { 0 };
    size_t wrong = 0, bytes = 0, alone = 0;

    for (size_t id = 0; id < NAMES; id++) {
        make_name(id);
        sym_buffer_put(&samples, names[id], lens[id]);
    }
    ok(sym_dict_train(&dict, samples.data, samples.len),
       "there is enough memory");
    ok(dict.len > 10000, "... and a dictionary");

    for (size_t id = 0; id < NAMES; id++) {
        begins[id] = out.len;
        wrong += !packs(names[id], lens[id]);
        bytes += lens[id];
    }
    is_u64(wrong, 0, "each name unpacks to itself");
    ok(bytes > 4 * SYM_RECENT_BYTES, "... from more text than the ring holds");

    /* names packed before are unchanged */
    for (size_t id = 0; id + 1 < NAMES; id++) {
        wrong += !unpacks_to(out.data + begins[id], out.data + begins[id + 1],
                             names[id], lens[id]);
    }
    is_u64(wrong, 0, "... and still does when others are packed");

    for (size_t id = 0; id < NAMES; id++) {
        sym_buffer_t one = { 0 };

        memset(&recent, 0, sizeof(recent));
        sym_dict_pack(&dict, &recent, sym_str(names[id], lens[id]),
                      SYM_DICT_QUICK, &one);
        alone += one.len;
        sym_buffer_free(&one);
    }
    ok(out.len < alone / 100 * 103,
       "in as many bytes as without the others: %zu, %zu", out.len, alone);

    out.len = 0;
    memset(&recent, 0, sizeof(recent));
    sym_buffer_free(&samples);
}


/* Names that consist of repetitions, and names of the greatest length. */
static void
test_long_texts(void)
{
    static char text[NAME_MAX_BYTES];
    size_t wrong = 0;

    for (size_t period = 1; period < 80; period++) {
        for (size_t i = 0; i < sizeof(text); i++) {
            text[i] = names[NAMES / 2][i % period];
        }
        wrong += !packs(text, sizeof(text));
        wrong += !packs(text, sizeof(text) - 1);
        wrong += !packs(text, period + 16);
        wrong += !packs(text + 1, sizeof(text) - 1);
    }
    is_u64(wrong, 0, "names that repeat themselves, and the longest ones");

    memset(text, 0, sizeof(text));
    wrong += !packs(text, sizeof(text));
    for (size_t len = 0; len < 40; len++) {
        wrong += !packs(text, len);
    }
    is_u64(wrong, 0, "NUL bytes, which an empty ring contains");
}


/* Names share runs of literal bytes before a copy that differs.  Reusing such a
 * run would cost a byte more than the room for the name. */
static void
test_literals(void)
{
    enum { UNITS = 192, UNIQUE = 15, ROUNDS = 14 };
    static char unique[UNITS][UNIQUE], text[UNITS * 20];
    size_t len = 0, before;
    unsigned n = 0;

    memset(&dict, 0, sizeof(dict));
    memset(&recent, 0, sizeof(recent));
    out.len = 0;
    memcpy(dict.bytes, "QRST....WXYZ....", 16);
    dict.len = 16;
    sym_dict_index(&dict);

    for (size_t i = 0; i < UNITS; i++) {
        for (size_t k = 0; k < UNIQUE; k++) {
            unique[i][k] = (char) ('a' + pick(26));
        }
    }

    /* names that are alike, so that every position is looked up */
    for (unsigned i = 0; i < ROUNDS; i++) {
        char name[64];

        (void) snprintf(name, sizeof(name), "creditcreditcred%05u", n++);
        sym_dict_pack(&dict, &recent, sym_cstr(name), SYM_DICT_CAREFUL, &out);
    }

    for (unsigned round = 0; round < 2; round++) {
        const sym_str_t tail = round == 0 ? SYM_STR("QRST") : SYM_STR("QWXYZ");

        len = 0;
        for (size_t i = 0; i < UNITS; i++) {
            memcpy(text + len, unique[i], UNIQUE);
            memcpy(text + len + UNIQUE, tail.data, tail.len);
            len += UNIQUE + tail.len;
        }

        before = out.len;
        sym_dict_pack(&dict, &recent, sym_str(text, len), SYM_DICT_CAREFUL,
                      &out);
        ok(out.len - before <= SYM_LEB_MAX + len + len / 32 + 16,
           "a name of %zu bytes takes no more room than it may", len);
        ok(unpacks_to(out.data + before, out.data + out.len, text, len),
           "... and unpacks to itself");
    }
}


int
main(void)
{
    test_texts();
    test_long_texts();
    test_literals();
    sym_buffer_free(&out);
    return done_testing();
}
