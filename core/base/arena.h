/*
 * arena.h - memory for one piece of work, dropped whole at its end.
 *
 * sym_arena_alloc() bumps a pointer; nothing is freed singly.  `limit` caps the
 * bytes asked from malloc(), so that work on hostile input ends in SYM_NOMEM
 * rather than in the out-of-memory killer.  Not shared between threads.
 */
#ifndef SYM_BASE_ARENA_H
#define SYM_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/account.h"
#include "base/str.h"

typedef struct sym_arena_chunk_s sym_arena_chunk_t;

typedef struct {
    sym_arena_chunk_t *chunks; /* newest first */
    uint8_t *pos, *end;        /* free bytes of the newest chunk */
    size_t taken;              /* bytes got from malloc() so far */
    size_t limit;              /* most that may be taken; 0: no limit */
    bool is_over;              /* something did not fit the limit */
    bool has_large_pages;      /* requested where they fit: pages.h */
    sym_account_t *account;    /* account that is charged, or NULL */
} sym_arena_t;

void sym_arena_init(sym_arena_t *arena, size_t limit);

/* Gives everything back to malloc(); the arena may be used again. */
void sym_arena_drop(sym_arena_t *arena);

/* Forgets every allocation but keeps the newest chunk for the next use. */
void sym_arena_reset(sym_arena_t *arena);

/* Forgets what was allocated since the copy *mark, if it is in the same chunk. */
static inline void
sym_arena_rewind(sym_arena_t *arena, const sym_arena_t *mark)
{
    if (arena->chunks == mark->chunks) {
        arena->pos = mark->pos;
    }
}

/* size bytes aligned for any object, or NULL: out of memory, over the limit, or
 * refused by the account. */
void *sym_arena_alloc(sym_arena_t *arena, size_t size);

/* n items of size bytes each, zeroed; NULL also when n * size overflows. */
void *sym_arena_calloc(sym_arena_t *arena, size_t n, size_t size);

/* A copy that lives as long as the arena; data is NULL when out of memory. */
sym_str_t sym_arena_copy(sym_arena_t *arena, sym_str_t s);

#endif
