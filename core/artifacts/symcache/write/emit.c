#include "artifacts/symcache/write/emit.h"

#include <stdlib.h>

#include "base/relay.h"
#include "base/sort.h"
#include "artifacts/symcache/write/overlap.h"

/* A function whose draft is unpacked, and its nodes' places. */
typedef struct {
    sym_packed_functions_t draft;
    sym_node_place_t *places;
} unpacked_t;

/* The functions of a piece, in order; NULL: there was no memory for them. */
typedef struct {
    sym_arena_t arena;
    unpacked_t *functions;
} slot_t;

/* The last step, in order of address: functions are unpacked ahead, some
 * pieces at once, and written one after the other. */
typedef struct {
    sym_writer_t *w;
    sym_blocks_t blocks;
    sym_arena_t arena; /* of one cluster */
    size_t next_public;
    uint64_t covered;    /* up to here functions have the addresses */
    uint32_t covered_by; /* name of the last of them */

    size_t *pieces; /* of each its first function; then the end of the last */
    size_t n_pieces;
    slot_t slots[SYM_RELAY_SLOTS];
} emit_t;

/* A piece is so many functions, and what overlaps the last of them. */
#define PIECE_FUNCTIONS 64

/* By address, and as they stand in the file. */
static sym_status_t
sort_functions(sym_writer_t *w)
{
    size_t n = w->n_functions;
    sym_packed_function_t *sorted = malloc((n + 1) * sizeof(*sorted));
    sym_sort_item_t *items = malloc((n + 1) * sizeof(*items));
    bool is_sorted = false;

    if (sorted != NULL && items != NULL) {
        for (size_t i = 0; i < n; i++) {
            items[i] = (sym_sort_item_t){ w->functions[i].addr, (uint32_t) i };
        }

        is_sorted = sym_sort(items, n);
        for (size_t i = 0; is_sorted && i < n; i++) {
            sorted[i] = w->functions[items[i].at];
        }
    }

    free(items);
    if (!is_sorted) {
        free(sorted);
        return sym_writer_no_memory(w);
    }

    free(w->functions);
    w->functions = sorted;
    w->functions_size = n + 1;
    return SYM_OK;
}


static int
compare_publics(const void *a, const void *b)
{
    const sym_public_t *x = a, *y = b;

    if (x->addr != y->addr) {
        return x->addr < y->addr ? -1 : 1;
    }

    return x->order < y->order ? -1 : 1;
}


/* Symbol tables hand them over in order. */
static void
sort_publics(sym_writer_t *w)
{
    for (size_t i = 1; i < w->n_publics; i++) {
        if (w->publics[i - 1].addr > w->publics[i].addr) {
            qsort(w->publics, w->n_publics, sizeof(*w->publics),
                  compare_publics);
            return;
        }
    }
}


/* The first of equals stands. */
static void
drop_equal_publics(sym_writer_t *w)
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


static uint64_t
end_of(const sym_packed_function_t *f)
{
    return (uint64_t) f->addr + f->size;
}


/* What a public symbol names of [from, to). */
static sym_status_t
emit_public(emit_t *e, const sym_public_t *p, uint64_t from, uint64_t to)
{
    sym_segment_t s = { (uint32_t) from, 0, SYM_NO_STRING, 0 };
    sym_flat_node_t n = { 0, p->name, SYM_NO_STRING, 0 };
    sym_node_place_t place;
    sym_block_function_t f = {
        .addr = p->addr,
        .size = to > UINT32_MAX ? 0 : (uint32_t) (to - p->addr),
        .is_public = true,
        .nodes = &n,
        .n_nodes = 1,
        .segments = &s,
        .n_segments = 1,
    };

    sym_blocks_bases(&f, &place);
    if (sym_blocks_nodes(&e->blocks, &f, &place) != SYM_OK
        || sym_blocks_run(&e->blocks, &s, 1, to, &place) != SYM_OK)
    {
        return e->w->err->status;
    }

    return SYM_OK;
}


/* Where a symbol ends if no function comes before. */
static uint64_t
end_of_public(const sym_writer_t *w, const sym_public_t *p)
{
    const sym_public_t *next = p + 1;
    uint64_t end =
        next < w->publics + w->n_publics ? next->addr : (uint64_t) 1 << 32;

    return p->size != 0 && p->size < end - p->addr
               ? p->addr + (uint64_t) p->size
               : end;
}


