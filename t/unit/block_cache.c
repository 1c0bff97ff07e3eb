/*
 * The block cache: what was put is found until others take its place, and no other
 * block is.
 */
#include "symbolicate/cache/blocks.h"

#include <string.h>

#include "tap.h"

static void
put(sym_block_cache_t *cache, uint64_t artifact, uint32_t number)
{
    char text[32];
    int len =
        snprintf(text, sizeof(text), "%u of %u", number, (unsigned) artifact);

    sym_block_cache_put(cache, artifact, number, sym_str(text, (size_t) len));
}


static bool
has(sym_block_cache_t *cache, uint64_t artifact, uint32_t number)
{
    char text[32];
    int len =
        snprintf(text, sizeof(text), "%u of %u", number, (unsigned) artifact);
    sym_str_t bytes;

    return sym_block_cache_find(cache, artifact, number, &bytes)
           && sym_str_eq(bytes, sym_str(text, (size_t) len));
}


int
main(void)
{
    static const char large[SYM_BLOCK_CACHE_BLOCK + 1];
    sym_block_cache_t *cache = sym_block_cache_create();
    unsigned n = 0, wrong = 0;
    sym_str_t bytes;

    ok(!has(cache, 1, 0), "nothing is there at first");
    put(cache, 1, 0);
    put(cache, 2, 0);
    ok(has(cache, 1, 0) && has(cache, 2, 0) && !has(cache, 1, 1),
       "blocks of two artifacts");

    for (uint32_t i = 0; i < 10000; i++) {
        put(cache, 3, i);
        n += has(cache, 3, i);
        (void) has(cache, 1, 0); /* in use */
    }

    ok(n == 10000, "the last block is always there");
    ok(has(cache, 1, 0), "one in use stays");
    for (uint32_t i = 0; i < 10000; i++) {
        wrong += sym_block_cache_find(cache, 3, i, &bytes) && !has(cache, 3, i);
    }
    ok(wrong == 0, "no block is taken for another");

    sym_block_cache_put(cache, 4, 0, sym_str(large, sizeof(large)));
    ok(!sym_block_cache_find(cache, 4, 0, &bytes), "one that is too large");
    sym_block_cache_put(cache, 5, 0, SYM_STR(""));
    ok(sym_block_cache_find(cache, 5, 0, &bytes) && bytes.len == 0,
       "an empty one");

    sym_block_cache_free(cache);
    return done_testing();
}
