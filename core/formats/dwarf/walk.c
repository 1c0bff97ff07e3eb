#include "formats/dwarf/walker.h"

#include <stdlib.h>

#include "formats/dwarf/grow.h"

void
sym_dw_walker_init(sym_dw_walker_t *w, const sym_dwarf_input_t *in,
                   const sym_dw_info_t *main, const sym_dw_info_t *alt)
{
    memset(w, 0, sizeof(*w));
    w->in = in;
    sym_dw_context_init(&w->x, in, main, alt);
    sym_dw_names_init(&w->names, &w->x);
    w->names.undecorate = in->undecorate;
}


void
sym_dw_walker_begin(sym_dw_walker_t *w, sym_shard_t *part,
                    sym_dwarf_stats_t *stats, uint64_t bytes)
{
    w->part = part;
    w->stats = stats;
    w->lines_at = SYM_DW_NO_LINES;
    sym_dw_context_begin(&w->x, bytes);
    sym_dw_names_begin(&w->names, part);
}


void
sym_dw_walker_free(sym_dw_walker_t *w)
{
    sym_dw_names_free(&w->names);
    sym_dw_context_free(&w->x);
    sym_dw_ranges_free(&w->ranges);
    sym_dw_lines_free(&w->lines);
    sym_buffer_free(&w->path);
    free(w->calls);
    free(w->pieces);
    free(w->spare);
    free(w->cover);
    free(w->file_ids);
    free(w->record.nodes);
    free(w->record.segments);
    free(w->record.statements);
    free(w->stretches);
    free(w->own);
}


static sym_status_t
out_of_memory(sym_dw_walker_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, "no memory for a unit");
}


/* --- functions and calls --- */

/* Keeps the ranges that fit a symcache, relative to the image base. */
static sym_status_t
add_pieces(sym_dw_walker_t *w, uint32_t call)
{
    for (size_t i = 0; i < w->ranges.n; i++) {
        uint64_t low = w->ranges.items[i].low - w->in->image_base;
        uint64_t last = w->ranges.items[i].high - 1 - w->in->image_base;

        if (low > UINT32_MAX || sym_dw_is_below(w->in, w->ranges.items[i].low))
        {
            w->stats->ranges_dropped++;
            continue;
        }

        if (w->n_pieces >= SYM_DWARF_RANGES_MAX) {
            return sym_fail(w->err, SYM_LIMIT, "too many ranges in a unit");
        }

        if (!SYM_DW_ROOM(w->pieces, w->n_pieces, w->pieces_size)) {
            return out_of_memory(w);
        }

        w->pieces[w->n_pieces++] =
            (sym_dw_piece_t){ (uint32_t) low,
                              last > UINT32_MAX ? UINT32_MAX : (uint32_t) last,
                              call };
    }

    return SYM_OK;
}


static sym_status_t
add_call(sym_dw_walker_t *w, sym_dw_call_t call, uint32_t *index)
{
    /* each entry takes a few bytes of the unit, so an index suffices */
    if (w->n_calls >= SYM_DWARF_RANGES_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "too many calls in a unit");
    }

    if (!SYM_DW_ROOM(w->calls, w->n_calls, w->calls_size)) {
        return out_of_memory(w);
    }

    *index = (uint32_t) w->n_calls;
    if (call.parent == SYM_DW_NONE) {
        call.root = *index;
    }
    w->calls[w->n_calls++] = call;
    return add_pieces(w, *index);
}


/*
 * Link-time optimisation puts functions of all languages into new units, whose
 * language is one of these.  Such a function refers to its original unit.
 */
static sym_status_t
language_of(sym_dw_walker_t *w, const sym_dw_die_t *die, uint16_t *language)
{
    const sym_dw_info_t *info;
    const sym_dw_open_t *u;
    sym_error_t bad = { 0 };
    uint64_t offset;

    *language = w->u.language;
    if (!sym_dw_has(die, SYM_DW_ORIGIN)
        || !sym_dw_target(&w->x, &w->u, die->values[SYM_DW_ORIGIN], &info,
                          &offset))
    {
        return SYM_OK;
    }

    u = sym_dw_unit_of(&w->x, &w->u, info, offset, &bad);
    if (u != NULL && u->language != 0) {
        *language = u->language;
    }

    return bad.status == SYM_NOMEM ? out_of_memory(w) : SYM_OK;
}


