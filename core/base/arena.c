#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/pages.h"

/* Grows with the arena so that the number of malloc() calls stays small. */
#define CHUNK_MIN ((size_t) 32 * 1024) /* enough for a small request */
#define CHUNK_MAX ((size_t) 1 << 20)

/* Tables of this size share a chunk if large pages are used: pages that are
 * never written cost nothing. */
#define LARGE_MIN ((size_t) 1 << 20)
#define CHUNK_LARGE ((size_t) 32 << 20)

#define ALIGN alignof(max_align_t)

struct sym_arena_chunk_s {
    sym_arena_chunk_t *next;
    size_t size;
    alignas(max_align_t) uint8_t bytes[];
};


void
sym_arena_init(sym_arena_t *arena, size_t limit)
{
    *arena = (sym_arena_t){ .limit = limit };
}


void
sym_arena_drop(sym_arena_t *arena)
{
    sym_arena_chunk_t *chunk = arena->chunks;

    while (chunk != NULL) {
        sym_arena_chunk_t *next = chunk->next;

        free(chunk);
        chunk = next;
    }

    sym_account_give(arena->account, arena->taken);
    *arena = (sym_arena_t){ .limit = arena->limit,
                            .has_large_pages = arena->has_large_pages,
                            .account = arena->account };
}


void
sym_arena_reset(sym_arena_t *arena)
{
    sym_arena_chunk_t *keep = arena->chunks;

    if (keep == NULL) {
        return;
    }

    arena->chunks = keep->next;
    sym_arena_drop(arena);

    keep->next = NULL;
    arena->chunks = keep;
    arena->taken = sizeof(*keep) + keep->size;
    sym_account_add(arena->account, arena->taken);
    arena->pos = keep->bytes;
    arena->end = keep->bytes + keep->size;
}


static int
add_chunk(sym_arena_t *arena, size_t size)
{
    sym_arena_chunk_t *chunk;
    size_t room = SIZE_MAX, want = arena->taken / 2;

    if (arena->limit != 0) {
        room = arena->taken < arena->limit ? arena->limit - arena->taken : 0;
    }

    if (room < sizeof(*chunk) || size > room - sizeof(*chunk)) {
        arena->is_over = true;
        return -1;
    }
    room -= sizeof(*chunk);

    want = want < CHUNK_MIN ? CHUNK_MIN : want;
    want = want > CHUNK_MAX ? CHUNK_MAX : want;
    want = want > room ? room : want;
    want = want < size ? size : want;
    if (arena->has_large_pages && size >= LARGE_MIN && room > CHUNK_LARGE
        && want < CHUNK_LARGE)
    {
        want = CHUNK_LARGE;
    }

    if (!sym_account_charge(arena->account, sizeof(*chunk) + want)) {
        return -1;
    }

    chunk = arena->has_large_pages ? sym_pages_alloc(sizeof(*chunk) + want)
                                   : malloc(sizeof(*chunk) + want);
    if (chunk == NULL) {
        sym_account_give(arena->account, sizeof(*chunk) + want);
        return -1;
    }

    chunk->next = arena->chunks;
    chunk->size = want;
    arena->chunks = chunk;
    arena->taken += sizeof(*chunk) + want;
    arena->pos = chunk->bytes;
    arena->end = chunk->bytes + want;
    return 0;
}


void *
sym_arena_alloc(sym_arena_t *arena, size_t size)
{
    uint8_t *p;

    if (size > SIZE_MAX - ALIGN) {
        return NULL;
    }

    size = (size + ALIGN - 1) & ~(ALIGN - 1);

    if (size > (size_t) (arena->end - arena->pos) || arena->pos == NULL) {
        if (add_chunk(arena, size) != 0) {
            return NULL;
        }
    }

    p = arena->pos;
    arena->pos += size;
    return p;
}


void *
sym_arena_calloc(sym_arena_t *arena, size_t n, size_t size)
{
    void *p;

    if (size != 0 && n > SIZE_MAX / size) {
        return NULL;
    }

    p = sym_arena_alloc(arena, n * size);
    if (p != NULL) {
        memset(p, 0, n * size);
    }

    return p;
}


sym_str_t
sym_arena_copy(sym_arena_t *arena, sym_str_t s)
{
    char *p = sym_arena_alloc(arena, s.len);

    if (p == NULL) {
        return sym_str(NULL, 0);
    }

    if (s.len != 0) {
        memcpy(p, s.data, s.len);
    }

    return sym_str(p, s.len);
}
