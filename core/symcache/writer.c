#include "symcache/writer.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/relay.h"
#include "base/sort.h"
#include "symcache/blocks.h"
#include "symcache/overlap.h"
#include "symcache/part.h"
#include "symcache/strings.h"

_Static_assert(sizeof(sym_header_t) == 192, "docs/symcache.md says 192");

/* A part that was joined: the drafts of its functions, and what its strings are
 * called here.  The first is the writer's own, whose strings are called so. */
typedef struct {
    sym_arena_t drafts;
    uint32_t *ids; /* NULL: as they are */
} joined_t;

typedef struct {
    uint32_t addr;
    uint32_t size; /* 0: up to the next */
    uint32_t name;
    uint32_t order;
    bool is_told;
} public_t;

struct sym_writer_s {
    sym_error_t *err;
    sym_strings_t strings;
    sym_flatten_t flatten;

    joined_t *parts;
    size_t n_parts, parts_size;
    sym_buffer_t scratch;
    sym_draft_function_t *functions;
    size_t n_functions, functions_size;
    public_t *publics;
    size_t n_publics, publics_size;

    uint64_t counts[SYM_COUNTS];
    bool has_lines, has_inlines;
    const sym_crew_t *crew;
};

/* A function whose draft is unpacked, and its nodes' places. */
typedef struct {
    sym_draft_t draft;
    sym_node_place_t *places;
} unpacked_t;

/* The functions of a piece, in order; NULL: there was no memory for them. */
typedef struct {
    sym_arena_t arena;
    unpacked_t *functions;
} slot_t;

/* The last step, in order of address: functions are unpacked ahead, some pieces
 * at once, and written one after the other. */
typedef struct {
    sym_writer_t *w;
    sym_blocks_t blocks;
    sym_arena_t arena; /* of one cluster */
    size_t next_public;
    uint64_t covered; /* up to here functions have the addresses */

    size_t *pieces; /* of each its first function; then the end of the last */
    size_t n_pieces;
    slot_t slots[SYM_RELAY_SLOTS];
} emit_t;

/* A piece is so many functions, and what overlaps the last of them. */
#define PIECE_FUNCTIONS 64

static sym_status_t
out_of_memory(sym_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, "no memory for the module's symbols");
}


/* NULL when out of memory. */
static joined_t *
add_part(sym_writer_t *w)
{
    joined_t *parts = sym_array_grow(w->parts, &w->parts_size, w->n_parts + 1,
                                     sizeof(*parts));

    if (parts == NULL) {
        (void) out_of_memory(w);
        return NULL;
    }

    w->parts = parts;
    parts += w->n_parts++;
    parts->ids = NULL;
    sym_arena_init(&parts->drafts, 0);
    return parts;
}


sym_writer_t *
sym_writer_create(sym_error_t *err)
{
    sym_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a symcache writer");
        return NULL;
    }

    w->err = err;
    sym_strings_init(&w->strings, err);
    sym_flatten_init(&w->flatten, err);

    if (add_part(w) == NULL) {
        sym_writer_free(w);
        return NULL;
    }

    return w;
}


void
sym_writer_lend(sym_writer_t *w, const sym_crew_t *crew)
{
    w->crew = crew;
}


void
sym_writer_free(sym_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_strings_free(&w->strings);
    sym_flatten_free(&w->flatten);
    for (size_t i = 0; i < w->n_parts; i++) {
        sym_arena_drop(&w->parts[i].drafts);
        free(w->parts[i].ids);
    }
    free(w->parts);
    sym_buffer_free(&w->scratch);
    free(w->functions);
    free(w->publics);
    free(w);
}


sym_status_t
sym_writer_string(sym_writer_t *w, sym_str_t text, uint32_t *id)
{
    return sym_strings_add(&w->strings, text, id);
}


uint32_t
sym_writer_expect(const sym_writer_t *w, sym_str_t text)
{
    uint32_t hash = (uint32_t) sym_hash(0, text);

    sym_strings_expect(&w->strings, hash);
    return hash;
}