/* Handles a function; *call becomes the call around its children. */
static sym_status_t
read_function(sym_dw_walker_t *w, uint64_t offset, const sym_dw_die_t *die,
              uint32_t *call)
{
    sym_dw_call_t function = { .named_in = w->u.info,
                               .named_at = offset,
                               .parent = SYM_DW_NONE,
                               .symbol = UINT64_MAX,
                               .record = SYM_DW_NONE };

    *call = SYM_DW_NONE;

    if (sym_dw_ranges_of(&w->ranges, &w->x, &w->u, die, w->err) != SYM_OK) {
        return w->err->status;
    }

    if (w->ranges.n == 0) {
        w->stats->functions_empty++;
        return SYM_OK;
    }

    if (language_of(w, die, &function.language) != SYM_OK) {
        return w->err->status;
    }

    w->stats->functions++;
    return add_call(w, function, call);
}


/* Handles an inlined call inside *call, and sets *call to it. */
static sym_status_t
read_inlined(sym_dw_walker_t *w, uint64_t offset, const sym_dw_die_t *die,
             uint32_t *call)
{
    const sym_dw_call_t *parent = &w->calls[*call];
    sym_dw_call_t inlined = { .named_in = w->u.info,
                              .named_at = offset,
                              .parent = *call,
                              .root = parent->root,
                              .depth = parent->depth + 1,
                              .call_file = UINT64_MAX,
                              .record = SYM_DW_NONE };
    uint64_t line;

    if (sym_dw_ranges_of(&w->ranges, &w->x, &w->u, die, w->err) != SYM_OK) {
        return w->err->status;
    }

    if (inlined.depth > SYM_INLINE_DEPTH_MAX) {
        return SYM_OK; /* its addresses belong to the surrounding call */
    }

    /* most have no name of their own: this avoids reading the entry again */
    if (sym_dw_has(die, SYM_DW_ORIGIN) && !sym_dw_has(die, SYM_DW_LINKAGE_NAME)
        && !sym_dw_has(die, SYM_DW_NAME)
        && !sym_dw_target(&w->x, &w->u, die->values[SYM_DW_ORIGIN],
                          &inlined.named_in, &inlined.named_at))
    {
        inlined.named_in = w->u.info;
        inlined.named_at = offset;
    }

    if (sym_dw_has(die, SYM_DW_CALL_FILE)) {
        inlined.call_file = die->values[SYM_DW_CALL_FILE].u;
    }

    if (sym_dw_has(die, SYM_DW_CALL_LINE)) {
        line = die->values[SYM_DW_CALL_LINE].u;
        inlined.call_line = line <= UINT32_MAX ? (uint32_t) line : 0;
    }

    w->stats->inlines += w->ranges.n != 0;
    return add_call(w, inlined, call);
}


/* --- the walk --- */

/* Moves to an entry's sibling if no descendant has code.  False: the sibling is
 * unusable. */
static bool
jump(sym_dw_walker_t *w, sym_dw_bytes_t *b, const sym_dw_die_t *die)
{
    const sym_dw_value_t *v = &die->values[SYM_DW_SIBLING];

    if (!sym_dw_has(die, SYM_DW_SIBLING) || v->class != SYM_DW_REF) {
        return false;
    }

    uint64_t to = w->u.unit->offset + v->u;

    if (v->u > w->u.unit->end - w->u.unit->offset || to < sym_dw_offset(b)) {
        return false;
    }

    b->c.pos = b->c.start + to;
    return true;
}


/* Reads an entry of interest.  *around is the context of the entry, and
 * afterwards the context of its children.  False: the children were skipped. */
static bool
read_entry(sym_dw_walker_t *w, sym_dw_bytes_t *b, const sym_dw_abbrev_t *a,
           uint64_t offset, sym_dw_level_t *around)
{
    sym_dw_die_t die;

    sym_dw_die_read(b, w->u.abbrevs, a, w->u.unit->shape, &die);
    if (!sym_ok(&b->c)) {
        return true;
    }

    if (a->kind == SYM_DW_CHILDLESS) {
        return !jump(w, b, &die);
    }

    if (a->kind == SYM_DW_SUBPROGRAM) {
        (void) read_function(w, offset, &die, &around->call);
    } else {
        (void) read_inlined(w, offset, &die, &around->call);
    }

    if (!sym_ok(&b->c)) {
        b->c.pos = b->c.end; /* ends the walk */
    }
    return true;
}


