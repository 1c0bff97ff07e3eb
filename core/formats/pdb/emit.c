/*
 * emit.c - converts lines and inlined calls of a procedure to segments.
 *
 * If several calls cover an address, the deepest wins.  If none does, the
 * procedure's own line is used.
 */
#include "formats/native/undecorate.h"
#include "formats/pdb/reader.h"

/* Prices of output, in bytes. */
#define FUNCTION_PRICE 64
#define NODE_PRICE 16
#define SEGMENT_PRICE 16
#define LINE_PRICE                                                             \
    4 /* price of each line of a function, even if the line is dropped later */

/* Code ends before this address. */
#define NEVER UINT32_MAX

/* The walk over the code of a chunk. */
typedef struct {
    const sym_pdb_line_t *line, *lines_end;   /* the next line */
    uint32_t file, line_number;               /* current position in the
                                                 procedure itself */
    const sym_sort_item_t *order, *order_end; /* the next inlined range */

    /* open inlined ranges, one for each depth */
    const sym_pdb_inline_t *open[SYM_INLINE_DEPTH_MAX];
    size_t n_open;
} walk_t;


static uint32_t
next_line(const walk_t *w)
{
    return w->line != w->lines_end ? w->line->linked : NEVER;
}


static uint32_t
next_inline(const walk_t *w)
{
    return w->order != w->order_end ? (uint32_t) w->order->key : NEVER;
}


static sym_status_t
pass_line(sym_pdb_reader_t *r, walk_t *w)
{
    const sym_pdb_line_t *l = w->line++;
    sym_status_t rc = sym_pdb_reader_file(r, l->file, &w->file);

    w->line_number = rc == SYM_OK ? l->line : 0;
    return rc == SYM_NOMEM ? rc : SYM_OK;
}


/* Opens a call.  No other call is open at its depth. */
static void
open_inline(walk_t *w, const sym_pdb_inline_t *in)
{
    size_t at = w->n_open;

    while (at > 0 && w->open[at - 1]->depth > in->depth) {
        at--;
    }

    if (at > 0 && w->open[at - 1]->depth == in->depth) {
        w->open[at - 1] = in;
        return;
    }

    for (size_t i = w->n_open++; i > at; i--) {
        w->open[i] = w->open[i - 1];
    }
    w->open[at] = in;
}


static sym_segment_t
segment_at(const walk_t *w, uint32_t linked)
{
    const sym_pdb_inline_t *in;

    if (w->n_open == 0) {
        return (sym_segment_t){ linked, 0, w->file, w->line_number };
    }

    in = w->open[w->n_open - 1];
    return (sym_segment_t){ linked, in->node, in->file, in->line };
}


static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}


/* Writes the segments of a chunk, with linked addresses, and returns their end.
 * NULL: out of memory. */
static sym_segment_t *
walk(sym_pdb_reader_t *r, walk_t *w, const sym_pdb_chunk_t *c,
     sym_segment_t *to)
{
    const sym_segment_t *first = to;
    uint32_t line = next_line(w), in = next_inline(w), end;

    for (uint32_t linked = c->linked; linked < c->end; linked = end) {
        while (w->n_open != 0 && w->open[w->n_open - 1]->end <= linked) {
            w->n_open--;
        }

        for (; line <= linked; line = next_line(w)) {
            if (pass_line(r, w) != SYM_OK) {
                return NULL;
            }
        }

        for (; in <= linked; in = next_inline(w)) {
            open_inline(w, &r->inlines[w->order++->at]);
        }

        *to = segment_at(w, linked);
        to += to == first || to[-1].node != to->node || to[-1].file != to->file
              || to[-1].line != to->line;

        end = least(least(line, in), c->end);
        if (w->n_open != 0) {
            end = least(end, w->open[w->n_open - 1]->end);
        }
    }

    return to;
}


static sym_status_t
read_chunk(sym_pdb_reader_t *r, const sym_pdb_chunk_t *c)
{
    walk_t w;
    sym_segment_t *end;
    const sym_pdb_line_t *lines = NULL;
    /* segments begin at the start of the chunk, at a line, and where a call
     * begins or ends */
    size_t room = 1;

    /* not set by an initializer, which would clear 4 KB for each chunk */
    w.file = SYM_NO_STRING;
    w.line_number = 0;
    w.line = w.lines_end = lines;
    w.order = w.order_end = NULL;
    w.n_open = 0;

    if (c->table != NULL) {
        const size_t first = sym_pdb_lines_at(&r->lines, c->table, c->linked);
        const size_t last = (size_t) c->table->first + c->table->n;

        w.line = lines = r->lines.lines + first;
        w.lines_end = r->lines.lines + last;
        room += last - first;
    }

    if (r->n_inlines != 0) {
        const size_t first = sym_sort_find(r->order, r->n_inlines, c->linked);

        w.order = r->order + first;
        w.order_end = r->order + r->n_inlines;
        room += 2 * (r->n_inlines - first);
    }

    if (!SYM_ARRAY_ROOM(r->segments, room, r->segments_size)) {
        return SYM_NOMEM;
    }

    end = walk(r, &w, c, r->segments);
    r->n_segments = end != NULL ? (size_t) (end - r->segments) : 0;
    return end != NULL
               ? sym_pdb_spend(r, (uint64_t) (w.line - lines) * LINE_PRICE)
               : SYM_NOMEM;
}


/* --- parts that OMAP moved --- */

