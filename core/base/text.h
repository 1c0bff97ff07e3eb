/*
 * text.h - a string that grows in an arena.
 *
 * After a failure further writes are ignored; the writer checks once, at the
 * end.
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

/* The text written so far; it lives as long as the arena. data is NULL only
 * after a failure. */
sym_str_t sym_text_end(sym_text_t *t);

#endif
