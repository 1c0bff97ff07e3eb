/*
 * member.h - values inside a JSON text that is read in place (raw.h).
 *
 * For long texts of our own programs, such as the report of an upload: they
 * need neither a tree nor much memory.  All views are of the text that is read.
 * Text that raw.h refuses has no members and no items.
 */
#ifndef SYM_JSON_MEMBER_H
#define SYM_JSON_MEMBER_H

#include "base/arena.h"
#include "base/str.h"

/* Returns the value of the first member with this key; data NULL: there is
 * none.  A list before it may be longer than SYM_RAW_BYTES_MAX. */
sym_str_t sym_json_member(sym_str_t object, const char *key);

/* A position in a list. */
typedef struct {
    const char *p, *end; /* p NULL: no item is left */
    char before;         /* what the next item follows: '[' or ',' */
} sym_json_items_t;

sym_json_items_t sym_json_items(sym_str_t list);

/* False: no item is left. */
bool sym_json_next(sym_json_items_t *items, sym_str_t *item);

/* Returns the text of a string; data NULL: it is no string, or there is no
 * memory for a text with escapes. */
sym_str_t sym_json_text(sym_arena_t *arena, sym_str_t value);

#endif
