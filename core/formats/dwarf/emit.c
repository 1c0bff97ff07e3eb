#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/grow.h"
#include "formats/dwarf/walker.h"
#include "base/language.h"

#define ADDRESSES ((uint64_t) 1 << 32)

sym_status_t
sym_dw_emit_begin(sym_dw_walker_t *w)
{
    w->record.is_open = false;
    w->record.number = 0;
    return sym_dw_unit_lines_begin(w);
}


/* --- records --- */

static sym_status_t
add_node(sym_dw_walker_t *w, sym_flat_node_t node)
{
    sym_dw_record_t *r = &w->record;

    if (sym_dw_spend(&w->x, SYM_DWARF_NODE_PRICE, w->err) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_DW_ROOM(r->nodes, r->n_nodes, r->nodes_size)) {
        return sym_dw_out_of_memory(w);
    }

    r->nodes[r->n_nodes++] = node;
    return SYM_OK;
}


static sym_status_t
add_segment(sym_dw_walker_t *w, sym_segment_t s)
{
    sym_dw_record_t *r = &w->record;
    const sym_segment_t *last =
        r->n_segments != 0 ? &r->segments[r->n_segments - 1] : NULL;

    if (last != NULL && last->node == s.node && last->file == s.file
        && last->line == s.line)
    {
        return SYM_OK;
    }

    if (sym_dw_spend(&w->x, SYM_DWARF_SEGMENT_PRICE, w->err) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_DW_ROOM(r->segments, r->n_segments, r->segments_size)) {
        return sym_dw_out_of_memory(w);
    }

    r->segments[r->n_segments++] = s;
    return SYM_OK;
}


static uint8_t
language_of(uint16_t language)
{
    switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C17:
        return SYM_LANG_C;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_C_plus_plus_17:
    case DW_LANG_C_plus_plus_20:
        return SYM_LANG_CPP;
    case DW_LANG_D:
        return SYM_LANG_D;
    case DW_LANG_Go:
        return SYM_LANG_GO;
    case DW_LANG_ObjC:
        return SYM_LANG_OBJC;
    case DW_LANG_ObjC_plus_plus:
        return SYM_LANG_OBJCPP;
    case DW_LANG_Rust:
    case DW_LANG_Rust_old:
        return SYM_LANG_RUST;
    case DW_LANG_Swift:
        return SYM_LANG_SWIFT;
    default:
        return SYM_LANG_UNKNOWN;
    }
}


/* Bytes of [low, high), up to the field's maximum. */
static uint32_t
size_of(uint64_t low, uint64_t high)
{
    return high - low > UINT32_MAX ? UINT32_MAX : (uint32_t) (high - low);
}


/* Adds a statement: addresses for which atos shows another line. */
static sym_status_t
keep_statement(sym_dw_walker_t *w, sym_statement_t s)
{
    sym_dw_record_t *r = &w->record;
    sym_statement_t *last =
        r->n_statements != 0 ? &r->statements[r->n_statements - 1] : NULL;

    if (last != NULL && last->addr + last->size == s.addr
        && last->file == s.file && last->line == s.line)
    {
        last->size += s.size;
        return SYM_OK;
    }

    if (sym_dw_spend(&w->x, SYM_DWARF_SEGMENT_PRICE, w->err) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_DW_ROOM(r->statements, r->n_statements, r->statements_size)) {
        return sym_dw_out_of_memory(w);
    }

    r->statements[r->n_statements++] = s;
    return SYM_OK;
}


/* The row that atos shows for addr, which is in the sequence of w->place. */
static const sym_dw_row_t *
statement_at(sym_dw_walker_t *w, uint64_t addr)
{
    const sym_dw_sequence_t *s = &w->lines.sequences[w->place.sequence];
    const sym_dw_row_t *rows = w->lines.statements.items;
    size_t at = w->statement;

    if (at < s->first_statement || at >= s->end_statement
        || rows[at].addr > addr) {
        at = sym_dw_row_at(&w->lines.statements, s->first_statement,
                           s->end_statement, addr);
    }

    while (at + 1 < s->end_statement && rows[at + 1].addr <= addr) {
        at++;
    }

    w->statement = at;
    return at < s->end_statement && rows[at].addr <= addr ? &rows[at] : NULL;
}


/* Adds statements up to `high` for which atos shows another line than the
   segment. */
static sym_status_t
add_statement(sym_dw_walker_t *w, const sym_segment_t *segment, uint64_t high)
{
    sym_statement_t s = { .addr = segment->addr,
                          .size = size_of(segment->addr, high),
                          .file = SYM_NO_STRING };
    const sym_dw_row_t *row =
        w->place.found != NULL ? statement_at(w, segment->addr) : NULL;

    if (row != NULL && sym_dw_unit_lines_file(w, row->file, &s.file) != SYM_OK)
    {
        return w->err->status;
    }

    s.line = s.file != SYM_NO_STRING ? row->line : 0;
    return s.file == segment->file && s.line == segment->line
               ? SYM_OK
               : keep_statement(w, s);
}


