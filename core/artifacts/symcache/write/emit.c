#include "artifacts/symcache/write/emit.h"

#include <stdlib.h>

#include "base/relay.h"
#include "artifacts/symcache/write/overlap.h"

/* A function whose draft is unpacked, and the positions of its nodes. */
typedef struct {
    sym_packed_functions_t draft;
    sym_node_place_t *places;
} unpacked_t;

/* Start of a stretch: the first function, or the gap before it. */
typedef struct {
    size_t function;
    uint64_t from;
    uint32_t covered_by; /* name of the function that ends at this address */
} cut_t;

/* Scratch memory of a thread, reused for each stretch. */
typedef struct {
    sym_stretch_desk_t desk;
    sym_arena_t arena; /* memory for one cluster */
} worker_t;

/* State of the last step.  Several stretches are made ahead at once, and
 * written in order. */
typedef struct {
    sym_writer_t *w;
    sym_blocks_t blocks;
    uint32_t **files; /* number in the symcache by part and number in the
                         part; or a string id, if moves apply */
    uint32_t start;   /* position of the first stretch's nodes */

    cut_t *cuts; /* one for each stretch, one for the end */
    size_t n_cuts, cuts_size;
    worker_t workers[SYM_SLOTS]; /* each owned by a thread while it makes a
                                    stretch */
    sym_slots_t workers_used;
    sym_stretch_t stretches[SYM_RELAY_SLOTS]; /* stretches that are not yet
                                                 written */
} emit_t;

/* A stretch that is being made. */
typedef struct {
    emit_t *e;
    sym_stretch_t *out;
    sym_arena_t *arena;
    size_t next_public;
    uint64_t covered;    /* end of the addresses owned by functions */
    uint32_t covered_by; /* name of the last of these functions */
} make_t;

static uint64_t
end_of(const sym_packed_function_t *f)
{
    return (uint64_t) f->addr + f->size;
}


/* Writes the part of [from, to) that a public symbol names. */
static sym_status_t
emit_public(make_t *m, const sym_public_t *p, uint64_t from, uint64_t to)
{
    sym_segment_t s = { (uint32_t) from, 0, 0, 0 };
    sym_flat_node_t n = { 0, sym_blocks_string(&m->e->blocks, p->name), 0, 0 };
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

    if (sym_stretch_nodes(m->out, &f, &place) == SYM_OK) {
        (void) sym_stretch_run(m->out, &s, 1, to, &place);
    }

    return m->out->err.status;
}


/* The end of a symbol if no function began before that. */
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
 * The return address of a call that never returns can be there.  If the
 * symbol's end is only the start of the next symbol, other code may be between.
 * So the symbol then continues only if it has the functions' name.
 */
static bool
goes_on(const make_t *m, const sym_public_t *p)
{
    return p->size != 0 && (!p->is_open || p->name == m->covered_by);
}


/* Writes the public symbols of the gap [from, to).  Each ends at its end or at
 * the next symbol. */
static sym_status_t
emit_publics(make_t *m, uint64_t from, uint64_t to)
{
    sym_writer_t *w = m->e->w;

    for (; m->next_public < w->n_publics; m->next_public++) {
        sym_public_t *p = &w->publics[m->next_public];
        uint64_t end = end_of_public(w, p);

        if (p->addr >= to) {
            break;
        }

        if (p->addr >= from || (from < to && end > from && goes_on(m, p))) {
            if (emit_public(m, p, p->addr > from ? p->addr : from,
                            end < to ? end : to)
                != SYM_OK)
            {
                return m->out->err.status;
            }
            __atomic_store_n(&p->is_told, true, __ATOMIC_RELAXED);
        }

        if (end > to) {
            break; /* the rest of the symbol may be in the next gap */
        }
    }

    return SYM_OK;
}


