#include "formats/minidump/minidump.h"

#include "base/sort.h"

/*
 * A dump may have millions of regions, which may overlap, and thousands of
 * threads.  So there is no table of regions.  One pass over the regions finds
 * the addresses, which are sorted.  Addresses that were found are skipped from
 * then on, so regions that overlap cost nothing.
 */

#define REGION_BYTES 16

typedef struct {
    const minidump_t *d;
    minidump_query_t *queries;
    const sym_sort_item_t *order; /* the queries sorted by address */
    uint32_t *next; /* union-find: leads to the first query at or after this
                       one that is not found; n: none */
    uint32_t n;
} search_t;


static uint32_t
first_missing(search_t *s, uint32_t i)
{
    while (s->next[i] != i) {
        s->next[i] = s->next[s->next[i]]; /* halves the path */
        i = s->next[i];
    }

    return i;
}


static void
offer(search_t *s, uint64_t addr, uint64_t size, uint64_t at)
{
    uint32_t i;

    if (size == 0 || size > UINT64_MAX - addr || at > s->d->data.len
        || size > s->d->data.len - at)
    {
        return;
    }

    i = (uint32_t) sym_sort_find(s->order, s->n, addr);

    while ((i = first_missing(s, i)) < s->n && s->order[i].key - addr < size) {
        s->queries[s->order[i].at].found =
            (sym_stack_memory_t){ addr, size, at };
        s->next[i] = i + 1;
    }
}


/* MINIDUMP_MEMORY64_LIST: the regions are adjacent in the file. */
static bool
offer_large(search_t *s)
{
    sym_error_t unused;
    sym_cursor_t c =
        minidump_cursor(s->d, s->d->streams[MINIDUMP_MEMORY64], &unused);
    uint64_t n = sym_u64(&c), at = sym_u64(&c);

    if (!sym_ok(&c) || n != sym_left(&c) / REGION_BYTES) {
        return false;
    }

    for (; n != 0; n--) {
        uint64_t addr = sym_u64(&c), size = sym_u64(&c);

        offer(s, addr, size, at);
        if (size > UINT64_MAX - at) {
            break;
        }
        at += size;
    }

    return true;
}


static void
offer_small(search_t *s)
{
    sym_error_t unused;
    sym_cursor_t c;
    uint32_t n =
        minidump_list(s->d, MINIDUMP_MEMORY, REGION_BYTES, &c, &unused);

    for (; n != 0; n--) {
        uint64_t addr = sym_u64(&c);
        minidump_place_t place = minidump_place(&c);

        offer(s, addr, place.size, place.at);
    }
}


sym_status_t
minidump_find_memory(minidump_t *d, minidump_query_t *queries, uint32_t n,
                     sym_error_t *err)
{
    sym_sort_item_t *order = sym_arena_calloc(&d->arena, n, sizeof(*order));
    uint32_t *next = sym_arena_calloc(&d->arena, n + 1, sizeof(*next));
    search_t s = { d, queries, order, next, n };

    if (order == NULL || next == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 0; i < n; i++) {
        order[i] = (sym_sort_item_t){ queries[i].addr, i };
    }
    for (uint32_t i = 0; i <= n; i++) {
        next[i] = i;
    }

    if (!sym_sort(order, n)) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (!offer_large(&s)) {
        offer_small(&s);
    }

    return SYM_OK;
}