sym_status_t
sym_writer_expected(sym_writer_t *w, sym_str_t text, uint32_t hash,
                    uint32_t *id)
{
    return sym_strings_add_hashed(&w->strings, text, hash, id);
}


sym_status_t
sym_writer_reserve(sym_writer_t *w, uint32_t *id)
{
    return sym_strings_reserve(&w->strings, id);
}


sym_status_t
sym_writer_define(sym_writer_t *w, uint32_t id, sym_str_t text)
{
    return sym_strings_define(&w->strings, id, text);
}


/* False: out of memory. */
static bool
room_for_functions(sym_writer_t *w, size_t n)
{
    sym_draft_function_t *functions =
        sym_array_grow(w->functions, &w->functions_size, w->n_functions + n,
                       sizeof(*functions));

    if (functions == NULL) {
        return false;
    }

    w->functions = functions;
    return true;
}


sym_status_t
sym_writer_function(sym_writer_t *w, const sym_function_t *f)
{
    const sym_flatten_t *flat = &w->flatten;
    const uint8_t *draft;

    w->counts[SYM_COUNT_FUNCTIONS]++;
    w->counts[SYM_COUNT_LINES] += f->n_lines;
    w->counts[SYM_COUNT_INLINES] += f->n_inlines;

    if (sym_flatten(&w->flatten, f) != SYM_OK) {
        return w->err->status;
    }

    draft = sym_draft_pack(
        &w->parts[0].drafts, &w->scratch,
        &(sym_flat_function_t){ .nodes = flat->nodes,
                                .n_nodes = flat->n_nodes,
                                .segments = flat->segments,
                                .n_segments = flat->n_segments });
    if (draft == NULL || !room_for_functions(w, 1)) {
        return out_of_memory(w);
    }

    for (size_t i = 0; !w->has_lines && i < flat->n_segments; i++) {
        w->has_lines = flat->segments[i].line != 0;
    }
    w->has_inlines = w->has_inlines || flat->n_nodes > 1;

    w->functions[w->n_functions] = (sym_draft_function_t){
        .draft = draft,
        .addr = f->addr,
        .size = f->size,
        .name = f->name,
        .order = (uint32_t) w->n_functions,
        .lang = f->lang,
    };
    w->n_functions++;
    return SYM_OK;
}


/* --- parts --- */

/* How far ahead of a part's texts their places are fetched. */
#define TEXTS_AHEAD 8

static sym_status_t
join_strings(sym_writer_t *w, const sym_part_t *part, uint32_t *ids)
{
    for (size_t i = 0; i < part->n_texts; i++) {
        const sym_part_text_t *t = &part->texts[i];

        if (part->n_texts - i > TEXTS_AHEAD) {
            sym_strings_expect(&w->strings, t[TEXTS_AHEAD].hash);
        }

        if (sym_strings_add_hashed(&w->strings, t->text, t->hash, &ids[i])
            != SYM_OK) {
            return w->err->status;
        }
    }

    return SYM_OK;
}


static void
join_functions(sym_writer_t *w, const sym_part_t *part, const uint32_t *ids)
{
    for (size_t i = 0; i < part->n_functions; i++) {
        sym_draft_function_t *f = &w->functions[w->n_functions];

        *f = part->functions[i];
        f->name = f->name == SYM_NO_STRING ? f->name : ids[f->name];
        f->order = (uint32_t) w->n_functions++;
        f->part = (uint32_t) w->n_parts - 1;
        f->is_settled = true;
    }
}