/*
 * Whether the symbol also names the bytes after the functions that it covers.
 * The return address of a call that never returns can lie there.  If the
 * symbol's end is only the next symbol's beginning, other code may lie
 * between, so it continues only if it is the functions' own name.
 */
static bool
goes_on(const emit_t *e, const sym_public_t *p)
{
    return p->size != 0 && (!p->is_open || p->name == e->covered_by);
}


/* Public symbols of the hole [from, to): each reaches to its end, at most to
 * the next. */
static sym_status_t
emit_publics(emit_t *e, uint64_t from, uint64_t to)
{
    sym_writer_t *w = e->w;

    for (; e->next_public < w->n_publics; e->next_public++) {
        sym_public_t *p = &w->publics[e->next_public];
        uint64_t end = end_of_public(w, p);

        if (p->addr >= to) {
            break;
        }

        if (p->addr >= from || (from < to && end > from && goes_on(e, p))) {
            if (emit_public(e, p, p->addr > from ? p->addr : from,
                            end < to ? end : to)
                != SYM_OK)
            {
                return w->err->status;
            }
            p->is_told = true;
        }

        if (end > to) {
            break; /* the rest of it may be in the next hole */
        }

        w->counts[SYM_COUNT_DROPPED] += !p->is_told;
    }

    return SYM_OK;
}


static sym_block_function_t
block_function(const sym_packed_function_t *f,
               const sym_packed_functions_t *draft)
{
    return (sym_block_function_t){
        .addr = f->addr,
        .size = f->size,
        .lang = f->lang,
        .nodes = draft->nodes,
        .n_nodes = draft->n_nodes,
        .segments = draft->segments,
        .n_segments = draft->n_segments,
    };
}


static sym_status_t
write_nodes(emit_t *e, const sym_packed_function_t *f, const unpacked_t *u)
{
    sym_block_function_t bf = block_function(f, &u->draft);

    return sym_blocks_nodes(&e->blocks, &bf, u->places);
}


/* Segments that say the same as the one before them. */
static size_t
drop_repeats(sym_segment_t *s, size_t n)
{
    size_t kept = 0;

    /* without branches, since they would be unpredictable.  A place that is
     * overwritten gets an equal value, or is not read again. */
    for (size_t i = 0; i < n; i++) {
        const sym_segment_t *last = &s[i - (i != 0)];
        bool is_new = (last->node ^ s[i].node) | (last->file ^ s[i].file)
                      | (last->line ^ s[i].line);

        s[kept] = s[i];
        kept += is_new || i == 0;
    }

    return kept;
}


