/*
 * text.h - a text that grows in an arena.
 *
 * A failed text ignores further writes; the writer checks once, at the end.
 */
#ifndef SYM_BASE_TEXT_H
#define SYM_BASE_TEXT_H

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    sym_arena_t *arena;
    char *data;
    size_t len, cap;
    bool failed; /* out of memory */
} sym_text_t;

void sym_text_add(sym_text_t *t, sym_str_t s);
void sym_text_byte(sym_text_t *t, char c);

/* What was written; lives as long as the arena.  Never with data NULL, unless
 * the text has failed. */
sym_str_t sym_text_end(sym_text_t *t);

#endif