/* A function without rows, such as an outlined one: atos shows the line at the
 * end of the unit's lines. */
static sym_status_t
place_at_end(sym_dw_walker_t *w)
{
    const sym_dw_record_t *r = &w->record;
    sym_statement_t s = { .addr = (uint32_t) r->low,
                          .size = size_of(r->low, r->high),
                          .line = w->lines.end_line };

    if (sym_dw_unit_lines_file(w, w->lines.end_file, &s.file) != SYM_OK) {
        return w->err->status;
    }

    return s.file == SYM_NO_STRING ? SYM_OK : keep_statement(w, s);
}


static sym_status_t
keep_stretch(sym_dw_walker_t *w, uint64_t low, uint64_t high)
{
    if (w->n_stretches != 0 && w->stretches[w->n_stretches - 1].high == low) {
        w->stretches[w->n_stretches - 1].high = high;
        return SYM_OK;
    }

    if (!SYM_DW_ROOM(w->stretches, w->n_stretches, w->stretches_size)) {
        return sym_dw_out_of_memory(w);
    }

    w->stretches[w->n_stretches++] = (sym_dw_stretch_t){ low, high };
    return SYM_OK;
}


static sym_dwarf_symbol_t
symbol_at(const sym_dw_walker_t *w, uint64_t addr)
{
    return w->in->symbol != NULL
               ? w->in->symbol(w->in->symbol_ctx, addr + w->in->image_base)
               : (sym_dwarf_symbol_t){ .end = UINT64_MAX };
}


/*
 * The symbol that covers addr, without a name if it does not belong to the
 * function: one of the function's ranges must begin at the symbol.  A symbol
 * without a size may cover functions whose symbols were stripped, and a symbol
 * inside a range is an assembler label.
 */
static sym_dwarf_symbol_t
symbol_of(const sym_dw_walker_t *w, uint64_t addr, sym_dw_call_t *function)
{
    sym_dwarf_symbol_t s = symbol_at(w, addr);

    if (s.name.len == 0) {
        return s;
    }

    if (s.begin == addr + w->in->image_base && function->range == addr) {
        function->symbol = s.begin;
    } else if (s.begin != function->symbol) {
        s.name.len = 0;
    }

    return s;
}


/* Passes the current record to the shard. */
static sym_status_t
flush(sym_dw_walker_t *w)
{
    sym_dw_record_t *r = &w->record;
    uint16_t language;
    sym_status_t rc;

    if (!r->is_open) {
        return SYM_OK;
    }

    r->is_open = false;
    if (!r->has_row && w->in->has_statements && place_at_end(w) != SYM_OK) {
        return w->err->status;
    }

    language =
        r->root != SYM_DW_NONE ? w->calls[r->root].language : w->u.language;
    rc = sym_shard_function(
        w->part, &(sym_flat_function_t){ .addr = (uint32_t) r->low,
                                         .size = size_of(r->low, r->high),
                                         .lang = language_of(language),
                                         .nodes = r->nodes,
                                         .n_nodes = r->n_nodes,
                                         .segments = r->segments,
                                         .n_segments = r->n_segments,
                                         .statements = r->statements,
                                         .n_statements = r->n_statements });
    if (rc != SYM_OK) {
        return sym_dw_fatal(w, rc);
    }

    return r->root == SYM_DW_NONE ? SYM_OK : keep_stretch(w, r->low, r->high);
}


/* True if another part of the function begins at low, as main after
 * main.cold: a range of the function begins there, and another symbol than
 * the record's. */
static bool
is_renamed(const sym_dw_walker_t *w, uint64_t low)
{
    const sym_dw_record_t *r = &w->record;
    const uint64_t addr = low + w->in->image_base;
    sym_dwarf_symbol_t s;

    if (r->symbol.name.len == 0 || addr < r->symbol.end
        || w->calls[r->root].range != low)
    {
        return false;
    }

    s = symbol_at(w, low);
    return s.name.len != 0 && s.begin == addr
           && !sym_str_eq(s.name, r->symbol.name);
}


static sym_status_t
begin(sym_dw_walker_t *w, uint64_t low, uint32_t root)
{
    sym_dw_record_t *r = &w->record;

    if (sym_dw_spend(&w->x, SYM_DWARF_RECORD_PRICE, w->err) != SYM_OK) {
        return w->err->status;
    }

    r->is_open = true;
    r->has_row = false;
    r->root = root;
    r->number++;
    r->low = r->high = low;
    r->symbol = root == SYM_DW_NONE ? symbol_at(w, low)
                                    : symbol_of(w, low, &w->calls[root]);
    r->n_nodes = r->n_segments = r->n_statements = 0;
    return SYM_OK;
}


