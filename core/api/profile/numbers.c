#include "api/profile/profile.h"

/*
 * Numbers of texts and functions that were written, by their references: the same
 * function of many locations is written once.
 */

#define SLOTS_MIN 256

static profile_slot_t *
find(const profile_numbers_t *n, uint32_t need, uint32_t name, uint32_t file)
{
    const uint32_t words[] = { need, name, file };
    size_t at = (size_t) sym_hash(&n->key,
                                  sym_str((const char *) words, sizeof(words)));

    for (;; at++) {
        profile_slot_t *slot = &n->slots[at & (n->size - 1)];

        if (!slot->is_used
            || (slot->need == need && slot->name == name && slot->file == file))
        {
            return slot;
        }
    }
}


/* Doubles the table; the old one stays in the arena, so all of them together are
 * twice the last one. */
static bool
grow(sym_arena_t *arena, profile_numbers_t *n)
{
    profile_numbers_t grown = { .size = n->size != 0 ? 2 * n->size : SLOTS_MIN,
                                .n = n->n,
                                .key = n->key };

    grown.slots = sym_arena_calloc(arena, grown.size, sizeof(*grown.slots));
    if (grown.slots == NULL) {
        return false;
    }

    for (size_t i = 0; i < n->size; i++) {
        const profile_slot_t *slot = &n->slots[i];

        if (slot->is_used) {
            *find(&grown, slot->need, slot->name, slot->file) = *slot;
        }
    }

    *n = grown;
    return true;
}


profile_slot_t *
profile_slot(sym_arena_t *arena, profile_numbers_t *numbers, uint32_t need,
             uint32_t name, uint32_t file)
{
    profile_slot_t *slot;

    if (numbers->slots == NULL) {
        numbers->key = sym_hash_key();
    }

    if (2 * numbers->n >= numbers->size && !grow(arena, numbers)) {
        return NULL;
    }

    slot = find(numbers, need, name, file);
    if (!slot->is_used) {
        *slot = (profile_slot_t){ need, name, file, 1, 0 };
        numbers->n++;
    }

    return slot;
}
