/*
 * symbols.c - combines the symbols of a file and determines their ends.
 *
 * Neither symbol table contains the sizes of functions.  The exception table
 * contains them, except for leaf functions, which do not change the stack
 * pointer.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "formats/pe/candidates.h"
#include "formats/pe/functions.h"
#include "formats/pe/thunk.h"

typedef struct {
    sym_pe_t *pe;
    sym_pe_candidates_t list;
    sym_pe_functions_t functions;
    sym_sort_item_t *sorted; /* items of the list sorted by address;
                                allocated */
    size_t n;                /* the best candidates, each address once */
} work_t;


sym_status_t
sym_pe_candidate_add(sym_pe_candidates_t *list,
                     const sym_pe_candidate_t *candidate, sym_error_t *err)
{
    if (list->n == list->cap) {
        size_t cap = list->cap == 0 ? 1024 : 2 * list->cap;
        sym_pe_candidate_t *grown = realloc(list->items, cap * sizeof(*grown));

        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, "no memory for symbols");
        }

        list->items = grown;
        list->cap = cap;
    }

    list->items[list->n++] = *candidate;
    return SYM_OK;
}


static const sym_pe_candidate_t *
candidate(const work_t *w, size_t i)
{
    return &w->list.items[w->sorted[i].at];
}


/* Keeps the best candidate of each address.  The last of equal ones wins, as in
 * llvm-symbolizer. */
static void
keep_best(work_t *w)
{
    w->n = 0;
    for (size_t i = 0; i < w->list.n; i++) {
        if (w->n == 0 || w->sorted[w->n - 1].key != w->sorted[i].key) {
            w->sorted[w->n++] = w->sorted[i];
        } else if (candidate(w, i)->rank >= candidate(w, w->n - 1)->rank) {
            w->sorted[w->n - 1] = w->sorted[i];
        }
    }
}


static sym_status_t
sort(work_t *w, sym_error_t *err)
{
    free(w->sorted);
    w->sorted = malloc((w->list.n + 1) * sizeof(*w->sorted));

    for (size_t i = 0; w->sorted != NULL && i < w->list.n; i++) {
        w->sorted[i] = (sym_sort_item_t){ w->list.items[i].rva, (uint32_t) i };
    }

    if (w->sorted == NULL || !sym_sort(w->sorted, w->list.n)) {
        return sym_fail(err, SYM_NOMEM, "no memory for symbols");
    }

    keep_best(w);
    return SYM_OK;
}


/* The index of the first candidate at or above an address. */
static size_t
first_from(const work_t *w, uint32_t rva)
{
    size_t low = 0, high = w->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->sorted[middle].key < rva) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


/* True if a part immediately follows another part of the same function. */
static bool
goes_on(const sym_pe_functions_t *f, size_t i)
{
    return i != 0 && f->items[i - 1].end == f->items[i].begin
           && f->items[i - 1].root == f->items[i].root;
}


/* Adds the parts that the compiler moved away from their functions, under the
 * names of these functions. */
static sym_status_t
add_fragments(work_t *w, sym_error_t *err)
{
    size_t n_before = w->list.n;

    for (size_t i = 0; i < w->functions.n; i++) {
        const sym_pe_function_t *f = &w->functions.items[i];
        sym_pe_candidate_t c = { .rva = f->begin, .rank = SYM_PE_FRAGMENT };
        size_t at;

        if (f->root == f->begin || goes_on(&w->functions, i)) {
            continue;
        }

        at = first_from(w, f->root);
        if (at < w->n && w->sorted[at].key == f->root) {
            c.name = candidate(w, at)->name;
        }

        if (c.name.len != 0
            && sym_pe_candidate_add(&w->list, &c, err) != SYM_OK) {
            return err->status;
        }
    }

    return w->list.n == n_before ? SYM_OK : sort(w, err);
}


/* The end of the function that covers an address, including parts that directly
 * follow it; 0: no function covers it.  *next: start of the next function. */
static uint32_t
function_end(const sym_pe_functions_t *f, uint32_t rva, uint64_t *next)
{
    const sym_pe_function_t *at = sym_pe_function_before(f, rva);
    size_t i = at != NULL ? (size_t) (at - f->items) : 0;

    if (at == NULL || rva >= at->end) {
        i += at != NULL;
        *next = i < f->n ? f->items[i].begin : UINT64_MAX;
        return 0;
    }

    while (i + 1 < f->n && goes_on(f, i + 1)) {
        i++;
    }

    return f->items[i].end;
}


static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}


static void
set_size(const work_t *w, size_t i, sym_pe_symbol_t *symbol)
{
    const sym_pe_section_t *s = sym_pe_section_at(w->pe, symbol->rva);
    uint64_t limit =
        s == NULL ? (uint64_t) symbol->rva + 1 : (uint64_t) s->rva + s->size;
    uint64_t next = UINT64_MAX;
    uint64_t end = function_end(&w->functions, symbol->rva, &next);

    limit = smaller(limit, i + 1 < w->n ? w->sorted[i + 1].key : UINT32_MAX);

    if (end == 0) {
        uint32_t thunk =
            sym_pe_thunk(w->pe->info.machine, sym_pe_at(w->pe, symbol->rva));

        symbol->is_open = thunk == 0;
        limit = smaller(limit, next);
        end = thunk != 0 ? (uint64_t) symbol->rva + thunk : UINT32_MAX;
    }

    symbol->size = (uint32_t) (smaller(limit, end) - symbol->rva);
}


static sym_status_t
hand_out(work_t *w, sym_pe_symbol_pt each, void *ctx, sym_error_t *err)
{
    for (size_t i = 0; i < w->n; i++) {
        const sym_pe_candidate_t *c = candidate(w, i);
        sym_pe_symbol_t symbol = { .rva = c->rva, .name = c->name };

        if (c->name.len != 0) {
            set_size(w, i, &symbol);
        }

        if (symbol.size != 0 && each(ctx, &symbol, err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_pe_symbols(sym_pe_t *pe, const sym_pe_t *debug, sym_pe_symbol_pt each,
               void *ctx, sym_error_t *err)
{
    work_t w = { .pe = pe };

    if (sym_pe_functions(pe, &w.functions, err) == SYM_OK
        && sym_pe_read_exports(pe, &w.list, err) == SYM_OK
        && sym_pe_read_symtab(debug != NULL ? debug : pe, &w.list, err)
               == SYM_OK
        && sort(&w, err) == SYM_OK && add_fragments(&w, err) == SYM_OK)
    {
        (void) hand_out(&w, each, ctx, err);
    }

    free(w.sorted);
    free(w.list.items);
    return err->status;
}
