/*
 * The answer cache: a lookup returns what was stored under that key, or
 * nothing, however often the ring has wrapped.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolicate/cache/answers.h"
#include "tap.h"

static sym_answer_cache_t *cache;


static sym_answer_cache_key_t
key_of(uint32_t n)
{
    return (sym_answer_cache_key_t){ n % 7, n, n % 3 };
}


/* A text of 0 to 2999 bytes, different for each key. */
static size_t
text_of(uint32_t n, char *text)
{
    size_t len = n * 7919u % 3000;

    for (size_t i = 0; i < len; i++) {
        text[i] = (char) ((size_t) n * 31 + i);
    }

    return len;
}


static sym_answer_cache_state_t
meet(sym_answer_cache_key_t key, sym_answer_cache_ref_t *ref)
{
    return sym_answer_cache_meet(cache, &key, ref);
}


static void
one_text(void)
{
    static const sym_answer_cache_key_t key = { 1, 0x1000, 5 },
                                        other = { 1, 0x1001, 5 };
    sym_answer_cache_ref_t ref;
    const char *text;

    ok(meet(key, &ref) == SYM_ANSWER_CACHE_MISS, "an unknown key");
    ok(meet(key, &ref) == SYM_ANSWER_CACHE_SEEN, "seen once: worth keeping");
    sym_answer_cache_keep(cache, &key, "abc", 3);
    ok(meet(key, &ref) == SYM_ANSWER_CACHE_HIT, "kept");
    text = sym_answer_cache_text(cache, &key, &ref);
    ok(text != NULL && ref.len == 3 && memcmp(text, "abc", 3) == 0, "its text");

    ok(sym_answer_cache_text(cache, &other, &ref) == NULL,
       "a position that holds another text");
    ok(meet((sym_answer_cache_key_t){ 2, 0x1000, 5 }, &ref)
           == SYM_ANSWER_CACHE_MISS,
       "another module");
    ok(meet((sym_answer_cache_key_t){ 1, 0x1001, 5 }, &ref)
           == SYM_ANSWER_CACHE_MISS,
       "another address");
    ok(meet((sym_answer_cache_key_t){ 1, 0x1000, 4 }, &ref)
           == SYM_ANSWER_CACHE_MISS,
       "another form");
}


static void
empty_and_long(void)
{
    static char text[SYM_ANSWER_CACHE_TEXT_MAX + 1];
    const sym_answer_cache_key_t none = { 3, 1, 5 }, most = { 3, 2, 5 },
                                 more = { 3, 3, 5 }, never_met = { 3, 4, 5 };
    sym_answer_cache_ref_t ref;

    meet(none, &ref);
    sym_answer_cache_keep(cache, &none, "", 0);
    ok(meet(none, &ref) == SYM_ANSWER_CACHE_HIT && ref.len == 0
           && sym_answer_cache_text(cache, &none, &ref) != NULL,
       "an empty text is an answer, too");

    meet(most, &ref);
    sym_answer_cache_keep(cache, &most, text, SYM_ANSWER_CACHE_TEXT_MAX);
    ok(meet(most, &ref) == SYM_ANSWER_CACHE_HIT
           && ref.len == SYM_ANSWER_CACHE_TEXT_MAX,
       "the longest");

    meet(more, &ref);
    sym_answer_cache_keep(cache, &more, text, SYM_ANSWER_CACHE_TEXT_MAX + 1);
    ok(meet(more, &ref) == SYM_ANSWER_CACHE_SEEN, "a longer one is not stored");

    sym_answer_cache_keep(cache, &never_met, "x", 1);
    ok(meet(never_met, &ref) == SYM_ANSWER_CACHE_MISS,
       "nor one that was not seen before");
}


/* Many more texts than there is room for, each requested several times. */
static void
round_and_round(void)
{
    static char want[3000];
    unsigned wrong = 0, kept = 0, gone = 0;
    const sym_answer_cache_key_t first_key = key_of(0);
    sym_answer_cache_ref_t first = { 0 }, ref;

    for (uint32_t n = 0; n < 20000; n++) {
        sym_answer_cache_key_t key = key_of(n % 500 < 40 ? n % 40 : n);

        for (unsigned i = 0; i < 3; i++) {
            size_t len = text_of(key.addr, want);

            if (meet(key, &ref) == SYM_ANSWER_CACHE_HIT) {
                const char *text = sym_answer_cache_text(cache, &key, &ref);

                kept++;
                wrong += text == NULL || ref.len != len
                         || memcmp(text, want, len) != 0;
            } else {
                sym_answer_cache_keep(cache, &key, want, len);
            }
        }

        if (n == 0) {
            (void) meet(key, &first);
        }
        gone += sym_answer_cache_text(cache, &first_key, &first) == NULL;
    }

    is_u64(wrong, 0, "each text found belongs to its key");
    ok(kept > 20000, "most were found the next time");
    ok(gone > 19000, "a reference to an evicted text says so");
}


int
main(void)
{
    cache = sym_answer_cache_create(1);

    if (ok(cache != NULL, "the smallest")) {
        one_text();
        empty_and_long();
        round_and_round();
        sym_answer_cache_free(cache);
    }

    sym_answer_cache_free(NULL);
    return done_testing();
}
