#include "symbolicate/cache/strings.h"

#define SLOTS_MIN 64

/* In a few texts none is met three times. */
#define TEXTS_MIN 32

#define SLOTS_MAX 4096
#define BYTES_PER_TEXT 64

/* Longer ones are rare, and unpacking them costs little more than copying. */
#define TEXT_MAX 1024

/* Of a memo that remembers nothing. */
static const sym_string_cache_t nothing = { 0 };


void
sym_string_cache_init(sym_string_cache_t *memo, sym_arena_t *arena, uint64_t n)
{
    uint32_t slots = SLOTS_MIN;
    size_t bytes;

    *memo = nothing;
    if (n < TEXTS_MIN) {
        return;
    }

    while (slots < n && slots < SLOTS_MAX) {
        slots *= 2;
    }

    bytes = (size_t) slots * BYTES_PER_TEXT;
    memo->slots = sym_arena_calloc(arena, slots, sizeof(*memo->slots));
    memo->pos = sym_arena_alloc(arena, bytes + SYM_MEMO_BLOCK);
    memo->mask = slots - 1;

    if (memo->slots == NULL || memo->pos == NULL) {
        *memo = nothing;
        return;
    }

    memo->end = memo->pos + bytes;
}


void
sym_string_cache_keep(sym_string_cache_t *memo, sym_string_cache_slot_t *slot,
                      const char *text, size_t len)
{
    if (len > TEXT_MAX || len > (size_t) (memo->end - memo->pos)) {
        return;
    }

    memcpy(memo->pos, text, len);
    slot->text = memo->pos;
    slot->len = (uint32_t) len;
    memo->pos += len;
}