/* Adds the lines of [low, high) to the node. */
static sym_status_t
add_lines(sym_dw_walker_t *w, uint64_t low, uint64_t high, uint32_t node)
{
    w->record.high = high;

    while (low < high) {
        sym_segment_t s = { .addr = (uint32_t) low,
                            .node = node,
                            .file = SYM_NO_STRING };

        sym_dw_unit_lines_seek(w, low);
        if (w->place.found != NULL) {
            w->record.has_row = true;
            s.line = w->place.found->line;
            if (sym_dw_unit_lines_file(w, w->place.found->file, &s.file)
                != SYM_OK) {
                return w->err->status;
            }
        }

        if (s.file == SYM_NO_STRING) {
            s.line = 0;
        }

        if (add_segment(w, s) != SYM_OK
            || (w->in->has_statements
                && add_statement(w, &s,
                                 high < w->place.until ? high : w->place.until)
                       != SYM_OK))
        {
            return w->err->status;
        }
        low = w->place.until;
    }

    return SYM_OK;
}


/*
 * The record's symbol is preferred, as by LLVM's tools.  It contains more than
 * an entry without a linkage name, it names the kind of a specialized copy
 * (.constprop.0, .part.1, .cold), and for C's aliases it is the public name.
 */
static sym_status_t
name_node(sym_dw_walker_t *w, const sym_dw_call_t *call, uint32_t *id)
{
    sym_str_t symbol = w->record.symbol.name;

    if (call->parent == SYM_DW_NONE && symbol.len != 0) {
        return sym_dw_name_text(&w->names, symbol, false, id, w->err);
    }

    return sym_dw_name_of(&w->names, &w->u, call->named_in, call->named_at, id,
                          w->err);
}


/* Makes the node of a call whose parent already has a node.  A function other
 * than the record's is replaced by the record's function. */
static sym_status_t
make_node(sym_dw_walker_t *w, sym_dw_call_t *call)
{
    sym_flat_node_t node = { .call_file = SYM_NO_STRING };
    sym_dw_call_t *root = &w->calls[w->record.root];
    sym_status_t rc;

    if (call->parent == SYM_DW_NONE && call != root) {
        if (root->record != w->record.number && make_node(w, root) != SYM_OK) {
            return w->err->status;
        }
        call->node = root->node;
        call->record = root->record;
        return SYM_OK;
    }

    rc = name_node(w, call, &node.name);
    if (rc != SYM_OK) {
        return sym_dw_fatal(w, rc);
    }

    if (call->parent != SYM_DW_NONE) {
        node.parent = w->calls[call->parent].node;
        node.call_line = call->call_line;
        if (sym_dw_unit_lines_file(w, call->call_file, &node.call_file)
            != SYM_OK) {
            return w->err->status;
        }
    }

    call->node = (uint32_t) w->record.n_nodes;
    call->record = w->record.number;
    return add_node(w, node);
}


/* The node of a call in the current record; its callers' nodes are made
   first. */
static sym_status_t
find_node(sym_dw_walker_t *w, uint32_t call, uint32_t *node)
{
    uint32_t way[SYM_INLINE_DEPTH_MAX + 1];
    size_t n = 0;

    for (uint32_t at = call;
         at != SYM_DW_NONE && w->calls[at].record != w->record.number;
         at = w->calls[at].parent)
    {
        way[n++] = at;
    }

    while (n > 0) {
        if (make_node(w, &w->calls[way[--n]]) != SYM_OK) {
            return w->err->status;
        }
    }

    *node = w->calls[call].node;
    return SYM_OK;
}


sym_status_t
sym_dw_emit(sym_dw_walker_t *w, uint64_t low, uint64_t high, uint32_t call,
            uint32_t root)
{
    sym_dw_record_t *r = &w->record;
    uint32_t node;

    if (r->is_open && (r->root != root || r->high != low || is_renamed(w, low))
        && flush(w) != SYM_OK)
    {
        return w->err->status;
    }

    if (!r->is_open && begin(w, low, root) != SYM_OK) {
        return w->err->status;
    }

    if (find_node(w, call, &node) != SYM_OK) {
        return w->err->status;
    }

    return add_lines(w, low, high, node);
}


/* --- code without a function --- */