sym_status_t
sym_writer_join(sym_writer_t *w, sym_part_t *part)
{
    joined_t *joined = add_part(w);

    if (joined == NULL) {
        return w->err->status;
    }

    joined->drafts = part->drafts; /* they stay where they are */
    sym_arena_init(&part->drafts, 0);

    joined->ids = malloc((part->n_texts + 1) * sizeof(*joined->ids));
    if (joined->ids == NULL || !room_for_functions(w, part->n_functions)) {
        return out_of_memory(w);
    }

    if (join_strings(w, part, joined->ids) != SYM_OK) {
        return w->err->status;
    }

    join_functions(w, part, joined->ids);
    w->counts[SYM_COUNT_FUNCTIONS] += part->n_functions;
    w->counts[SYM_COUNT_LINES] += part->n_segments;
    w->counts[SYM_COUNT_INLINES] += part->n_inlines;
    w->has_lines = w->has_lines || part->has_lines;
    w->has_inlines = w->has_inlines || part->n_inlines != 0;
    sym_part_free(part);
    return SYM_OK;
}


sym_status_t
sym_writer_public(sym_writer_t *w, uint32_t addr, uint32_t name)
{
    return sym_writer_symbol(w, addr, 0, name);
}


sym_status_t
sym_writer_symbol(sym_writer_t *w, uint32_t addr, uint64_t size, uint32_t name)
{
    public_t *publics = sym_array_grow(w->publics, &w->publics_size,
                                       w->n_publics + 1, sizeof(*publics));

    if (publics == NULL) {
        return out_of_memory(w);
    }

    w->counts[SYM_COUNT_PUBLICS]++;
    w->publics = publics;
    w->publics[w->n_publics] =
        (public_t){ .addr = addr,
                    .size = size <= UINT32_MAX ? (uint32_t) size : 0,
                    .name = name,
                    .order = (uint32_t) w->n_publics };
    w->n_publics++;
    return SYM_OK;
}


/* --- the last step --- */

/* By address, and as they stand in the file. */
static sym_status_t
sort_functions(sym_writer_t *w)
{
    size_t n = w->n_functions;
    sym_draft_function_t *sorted = malloc((n + 1) * sizeof(*sorted));
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
        return out_of_memory(w);
    }

    free(w->functions);
    w->functions = sorted;
    w->functions_size = n + 1;
    return SYM_OK;
}


