#include "symbolicate/cache/strings.h"

#define SLOTS_MIN 64

/* With fewer texts than this, it is unlikely that one is seen three times. */
#define TEXTS_MIN 32

#define SLOTS_MAX 4096
#define BYTES_PER_TEXT 64

/* Longer texts are not cached: they are rare, and unpacking them costs little
 * more than copying. */
#define TEXT_MAX 1024

/* A cache that keeps nothing has this value. */
static const sym_string_cache_t nothing = { 0 };


void
sym_string_cache_init(sym_string_cache_t *cache, sym_arena_t *arena, uint64_t n)
{
    uint32_t slots = SLOTS_MIN;
    size_t bytes;

    *cache = nothing;
    if (n < TEXTS_MIN) {
        return;
    }

    while (slots < n && slots < SLOTS_MAX) {
        slots *= 2;
    }

    bytes = (size_t) slots * BYTES_PER_TEXT;
    cache->slots = sym_arena_calloc(arena, slots, sizeof(*cache->slots));
    cache->pos = sym_arena_alloc(arena, bytes + SYM_STRING_CACHE_BLOCK);
    cache->mask = slots - 1;

    if (cache->slots == NULL || cache->pos == NULL) {
        *cache = nothing;
        return;
    }

    cache->end = cache->pos + bytes;
}


void
sym_string_cache_keep(sym_string_cache_t *cache, sym_string_cache_slot_t *slot,
                      const char *text, size_t len)
{
    if (len > TEXT_MAX || len > (size_t) (cache->end - cache->pos)) {
        return;
    }

    memcpy(cache->pos, text, len);
    slot->text = cache->pos;
    slot->len = (uint32_t) len;
    cache->pos += len;
}