/* Whether an entry needs more than skipping. */
static inline bool
is_read(const sym_dw_abbrev_t *a, uint32_t call)
{
    switch (a->kind) {
    case SYM_DW_SUBPROGRAM:
        return true;
    case SYM_DW_INLINED:
        return call != SYM_DW_NONE;
    case SYM_DW_CHILDLESS:
        return a->has_children;
    default:
        return false;
    }
}


/* Goes one level down, to the context of the children. */
static void
descend(sym_dw_walker_t *w, sym_dw_bytes_t *b, const sym_dw_abbrev_t *a,
        uint64_t offset, size_t *depth, sym_dw_level_t *around,
        sym_dw_level_t inner)
{
    if (*depth == SYM_DWARF_DEPTH_MAX) {
        sym_cursor_fail(&b->c, SYM_LIMIT, "entries nest too deeply");
        return;
    }

    w->stack[(*depth)++] = *around;
    *around = inner;

    if (w->u.scopes.is_made
        && !sym_dw_scope_enter(&w->u.scopes, a->kind, offset, around))
    {
        sym_cursor_fail(&b->c, SYM_NOMEM, "no memory for scopes");
    }
}


static void
walk_entries(sym_dw_walker_t *w, sym_dw_bytes_t *b)
{
    const sym_dw_abbrevs_t *abbrevs = w->u.abbrevs;
    const sym_dw_shape_t shape = w->u.unit->shape;
    sym_dw_level_t around = { 0, SYM_DW_NO_SCOPE, SYM_DW_NONE }, inner;
    size_t depth = 0;

    do {
        uint64_t offset = sym_dw_offset(b);
        uint64_t code = sym_dw_uleb(b);
        const sym_dw_abbrev_t *a;
        bool has_children;

        if (code == 0) {
            if (depth == 0) {
                break;
            }
            depth--;
            sym_dw_scope_end(&w->u.scopes, offset, &around, w->stack[depth]);
            continue;
        }

        a = sym_dw_abbrev(abbrevs, code);
        if (a == NULL) {
            b->c.pos = b->c.start + offset;
            sym_cursor_fail(&b->c, SYM_MALFORMED, "no such abbreviation");
            break;
        }

        inner = around;
        has_children = a->has_children;
        if (is_read(a, around.call)) {
            has_children = read_entry(w, b, a, offset, &inner) && has_children;
        } else {
            sym_dw_die_pass(b, abbrevs, a, shape);
            if (a->kind == SYM_DW_CODELESS) {
                inner.call = SYM_DW_NONE;
                w->stats->functions_empty++;
            }
        }

        if (has_children) {
            descend(w, b, a, offset, &depth, &around, inner);
        }
    } while (depth != 0 && sym_dw_left(b) != 0);
}


/* Passes the collected records to the shard. */
static sym_status_t
give(sym_dw_walker_t *w)
{
    if (sym_dw_emit_begin(w) != SYM_OK || sym_dw_cover(w) != SYM_OK) {
        return w->err->status;
    }

    return sym_dw_emit_end(w);
}


sym_status_t
sym_dw_walk(sym_dw_walker_t *w, const sym_dw_unit_t *unit, sym_error_t *err)
{
    uint64_t dropped = w->ranges.dropped;
    sym_dw_bytes_t b;

    w->err = err;
    w->n_calls = w->n_pieces = w->n_stretches = 0;
    sym_dw_names_unit(&w->names);

    if (sym_dw_open(&w->x, &w->u, w->x.main, unit, err) != SYM_OK) {
        goto done;
    }

    if (sym_dw_split_enter(w) != SYM_OK) {
        goto done;
    }

    w->u.scopes.is_made = sym_dw_has_scopes(w->u.language);
    b = sym_dw_unit_at(&w->u, w->u.unit->first, err);
    walk_entries(w, &b);
    w->stats->ranges_dropped += w->ranges.dropped - dropped;

    if (err->status == SYM_NOMEM) {
        goto done;
    }

    /* entries before the error in a broken unit are kept */
    w->given = (sym_error_t){ 0 };
    w->err = &w->given;
    if (give(w) != SYM_OK) {
        *err = w->given; /* the more severe error */
    }

done:
    sym_dw_close(&w->u);
    sym_dw_split_leave(w);
    return err->status;
}