/* Passes a record of [low, high), named by its symbol, or without a name. */
static sym_status_t
emit_nameless(sym_dw_walker_t *w, uint64_t low, uint64_t high)
{
    sym_flat_node_t node = { .name = SYM_NO_STRING,
                             .call_file = SYM_NO_STRING };
    sym_error_t err = { 0 };
    sym_str_t name;

    if (begin(w, low, SYM_DW_NONE) != SYM_OK) {
        return w->err->status;
    }

    name = w->record.symbol.name;
    if (name.len != 0
        && sym_dw_name_text(&w->names, name, false, &node.name, &err) != SYM_OK)
    {
        return sym_dw_fatal(w, err.status);
    }

    if (add_node(w, node) != SYM_OK || add_lines(w, low, high, 0) != SYM_OK) {
        return w->err->status;
    }

    return flush(w);
}


/* Splits [low, high) where symbols begin and end. */
static sym_status_t
emit_hole(sym_dw_walker_t *w, uint64_t low, uint64_t high)
{
    const uint64_t base = w->in->image_base;

    while (low < high) {
        uint64_t end = symbol_at(w, low).end, to = high;

        if (end > low + base && end - base < high) {
            to = end - base;
        }

        if (emit_nameless(w, low, to) != SYM_OK) {
            return w->err->status;
        }
        low = to;
    }

    return SYM_OK;
}


/* The first of n ranges that ends above addr. */
static size_t
stretch_at(const sym_dw_stretch_t *stretches, size_t n, uint64_t addr)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (stretches[middle].high <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


static int
compare_stretches(const void *a, const void *b)
{
    const sym_dw_stretch_t *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}


/* The ranges that the unit declares.  A unit without ranges owns all
 * addresses. */
static sym_status_t
read_own(sym_dw_walker_t *w)
{
    const sym_dw_open_t *whole = sym_dw_whole(w);
    const uint64_t base = w->in->image_base;

    w->n_own = 0;
    if (sym_dw_ranges_of(&w->ranges, &w->x, whole, &whole->root, w->err)
        != SYM_OK) {
        return w->err->status;
    }

    for (size_t i = 0; i < w->ranges.n; i++) {
        if (sym_dw_is_below(w->in, w->ranges.items[i].low)) {
            continue;
        }

        if (!SYM_DW_ROOM(w->own, w->n_own, w->own_size)) {
            return sym_dw_out_of_memory(w);
        }
        w->own[w->n_own++] =
            (sym_dw_stretch_t){ w->ranges.items[i].low - base,
                                w->ranges.items[i].high - base };
    }

    if (w->n_own != 0) {
        qsort(w->own, w->n_own, sizeof(*w->own), compare_stretches);
    }

    return SYM_OK;
}


/* End of the unit's own range that contains addr; 0: none contains it. */
static uint64_t
own_end(const sym_dw_walker_t *w, uint64_t addr)
{
    size_t at = stretch_at(w->own, w->n_own, addr);

    if (w->n_own == 0) {
        return UINT64_MAX;
    }

    return at < w->n_own && w->own[at].low <= addr ? w->own[at].high : 0;
}


/*
 * Handles rows of a sequence that begin outside all functions.  Rows that only
 * continue after a function are padding.  For atos, rows that are not
 * statements are padding, too.
 */
static sym_status_t
emit_sequence(sym_dw_walker_t *w, const sym_dw_sequence_t *s)
{
    const bool is_atos = w->in->has_statements;
    const sym_dw_row_t *rows =
        is_atos ? w->lines.statements.items : w->lines.rows.items;
    const size_t last = is_atos ? s->end_statement : s->end;
    size_t at = stretch_at(w->stretches, w->n_stretches, s->low);
    uint64_t done = 0;

    for (size_t i = is_atos ? s->first_statement : s->first; i < last; i++) {
        uint64_t addr = rows[i].addr, end = own_end(w, addr);

        while (at < w->n_stretches && w->stretches[at].high <= addr) {
            at++;
        }

        if (addr < done || end == 0
            || (at < w->n_stretches && w->stretches[at].low <= addr))
        {
            continue;
        }

        end = end < s->high ? end : s->high;
        if (at < w->n_stretches && w->stretches[at].low < end) {
            end = w->stretches[at].low;
        }

        if (end > addr && emit_hole(w, addr, end) != SYM_OK) {
            return w->err->status;
        }
        done = end;
    }

    return SYM_OK;
}


sym_status_t
sym_dw_emit_end(sym_dw_walker_t *w)
{
    uint64_t done = 0;

    if (flush(w) != SYM_OK || w->lines.n_sequences == 0
        || !sym_dw_unit_lines_own(w) || read_own(w) != SYM_OK)
    {
        return w->err->status;
    }

    for (size_t i = 0; i < w->lines.n_sequences; i++) {
        const sym_dw_sequence_t *s = &w->lines.sequences[i];

        /* a sequence that overlaps an earlier one is skipped */
        if (s->low >= done && emit_sequence(w, s) != SYM_OK) {
            return w->err->status;
        }
        done = s->high > done ? s->high : done;
    }

    return SYM_OK;
}