/* Copies the segments of a stretch, with their addresses in the final image. */
static bool
move_segments(sym_pdb_reader_t *r, const sym_pdb_stretch_t *s, size_t *n)
{
    size_t low = 0, high = r->n_segments;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->segments[middle].addr <= s->linked) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    *n = 0;
    for (size_t i = low - 1;
         i < r->n_segments
         && (i < low || r->segments[i].addr - s->linked < s->size);
         i++)
    {
        sym_segment_t *to;

        if (!SYM_ARRAY_ROOM(r->part_segments, *n + 1, r->part_segments_size)) {
            return false;
        }

        to = &r->part_segments[(*n)++];
        *to = r->segments[i];
        to->addr = i < low ? s->addr : s->addr + (to->addr - s->linked);
    }

    return true;
}


/* Copies only the nodes that the part's segments use.  A parent precedes its
 * children. */
static bool
choose_nodes(sym_pdb_reader_t *r, size_t n_segments, size_t *n_nodes)
{
    if (!SYM_ARRAY_ROOM(r->renumbered, r->n_nodes, r->renumbered_size)
        || !SYM_ARRAY_ROOM(r->part_nodes, r->n_nodes, r->part_nodes_size))
    {
        return false;
    }

    memset(r->renumbered, 0, r->n_nodes * sizeof(*r->renumbered));
    r->renumbered[0] = 1;

    for (size_t i = 0; i < n_segments; i++) {
        uint32_t node = r->part_segments[i].node;

        for (; r->renumbered[node] == 0; node = r->nodes[node].parent) {
            r->renumbered[node] = 1;
        }
    }

    *n_nodes = 0;
    for (size_t i = 0; i < r->n_nodes; i++) {
        if (r->renumbered[i] != 0) {
            sym_flat_node_t *to = &r->part_nodes[*n_nodes];

            *to = r->nodes[i];
            to->parent = r->renumbered[to->parent];
            r->renumbered[i] = (uint32_t) (*n_nodes)++;
        }
    }

    r->part_nodes[0].parent = 0;
    for (size_t i = 0; i < n_segments; i++) {
        r->part_segments[i].node = r->renumbered[r->part_segments[i].node];
    }

    return true;
}


/* Charges the budget for a function; for a moved part also for a scan of all
 * nodes. */
static sym_status_t
pay(sym_pdb_reader_t *r, size_t n_segments)
{
    return sym_pdb_spend(r, FUNCTION_PRICE + r->n_nodes * NODE_PRICE
                                + n_segments * SEGMENT_PRICE);
}


static sym_status_t
emit_part(sym_pdb_reader_t *r, const sym_pdb_chunk_t *c,
          const sym_pdb_stretch_t *s)
{
    size_t n_segments, n_nodes;

    if (!move_segments(r, s, &n_segments)
        || !choose_nodes(r, n_segments, &n_nodes)) {
        return SYM_NOMEM;
    }

    if (pay(r, n_segments) != SYM_OK) {
        return SYM_LIMIT;
    }

    return sym_shard_function(
        r->shard, &(sym_flat_function_t){ .addr = s->addr,
                                          .size = s->size,
                                          .lang = r->lang,
                                          .is_generated = c->table == NULL,
                                          .nodes = r->part_nodes,
                                          .n_nodes = n_nodes,
                                          .segments = r->part_segments,
                                          .n_segments = n_segments });
}


static sym_status_t
emit_chunk(sym_pdb_reader_t *r, const sym_pdb_chunk_t *c)
{
    const sym_pdb_addresses_t *addresses = &r->pdb->addresses;
    uint32_t linked = c->linked;
    sym_pdb_stretch_t s;
    sym_status_t rc = read_chunk(r, c);

    rc = rc != SYM_OK ? rc : pay(r, r->n_segments);
    if (rc != SYM_OK) {
        return rc;
    }

    if (r->n_chunks == 1 && addresses->omap.len == 0) {
        return sym_shard_function(
            r->shard, &(sym_flat_function_t){ .addr = c->linked,
                                              .size = c->end - c->linked,
                                              .lang = r->lang,
                                              .is_generated = c->table == NULL,
                                              .nodes = r->nodes,
                                              .n_nodes = r->n_nodes,
                                              .segments = r->segments,
                                              .n_segments = r->n_segments });
    }

    while (rc == SYM_OK && sym_pdb_next_stretch(addresses, &linked, c->end, &s))
    {
        if (s.size <= UINT32_MAX - s.addr) {
            rc = emit_part(r, c, &s);
        }
    }

    return rc;
}


sym_status_t
sym_pdb_emit(sym_pdb_reader_t *r)
{
    sym_str_t text;
    uint32_t name, type = SYM_PDB_NONE;
    sym_status_t rc =
        r->has_types ? sym_pdb_reader_index(r, r->type, &type) : SYM_NOT_FOUND;

    if (rc != SYM_NOMEM) { /* without a type the name has no arguments */
        rc = sym_pdb_types_function_name(r->scratch, r->name, type, r->has_id,
                                         &text);
    }

    if (rc == SYM_OK) {
        text = sym_undecorate(text); /* a C name without a type */
        rc = sym_pdb_spend(r, text.len);
    }

    rc = rc != SYM_OK ? rc : sym_shard_string(r->shard, text, false, &name);
    if (rc != SYM_OK) {
        return rc;
    }

    if (!SYM_ARRAY_ROOM(r->nodes, 1, r->nodes_size)) {
        return SYM_NOMEM;
    }

    r->nodes[0] = (sym_flat_node_t){ .name = name, .call_file = SYM_NO_STRING };
    r->n_nodes = 1;
    r->stats->functions++;
    rc = sym_pdb_read_inlines(r);

    for (size_t i = 0; i < r->n_chunks && rc == SYM_OK; i++) {
        if (r->chunks[i].end > r->chunks[i].linked) {
            rc = emit_chunk(r, &r->chunks[i]);
        }
    }

    return rc;
}