/* The first statement of the function that ends past addr. */
static uint32_t
statement_at(const sym_packed_function_t *f, uint64_t addr)
{
    uint32_t low = 0, high = f->n_statements;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const sym_statement_t *s = &f->statements[middle];

        if ((uint64_t) s->addr + s->size <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


/* What atos shows of the function's [from, to). */
static sym_status_t
emit_statements(emit_t *e, const sym_packed_function_t *f, uint64_t from,
                uint64_t to)
{
    const uint32_t *ids = e->w->parts[f->part].ids;

    for (uint32_t i = statement_at(f, from);
         i < f->n_statements && f->statements[i].addr < to; i++)
    {
        sym_statement_t s = f->statements[i];
        uint64_t end = (uint64_t) s.addr + s.size;

        s.addr = s.addr > from ? s.addr : (uint32_t) from;
        s.size = (uint32_t) ((end < to ? end : to) - s.addr);
        s.file = sym_packed_function_id(ids, s.file);
        sym_moves_apply(&e->w->moves, &s.file, &s.line);
        if (sym_blocks_statement(&e->blocks, &s) != SYM_OK) {
            return e->w->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
emit_single(emit_t *e, const sym_packed_function_t *f, const unpacked_t *u)
{
    if (write_nodes(e, f, u) != SYM_OK
        || sym_blocks_run(&e->blocks, u->draft.segments, u->draft.n_segments,
                          end_of(f), u->places)
               != SYM_OK)
    {
        return e->w->err->status;
    }

    return emit_statements(e, f, f->addr, end_of(f));
}


/* Writes the runs that sym_overlap_settle() found. */
static sym_status_t
emit_starts(emit_t *e, const sym_overlap_start_t *starts, size_t n,
            uint64_t end, const sym_overlap_function_t *functions,
            const sym_packed_function_t *drafts, const unpacked_t *unpacked)
{
    sym_segment_t *run = sym_arena_alloc(&e->arena, n * sizeof(*run));

    if (run == NULL) {
        return sym_writer_no_memory(e->w);
    }

    for (size_t i = 0, next; i < n; i = next) {
        uint32_t function = starts[i].function;
        size_t len = 0;
        uint64_t run_end;

        for (next = i; next < n && starts[next].function == function; next++) {
            if (function != SYM_NO_FUNCTION) {
                run[len] = functions[function].segments[starts[next].segment];
                run[len++].addr = starts[next].start;
            }
        }

        len = drop_repeats(run, len);
        run_end = next < n ? starts[next].start : end;
        if (len != 0
            && (sym_blocks_run(&e->blocks, run, len, run_end,
                               unpacked[function].places)
                    != SYM_OK
                || emit_statements(e, &drafts[function], run[0].addr, run_end)
                       != SYM_OK))
        {
            return e->w->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
emit_cluster(emit_t *e, const sym_packed_function_t *f, const unpacked_t *u,
             size_t n, uint64_t end)
{
    sym_overlap_function_t *overlap =
        sym_arena_alloc(&e->arena, n * sizeof(*overlap));
    sym_overlap_start_t *starts = NULL;
    size_t n_starts;

    if (overlap == NULL) {
        return sym_writer_no_memory(e->w);
    }

    for (size_t i = 0; i < n; i++) {
        if (write_nodes(e, &f[i], &u[i]) != SYM_OK) {
            return e->w->err->status;
        }
        overlap[i] = (sym_overlap_function_t){ f[i].addr, f[i].size, f[i].order,
                                               u[i].draft.segments,
                                               u[i].draft.n_segments };
    }

    if (sym_overlap_settle(overlap, n, &starts, &n_starts, e->w->err) == SYM_OK)
    {
        (void) emit_starts(e, starts, n_starts, end, overlap, f, u);
    }

    free(starts);
    return e->w->err->status;
}


static bool
is_twin(const sym_packed_function_t *a, const sym_packed_function_t *b)
{
    return a->is_settled && b->is_settled && a->addr == b->addr
           && a->size == b->size;
}


/* Does any of these n twins have lines of its own? */
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


/*
 * The same code given by more than one unit, as linkers leave it that fold or
 * merge functions: the first stands, or if twins are kept all that have lines of
 * their own.  Sorted by address and order.
 */
static void
drop_twins(sym_writer_t *w)
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


/* Those that overlap the one at i, and each other: up to which, and which
 * address. */
static size_t
end_of_cluster(const sym_writer_t *w, size_t i, uint64_t *end)
{
    *end = end_of(&w->functions[i]);

    for (i++; i < w->n_functions && w->functions[i].addr < *end; i++) {
        uint64_t other = end_of(&w->functions[i]);

        *end = other > *end ? other : *end;
    }

    return i;
}


static void
move_places(const sym_moves_t *moves, sym_packed_functions_t *f)
{
    for (size_t i = 0; i < f->n_nodes; i++) {
        sym_moves_apply(moves, &f->nodes[i].call_file, &f->nodes[i].call_line);
    }

    for (size_t i = 0; i < f->n_segments; i++) {
        sym_moves_apply(moves, &f->segments[i].file, &f->segments[i].line);
    }
}


static bool
unpack_function(const sym_writer_t *w, sym_arena_t *arena,
                const sym_packed_function_t *f, unpacked_t *u)
{
    sym_block_function_t bf;

    if (!sym_packed_function_unpack(arena, f, w->parts[f->part].ids, &u->draft))
    {
        return false;
    }

    if (w->moves.n != 0) {
        move_places(&w->moves, &u->draft);
    }

    u->places = sym_arena_alloc(arena, u->draft.n_nodes * sizeof(*u->places));
    if (u->places == NULL) {
        return false;
    }

    bf = block_function(f, &u->draft);
    sym_blocks_bases(&bf, u->places);
    return true;
}


static bool
unpack_piece(const sym_writer_t *w, sym_arena_t *arena, size_t begin,
             size_t end, unpacked_t *u)
{
    uint64_t covered;

    for (size_t i = begin, next; i < end; i = next) {
        unpacked_t *first = u;

        next = end_of_cluster(w, i, &covered);
        for (size_t k = i; k < next; k++) {
            if (!unpack_function(w, arena, &w->functions[k], u++)) {
                return false;
            }
        }

        if (next - i == 1) {
            first->draft.n_segments =
                drop_repeats(first->draft.segments, first->draft.n_segments);
        }
    }

    return true;
}


/* Of n that overlap the one that ends last. */
static const sym_packed_function_t *
last_of_cluster(const sym_packed_function_t *f, size_t n)
{
    const sym_packed_function_t *last = f;

    for (size_t i = 1; i < n; i++) {
        last = end_of(&f[i]) > end_of(last) ? &f[i] : last;
    }

    return last;
}


/* A sym_relay_t's first step. */
static void
make_piece(void *ctx, size_t piece, size_t at)
{
    emit_t *e = ctx;
    slot_t *slot = &e->slots[at];
    size_t begin = e->pieces[piece], end = e->pieces[piece + 1];

    sym_arena_reset(&slot->arena);
    slot->functions =
        sym_arena_alloc(&slot->arena, (end - begin) * sizeof(unpacked_t));

    if (slot->functions != NULL
        && !unpack_piece(e->w, &slot->arena, begin, end, slot->functions))
    {
        slot->functions = NULL;
    }
}


/* Its second. */
static bool
take_piece(void *ctx, size_t piece, size_t at)
{
    emit_t *e = ctx;
    sym_writer_t *w = e->w;
    size_t begin = e->pieces[piece];
    const unpacked_t *u = e->slots[at].functions;

    if (u == NULL) {
        (void) sym_writer_no_memory(w);
        return false;
    }

    for (size_t i = begin, next; i < e->pieces[piece + 1]; i = next) {
        const sym_packed_function_t *f = &w->functions[i];
        uint64_t end;

        next = end_of_cluster(w, i, &end);

        if (emit_publics(e, e->covered, f->addr) != SYM_OK
            || (next - i == 1
                    ? emit_single(e, f, &u[i - begin])
                    : emit_cluster(e, f, &u[i - begin], next - i, end))
                   != SYM_OK)
        {
            return false;
        }

        sym_arena_reset(&e->arena);
        e->covered = end;
        e->covered_by = last_of_cluster(f, next - i)->name;
    }

    return true;
}


static sym_status_t
cut_pieces(emit_t *e)
{
    const sym_writer_t *w = e->w;
    uint64_t ignored;

    e->pieces =
        malloc((w->n_functions / PIECE_FUNCTIONS + 2) * sizeof(*e->pieces));
    if (e->pieces == NULL) {
        return sym_writer_no_memory(e->w);
    }

    e->pieces[0] = 0;
    for (size_t i = 0; i < w->n_functions;) {
        i = end_of_cluster(w, i, &ignored);

        if (i - e->pieces[e->n_pieces] >= PIECE_FUNCTIONS
            || i == w->n_functions) {
            e->pieces[++e->n_pieces] = i;
        }
    }

    return SYM_OK;
}


static sym_status_t
emit_all(emit_t *e)
{
    sym_relay_t relay = { .ctx = e, .make = make_piece, .take = take_piece };

    if (cut_pieces(e) != SYM_OK) {
        return e->w->err->status;
    }

    relay.n_pieces = e->n_pieces;
    sym_relay_run(&relay, e->w->pool);

    return e->w->err->status == SYM_OK
               ? emit_publics(e, e->covered, (uint64_t) 1 << 32)
               : e->w->err->status;
}


static void
emit_free(emit_t *e)
{
    for (size_t i = 0; i < SYM_RELAY_SLOTS; i++) {
        sym_arena_drop(&e->slots[i].arena);
    }

    free(e->pieces);
    sym_arena_drop(&e->arena);
    sym_blocks_free(&e->blocks);
}


sym_status_t
sym_emit(sym_writer_t *w, sym_extents_t *extents, const uint32_t *refs,
         size_t n_strings, sym_header_t *header)
{
    emit_t e = { .w = w,
                 .blocks = { .err = w->err },
                 .covered_by = SYM_NO_STRING };
    sym_status_t status = sort_functions(w);

    if (status != SYM_OK) {
        return status;
    }
    drop_twins(w);
    sort_publics(w);
    drop_equal_publics(w);

    sym_arena_init(&e.arena, 0);
    for (size_t i = 0; i < SYM_RELAY_SLOTS; i++) {
        sym_arena_init(&e.slots[i].arena, 0);
    }

    status = sym_blocks_begin(&e.blocks, extents, refs, n_strings, w->err);
    status = status == SYM_OK ? emit_all(&e) : status;
    status = status == SYM_OK
                 ? sym_blocks_shown(&e.blocks, w->shown, w->n_shown)
                 : status;
    status = status == SYM_OK ? sym_blocks_end(&e.blocks, header) : status;

    emit_free(&e);
    return status;
}
