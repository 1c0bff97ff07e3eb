/*
 * text.h - a text that grows in an arena.  Private to this room.
 *
 * A failed text takes nothing more; whoever writes asks once, at the end.
 */
#ifndef SYM_SOURCES_AWS_TEXT_H
#define SYM_SOURCES_AWS_TEXT_H

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    sym_arena_t *arena;
    char *data;
    size_t len, cap;
    bool failed; /* out of memory */
} text_t;

void text_add(text_t *t, sym_str_t s);
void text_byte(text_t *t, char c);

/* What was written; lives as long as the arena.  Never with data NULL, unless
 * the text has failed. */
sym_str_t text_end(text_t *t);

#endif
