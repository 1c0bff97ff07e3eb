/*
 * sort_records.c - sorts the records of a writer, and drops duplicates.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "artifacts/symcache/write/emit.h"

static bool
are_sorted(const uint8_t *things, size_t n, size_t size, size_t addr_at)
{
    const uint8_t *addr = things + addr_at;

    for (size_t i = 1; i < n; i++) {
        if (sym_load32(addr + (i - 1) * size) > sym_load32(addr + i * size)) {
            return false;
        }
    }

    return true;
}


/* Stable sort by address.  addr_at: offset of the address in an item.  False:
 * out of memory. */
static bool
sort_by_address(void **things, size_t *capacity, size_t n, size_t size,
                size_t addr_at)
{
    const uint8_t *from = *things;
    sym_sort_item_t *items;
    uint8_t *sorted;
    bool is_sorted = false;

    if (n < 2 || are_sorted(from, n, size, addr_at)) {
        return true;
    }

    sorted = malloc(n * size);
    items = malloc(n * sizeof(*items));
    if (sorted != NULL && items != NULL) {
        for (size_t i = 0; i < n; i++) {
            items[i] = (sym_sort_item_t){ sym_load32(from + i * size + addr_at),
                                          (uint32_t) i };
        }

        is_sorted = sym_sort(items, n);
        for (size_t i = 0; is_sorted && i < n; i++) {
            memcpy(sorted + i * size, from + items[i].at * size, size);
        }
    }

    free(items);
    if (!is_sorted) {
        free(sorted);
        return false;
    }

    free(*things);
    *things = sorted;
    *capacity = n;
    return true;
}


sym_status_t
sym_writer_sort_functions(sym_writer_t *w)
{
    return sort_by_address((void **) &w->functions, &w->functions_size,
                           w->n_functions, sizeof(*w->functions),
                           offsetof(sym_packed_function_t, addr))
               ? SYM_OK
               : sym_writer_no_memory(w);
}


sym_status_t
sym_writer_sort_publics(sym_writer_t *w)
{
    return sort_by_address((void **) &w->publics, &w->publics_size,
                           w->n_publics, sizeof(*w->publics),
                           offsetof(sym_public_t, addr))
               ? SYM_OK
               : sym_writer_no_memory(w);
}


void
sym_writer_drop_equal_publics(sym_writer_t *w)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n_publics; i++) {
        if (kept == 0 || w->publics[kept - 1].addr != w->publics[i].addr) {
            w->publics[kept++] = w->publics[i];
        }
    }

    w->counts[SYM_COUNT_DROPPED] += w->n_publics - kept;
    w->n_publics = kept;
}


static bool
is_twin(const sym_packed_function_t *a, const sym_packed_function_t *b)
{
    return a->is_settled && b->is_settled && a->addr == b->addr
           && a->size == b->size;
}


/* Whether one of these n twins has its own lines. */
static bool
has_own_lines(const sym_packed_function_t *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!f[i].is_generated) {
            return true;
        }
    }

    return false;
}


void
sym_writer_drop_twins(sym_writer_t *w)
{
    sym_packed_function_t *f = w->functions;
    size_t kept = 0;

    for (size_t i = 0, next; i < w->n_functions; i = next) {
        for (next = i + 1; next < w->n_functions && is_twin(&f[i], &f[next]);) {
            next++;
        }

        if (!w->keeps_twins || !has_own_lines(&f[i], next - i)) {
            f[kept++] = f[i];
            continue;
        }

        for (size_t k = i; k < next; k++) {
            if (!f[k].is_generated) {
                f[kept++] = f[k];
            }
        }
    }

    w->counts[SYM_COUNT_DROPPED] += w->n_functions - kept;
    w->n_functions = kept;
}