/* The first public symbol that ends above an address. */
static size_t
public_behind(const sym_writer_t *w, uint64_t addr)
{
    size_t low = 0, high = w->n_publics;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (end_of_public(w, &w->publics[middle]) <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


static void
count_untold_publics(sym_writer_t *w)
{
    for (size_t i = 0; i < w->n_publics; i++) {
        w->counts[SYM_COUNT_DROPPED] += !w->publics[i].is_told;
    }
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
write_nodes(make_t *m, const sym_packed_function_t *f, const unpacked_t *u)
{
    sym_block_function_t bf = block_function(f, &u->draft);

    return sym_stretch_nodes(m->out, &bf, u->places);
}


/* Drops segments that repeat the previous one. */
static size_t
drop_repeats(sym_segment_t *s, size_t n)
{
    size_t kept = 0;

    /* has no branches, because they would be unpredictable.  A slot that is
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


/* The first statement of the function that ends above addr. */
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


/* The number of a file, which is in the table. */
static uint32_t
file_number(const emit_t *e, uint32_t id)
{
    const sym_file_table_t *files = &e->blocks.files;

    return id < files->numbers_size ? files->numbers[id] : 0;
}


/* Writes the statements that atos shows in [from, to) of the function. */
static sym_status_t
emit_statements(make_t *m, const sym_packed_function_t *f, uint64_t from,
                uint64_t to)
{
    const emit_t *e = m->e;
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
        s.file = file_number(e, s.file);
        if (sym_stretch_statement(m->out, &s) != SYM_OK) {
            return m->out->err.status;
        }
    }

    return SYM_OK;
}


static sym_status_t
emit_single(make_t *m, const sym_packed_function_t *f, const unpacked_t *u)
{
    if (write_nodes(m, f, u) != SYM_OK
        || sym_stretch_run(m->out, u->draft.segments, u->draft.n_segments,
                           end_of(f), u->places)
               != SYM_OK)
    {
        return m->out->err.status;
    }

    return emit_statements(m, f, f->addr, end_of(f));
}


static sym_status_t
no_memory(make_t *m)
{
    return sym_fail(&m->out->err, SYM_NOMEM,
                    "no memory for the module's functions");
}


/* Writes the runs that sym_overlap_settle() found. */
static sym_status_t
emit_starts(make_t *m, const sym_overlap_start_t *starts, size_t n,
            uint64_t end, const sym_overlap_function_t *functions,
            const sym_packed_function_t *drafts, const unpacked_t *unpacked)
{
    sym_segment_t *run = sym_arena_alloc(m->arena, n * sizeof(*run));

    if (run == NULL) {
        return no_memory(m);
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
            && (sym_stretch_run(m->out, run, len, run_end,
                                unpacked[function].places)
                    != SYM_OK
                || emit_statements(m, &drafts[function], run[0].addr, run_end)
                       != SYM_OK))
        {
            return m->out->err.status;
        }
    }

    return SYM_OK;
}


static sym_status_t
emit_overlap(make_t *m, const sym_packed_function_t *f, const unpacked_t *u,
             size_t n, uint64_t end)
{
    sym_overlap_function_t *overlap =
        sym_arena_alloc(m->arena, n * sizeof(*overlap));
    sym_overlap_start_t *starts = NULL;
    size_t n_starts;

    if (overlap == NULL) {
        return no_memory(m);
    }

    for (size_t i = 0; i < n; i++) {
        if (write_nodes(m, &f[i], &u[i]) != SYM_OK) {
            return m->out->err.status;
        }
        overlap[i] = (sym_overlap_function_t){ f[i].addr, f[i].size, f[i].order,
                                               u[i].draft.segments,
                                               u[i].draft.n_segments };
    }

    if (sym_overlap_settle(overlap, n, &starts, &n_starts, &m->out->err)
        == SYM_OK) {
        (void) emit_starts(m, starts, n_starts, end, overlap, f, u);
    }

    free(starts);
    return m->out->err.status;
}


/* Finds the functions from i on that overlap: where their run ends, and their
 * last address. */
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


/* Replaces names of functions and calls by refs. */
static void
find_names(const emit_t *e, sym_packed_functions_t *f)
{
    const sym_blocks_t *b = &e->blocks;

    for (size_t i = 0; i < f->n_nodes; i++) {
        if (f->nodes[i].name < b->n_strings) {
            __builtin_prefetch(&b->string_refs[f->nodes[i].name]);
        }
    }

    for (size_t i = 0; i < f->n_nodes; i++) {
        f->nodes[i].name = sym_blocks_string(b, f->nodes[i].name);
    }
}


/* Applies moves to source positions, and replaces files by numbers. */
static void
move_places(const emit_t *e, sym_packed_functions_t *f)
{
    const sym_moves_t *moves = &e->w->moves;

    for (size_t i = 0; i < f->n_nodes; i++) {
        sym_flat_node_t *n = &f->nodes[i];

        sym_moves_apply(moves, &n->call_file, &n->call_line);
        n->call_file = file_number(e, n->call_file);
    }

    for (size_t i = 0; i < f->n_segments; i++) {
        sym_segment_t *s = &f->segments[i];

        sym_moves_apply(moves, &s->file, &s->line);
        s->file = file_number(e, s->file);
    }
}


static bool
unpack_function(const make_t *m, const sym_packed_function_t *f,
                bool drops_repeats, unpacked_t *u)
{
    const emit_t *e = m->e;
    const sym_packed_names_t names = { e->w->parts[f->part].ids,
                                       e->files[f->part] };

    u->places = sym_arena_alloc(m->arena, f->n_nodes * sizeof(*u->places));
    if (u->places == NULL
        || !sym_packed_function_unpack(m->arena, f, &names, drops_repeats,
                                       &u->draft))
    {
        return false;
    }

    find_names(e, &u->draft);
    if (e->w->moves.n != 0) {
        move_places(e, &u->draft);
        if (drops_repeats) {
            u->draft.n_segments =
                drop_repeats(u->draft.segments, u->draft.n_segments);
        }
    }

    return true;
}


/* Writes functions [i, next), which overlap and end at `end`. */
static sym_status_t
emit_cluster(make_t *m, size_t i, size_t next, uint64_t end)
{
    const sym_packed_function_t *f = &m->e->w->functions[i];
    const size_t n = next - i;
    unpacked_t *u = sym_arena_alloc(m->arena, n * sizeof(*u));

    for (size_t k = 0; u != NULL && k < n; k++) {
        if (!unpack_function(m, &f[k], n == 1, &u[k])) {
            u = NULL;
        }
    }

    if (u == NULL) {
        return no_memory(m);
    }

    return n == 1 ? emit_single(m, f, u) : emit_overlap(m, f, u, n, end);
}


/* The overlapping function that ends last. */
static const sym_packed_function_t *
last_of_cluster(const sym_packed_function_t *f, size_t n)
{
    const sym_packed_function_t *last = f;

    for (size_t i = 1; i < n; i++) {
        last = end_of(&f[i]) > end_of(last) ? &f[i] : last;
    }

    return last;
}


/* Makes the stretch from one cut to the next. */
static sym_status_t
emit_stretch(make_t *m, const cut_t *cut)
{
    const sym_writer_t *w = m->e->w;

    for (size_t i = cut[0].function, next; i < cut[1].function; i = next) {
        const sym_packed_function_t *f = &w->functions[i];
        uint64_t end;

        next = end_of_cluster(w, i, &end);

        if (emit_publics(m, m->covered, f->addr) != SYM_OK
            || emit_cluster(m, i, next, end) != SYM_OK)
        {
            return m->out->err.status;
        }

        sym_arena_reset(m->arena);
        m->covered = end;
        m->covered_by = last_of_cluster(f, next - i)->name;
    }

    return emit_publics(m, m->covered, cut[1].from) == SYM_OK
               ? sym_stretch_end(m->out)
               : m->out->err.status;
}


/* --- threads --- */

/* First step of a sym_relay_t. */
static void
make_stretch(void *ctx, size_t at, size_t slot)
{
    emit_t *e = ctx;
    const cut_t *cut = &e->cuts[at];
    const size_t worker = sym_slots_take(&e->workers_used);
    make_t m = { .e = e,
                 .out = &e->stretches[slot],
                 .arena = &e->workers[worker].arena,
                 .next_public = public_behind(e->w, cut->from),
                 .covered = cut->from,
                 .covered_by = cut->covered_by };

    if (sym_stretch_begin(m.out, at == 0 ? e->start : 0,
                          &e->workers[worker].desk)
        == SYM_OK)
    {
        (void) emit_stretch(&m, cut);
    }

    sym_slots_give_back(&e->workers_used, worker);
}


/* Its second. */
static bool
take_stretch(void *ctx, size_t at, size_t slot)
{
    emit_t *e = ctx;
    const sym_stretch_t *s = &e->stretches[slot];

    (void) at;
    if (s->err.status == SYM_OK) {
        (void) sym_blocks_take(&e->blocks, s);
    } else {
        *e->w->err = s->err;
    }

    return e->w->err->status == SYM_OK;
}


/* --- cuts --- */

/* Approximate size of a stretch's nodes: a few extents.  Each stretch begins
 * without twins, so smaller stretches have fewer. */
#define STRETCH_BYTES 400000
#define FUNCTION_BYTES 14
#define CALL_BYTES 6

static bool
add_cut(emit_t *e, size_t function, uint64_t from, uint32_t covered_by)
{
    cut_t *cuts =
        sym_array_grow(e->cuts, &e->cuts_size, e->n_cuts + 1, sizeof(*cuts));

    if (cuts == NULL) {
        (void) sym_writer_no_memory(e->w);
        return false;
    }

    e->cuts = cuts;
    e->cuts[e->n_cuts++] = (cut_t){ function, from, covered_by };
    return true;
}


static size_t
weight_of_cluster(const sym_packed_function_t *f, size_t n)
{
    size_t weight = n * FUNCTION_BYTES;

    for (size_t i = 0; i < n; i++) {
        weight += (f[i].n_nodes - 1u) * (size_t) CALL_BYTES;
    }

    return weight;
}


/* Cuts between clusters, and at starts of public symbols. */
static sym_status_t
cut_stretches(emit_t *e)
{
    const sym_writer_t *w = e->w;
    size_t weight = 0, next_public = 0, i = 0;
    uint64_t covered = 0;
    uint32_t covered_by = SYM_NO_STRING;

    if (!add_cut(e, 0, 0, covered_by)) {
        return w->err->status;
    }

    while (i < w->n_functions || next_public < w->n_publics) {
        const uint64_t to =
            i < w->n_functions ? w->functions[i].addr : (uint64_t) 1 << 32;
        size_t next;

        for (; next_public < w->n_publics && w->publics[next_public].addr < to;
             next_public++)
        {
            const uint32_t addr = w->publics[next_public].addr;

            if (weight >= STRETCH_BYTES && addr > covered) {
                if (!add_cut(e, i, addr, covered_by)) {
                    return w->err->status;
                }
                weight = 0;
            }
            weight += FUNCTION_BYTES;
        }

        if (i == w->n_functions) {
            break;
        }

        if (weight >= STRETCH_BYTES) {
            if (!add_cut(e, i, covered, covered_by)) {
                return w->err->status;
            }
            weight = 0;
        }

        next = end_of_cluster(w, i, &covered);
        weight += weight_of_cluster(&w->functions[i], next - i);
        covered_by = last_of_cluster(&w->functions[i], next - i)->name;
        i = next;
    }

    return add_cut(e, w->n_functions, (uint64_t) 1 << 32, SYM_NO_STRING)
               ? SYM_OK
               : w->err->status;
}


/* --- files --- */

/* Numbers the files of a part, in their order. */
static uint32_t *
number_files(emit_t *e, const sym_joined_t *part)
{
    const bool are_moved = e->w->moves.n != 0;
    uint32_t *files = malloc((part->files.n + 1) * sizeof(*files));

    if (files == NULL) {
        (void) sym_writer_no_memory(e->w);
        return NULL;
    }

    files[0] = are_moved ? SYM_NO_STRING : 0;
    for (size_t i = 0; i < part->files.n; i++) {
        const uint32_t id =
            sym_packed_function_id(part->ids, part->files.ids[i]);

        if (sym_blocks_file(&e->blocks, id, &files[i + 1]) != SYM_OK) {
            free(files);
            return NULL;
        }
        files[i + 1] = are_moved ? id : files[i + 1];
    }

    return files;
}


/* Numbers the files in use before stretches refer to them. */
static sym_status_t
number_all_files(emit_t *e)
{
    const sym_writer_t *w = e->w;
    uint32_t ignored;

    e->files = calloc(w->n_parts, sizeof(*e->files));
    if (e->files == NULL) {
        return sym_writer_no_memory(e->w);
    }

    for (size_t i = 0; i < w->n_parts; i++) {
        e->files[i] = number_files(e, &w->parts[i]);
        if (e->files[i] == NULL) {
            return w->err->status;
        }
    }

    for (size_t i = 0; i < w->moves.n; i++) {
        if (sym_blocks_file(&e->blocks, w->moves.list[i].to_file, &ignored)
            != SYM_OK) {
            return w->err->status;
        }
    }

    return SYM_OK;
}


/* --- all --- */

static sym_status_t
emit_all(emit_t *e)
{
    sym_relay_t relay = { .ctx = e,
                          .make = make_stretch,
                          .take = take_stretch };

    if (number_all_files(e) != SYM_OK || cut_stretches(e) != SYM_OK) {
        return e->w->err->status;
    }

    relay.n_pieces = e->n_cuts - 1;
    sym_relay_run(&relay, e->w->pool);
    count_untold_publics(e->w);
    return e->w->err->status;
}


static void
emit_free(emit_t *e)
{
    for (size_t i = 0; i < SYM_RELAY_SLOTS; i++) {
        sym_stretch_free(&e->stretches[i]);
        sym_stretch_desk_free(&e->workers[i].desk);
        sym_arena_drop(&e->workers[i].arena);
    }

    for (size_t i = 0; e->files != NULL && i < e->w->n_parts; i++) {
        free(e->files[i]);
    }

    free(e->files);
    free(e->cuts);
    sym_blocks_free(&e->blocks);
}


sym_status_t
sym_emit(sym_writer_t *w, sym_extents_t *extents, const uint32_t *refs,
         size_t n_strings, sym_header_t *header)
{
    emit_t e = { .w = w,
                 .blocks = { .err = w->err },
                 .start = sym_extents_start(extents) };
    sym_status_t status = sym_writer_sort_functions(w);

    status = status == SYM_OK ? sym_writer_sort_publics(w) : status;
    if (status != SYM_OK) {
        return status;
    }
    sym_writer_drop_twins(w);
    sym_writer_drop_equal_publics(w);

    status = sym_blocks_begin(&e.blocks, extents, refs, n_strings, w->err);
    status = status == SYM_OK ? emit_all(&e) : status;
    status = status == SYM_OK
                 ? sym_blocks_shown(&e.blocks, w->shown, w->n_shown)
                 : status;
    status = status == SYM_OK ? sym_blocks_end(&e.blocks, header) : status;

    emit_free(&e);
    return status;
}