static int
compare_publics(const void *a, const void *b)
{
    const public_t *x = a, *y = b;

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
end_of(const sym_draft_function_t *f)
{
    return (uint64_t) f->addr + f->size;
}


/* What a public symbol names of [from, to). */
static sym_status_t
emit_public(emit_t *e, const public_t *p, uint64_t from, uint64_t to)
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
end_of_public(const sym_writer_t *w, const public_t *p)
{
    const public_t *next = p + 1;
    uint64_t end =
        next < w->publics + w->n_publics ? next->addr : (uint64_t) 1 << 32;

    return p->size != 0 && p->size < end - p->addr
               ? p->addr + (uint64_t) p->size
               : end;
}


/*
 * Public symbols of the hole [from, to): each reaches to its end, at most to
 * the next.  One of known size goes on behind the functions that it is cut by:
 * where these end sooner, a call that never returns has its return address.
 */
static sym_status_t
emit_publics(emit_t *e, uint64_t from, uint64_t to)
{
    sym_writer_t *w = e->w;

    for (; e->next_public < w->n_publics; e->next_public++) {
        public_t *p = &w->publics[e->next_public];
        uint64_t end = end_of_public(w, p);

        if (p->addr >= to) {
            break;
        }

        if (p->addr >= from || (p->size != 0 && end > from)) {
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
block_function(const sym_draft_function_t *f, const sym_draft_t *draft)
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
write_nodes(emit_t *e, const sym_draft_function_t *f, const unpacked_t *u)
{
    sym_block_function_t bf = block_function(f, &u->draft);

    return sym_blocks_nodes(&e->blocks, &bf, u->places);
}


/* Segments that say the same as the one before them. */
static size_t
drop_repeats(sym_segment_t *s, size_t n)
{
    size_t kept = 0;

    /* without a branch: nothing foretells them.  What a place is overwritten
     * with says the same as what stood there, or it is not read again. */
    for (size_t i = 0; i < n; i++) {
        const sym_segment_t *last = &s[i - (i != 0)];
        bool is_new = (last->node ^ s[i].node) | (last->file ^ s[i].file)
                      | (last->line ^ s[i].line);

        s[kept] = s[i];
        kept += is_new || i == 0;
    }

    return kept;
}


static sym_status_t
emit_single(emit_t *e, const sym_draft_function_t *f, const unpacked_t *u)
{
    return write_nodes(e, f, u) == SYM_OK
               ? sym_blocks_run(&e->blocks, u->draft.segments,
                                u->draft.n_segments, end_of(f), u->places)
               : e->w->err->status;
}


/* Writes the runs that sym_overlap_settle() found. */
static sym_status_t
emit_starts(emit_t *e, const sym_overlap_start_t *starts, size_t n,
            uint64_t end, const sym_overlap_function_t *functions,
            const unpacked_t *unpacked)
{
    sym_segment_t *run = sym_arena_alloc(&e->arena, n * sizeof(*run));

    if (run == NULL) {
        return out_of_memory(e->w);
    }

    for (size_t i = 0, next; i < n; i = next) {
        uint32_t function = starts[i].function;
        size_t len = 0;

        for (next = i; next < n && starts[next].function == function; next++) {
            if (function != SYM_NO_FUNCTION) {
                run[len] = functions[function].segments[starts[next].segment];
                run[len++].addr = starts[next].start;
            }
        }

        len = drop_repeats(run, len);
        if (len != 0
            && sym_blocks_run(&e->blocks, run, len,
                              next < n ? starts[next].start : end,
                              unpacked[function].places)
                   != SYM_OK)
        {
            return e->w->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
emit_cluster(emit_t *e, const sym_draft_function_t *f, const unpacked_t *u,
             size_t n, uint64_t end)
{
    sym_overlap_function_t *overlap =
        sym_arena_alloc(&e->arena, n * sizeof(*overlap));
    sym_overlap_start_t *starts = NULL;
    size_t n_starts;

    if (overlap == NULL) {
        return out_of_memory(e->w);
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
        (void) emit_starts(e, starts, n_starts, end, overlap, u);
    }

    free(starts);
    return e->w->err->status;
}


/*
 * The same code given by more than one unit, as linkers leave it that fold or
 * merge functions: the first stands.  Sorted by address and order.
 */
static void
drop_twins(sym_writer_t *w)
{
    sym_draft_function_t *f = w->functions;
    size_t kept = 0;

    for (size_t i = 0; i < w->n_functions; i++) {
        const sym_draft_function_t *before = kept > 0 ? &f[kept - 1] : NULL;

        if (before != NULL && before->is_settled && f[i].is_settled
            && before->addr == f[i].addr && before->size == f[i].size)
        {
            w->counts[SYM_COUNT_DROPPED]++;
            continue;
        }
        f[kept++] = f[i];
    }

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


static bool
unpack_function(const sym_writer_t *w, sym_arena_t *arena,
                const sym_draft_function_t *f, unpacked_t *u)
{
    sym_block_function_t bf;

    if (!sym_draft_unpack(arena, f, w->parts[f->part].ids, &u->draft)) {
        return false;
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
        (void) out_of_memory(w);
        return false;
    }

    for (size_t i = begin, next; i < e->pieces[piece + 1]; i = next) {
        const sym_draft_function_t *f = &w->functions[i];
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
        return out_of_memory(e->w);
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
    sym_relay_run(&relay, e->w->crew);

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


static uint8_t
quality_of(const sym_writer_t *w)
{
    if (w->n_functions == 0) {
        return w->n_publics == 0 ? SYM_QUALITY_EMPTY : SYM_QUALITY_PUBLICS;
    }

    if (w->has_inlines) {
        return SYM_QUALITY_INLINES;
    }

    return w->has_lines ? SYM_QUALITY_LINES : SYM_QUALITY_FUNCTIONS;
}


static sym_status_t
add_info(sym_writer_t *w, const sym_module_info_t *info,
         uint32_t ids[SYM_INFO_REFS])
{
    const sym_str_t texts[SYM_INFO_REFS] = { info->debug_id, info->debug_file,
                                             info->code_id,  info->code_file,
                                             info->arch,     info->os };

    for (size_t i = 0; i < SYM_INFO_REFS; i++) {
        if (sym_strings_add(&w->strings, texts[i], &ids[i]) != SYM_OK) {
            return w->err->status;
        }
    }

    return SYM_OK;
}


static void
fill_stats(const sym_header_t *h, sym_writer_stats_t *stats)
{
    *stats = (sym_writer_stats_t){
        .functions = h->counts[SYM_COUNT_FUNCTIONS],
        .publics = h->counts[SYM_COUNT_PUBLICS],
        .inlines = h->counts[SYM_COUNT_INLINES],
        .lines = h->counts[SYM_COUNT_LINES],
        .segments = h->counts[SYM_COUNT_SEGMENTS],
        .nodes = h->counts[SYM_COUNT_NODES],
        .strings = h->counts[SYM_COUNT_STRINGS],
        .string_bytes = h->counts[SYM_COUNT_STRING_BYTES],
        .bytes = h->bytes,
        .extents = h->n_extents,
        .dropped = h->counts[SYM_COUNT_DROPPED],
        .truncated = h->counts[SYM_COUNT_TRUNCATED],
        .quality = (uint8_t) h->quality,
    };
}


sym_status_t
sym_writer_finish(sym_writer_t *w, const sym_module_info_t *info,
                  sym_extent_put_pt put, void *ctx, sym_writer_stats_t *stats)
{
    sym_header_t header = { .version = SYM_SYMCACHE_VERSION,
                            .byte_order = SYM_BYTE_ORDER,
                            .header_bytes = sizeof(header) };
    emit_t e = { .w = w, .blocks = { .err = w->err } };
    sym_extents_t extents;
    uint32_t ids[SYM_INFO_REFS], *refs = NULL;
    size_t n_strings;

    memcpy(header.magic, SYM_MAGIC, sizeof(header.magic));
    sym_arena_init(&e.arena, 0);
    for (size_t i = 0; i < SYM_RELAY_SLOTS; i++) {
        sym_arena_init(&e.slots[i].arena, 0);
    }

    if (sym_extents_begin(&extents, put, ctx, sizeof(header), w->err) != SYM_OK
        || add_info(w, info, ids) != SYM_OK)
    {
        goto done;
    }

    n_strings = w->strings.n;
    if (sym_strings_write(&w->strings, &extents, &header, &refs) != SYM_OK) {
        goto done;
    }

    for (size_t i = 0; i < SYM_INFO_REFS; i++) {
        header.info[i] = refs[ids[i]];
    }

    w->counts[SYM_COUNT_DROPPED] += w->flatten.dropped;
    sym_flatten_free(&w->flatten);
    if (sort_functions(w) != SYM_OK) {
        goto done;
    }
    drop_twins(w);
    sort_publics(w);
    drop_equal_publics(w);

    if (sym_blocks_begin(&e.blocks, &extents, refs, n_strings, w->err) != SYM_OK
        || emit_all(&e) != SYM_OK
        || sym_blocks_end(&e.blocks, &header) != SYM_OK)
    {
        goto done;
    }

    header.quality = quality_of(w);
    header.flags = info->flags;
    for (size_t i = 0; i < SYM_COUNTS; i++) {
        header.counts[i] += w->counts[i];
    }
    header.counts[SYM_COUNT_SOURCE_BYTES] = info->source_bytes;
    header.image_base = info->image_base;

    if (sym_extents_end(&extents, &header) == SYM_OK && stats != NULL) {
        fill_stats(&header, stats);
    }

done:
    emit_free(&e);
    sym_extents_free(&extents);
    free(refs);
    return w->err->status;
}


const char *
sym_quality_name(unsigned quality)
{
    static const char *const names[] = { "empty", "publics", "functions",
                                         "lines", "lines and inlines" };

    return quality < sizeof(names) / sizeof(names[0]) ? names[quality]
                                                      : "unknown";
}
