/*
 * arena.h - memory for one piece of work, freed as a whole at its end.
 *
 * sym_arena_alloc() bumps a pointer; single allocations are never freed.
 * `limit` caps the bytes taken from malloc().  Work on hostile input thus ends
 * with SYM_NOMEM and does not wake the out-of-memory killer.  Not shared
 * between threads.
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
    size_t taken;              /* bytes taken from malloc() so far */
    size_t limit;              /* maximum of `taken`; 0: no limit */
    bool is_over;              /* an allocation exceeded the limit */
    bool has_large_pages;      /* large pages are used for chunks that can
                                  contain one (pages.h) */
    sym_account_t *account;    /* the account to charge, or NULL */
} sym_arena_t;

void sym_arena_init(sym_arena_t *arena, size_t limit);

/* Returns all memory to malloc(); the arena may be used again. */
void sym_arena_drop(sym_arena_t *arena);

/* Drops all allocations, but keeps the newest chunk for the next use. */
void sym_arena_reset(sym_arena_t *arena);

/* Drops what was allocated since the copy *mark was made, if it is in the same
 * chunk. */
static inline void
sym_arena_rewind(sym_arena_t *arena, const sym_arena_t *mark)
{
    if (arena->chunks == mark->chunks) {
        arena->pos = mark->pos;
    }
}

/* Allocates size bytes aligned for any object.  NULL: out of memory, over the
 * limit, or refused by the account. */
void *sym_arena_alloc(sym_arena_t *arena, size_t size);

/* Allocates n zeroed items of size bytes each.  NULL also if n * size
 * overflows. */
void *sym_arena_calloc(sym_arena_t *arena, size_t n, size_t size);

/* Returns a copy that lives as long as the arena; data is NULL if there is no
 * memory. */
sym_str_t sym_arena_copy(sym_arena_t *arena, sym_str_t s);

#endif
