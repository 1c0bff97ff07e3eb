/*
 * emit.c - converts lines and inlined calls of a procedure to segments.
 *
 * Of several calls that cover an address the deepest counts; where no call
 * covers it, the procedure's own line counts.
 */
#include "formats/native/undecorate.h"
#include "formats/pdb/reader.h"

/* Prices in bytes. */
#define FUNCTION_PRICE 64
#define NODE_PRICE 16
#define SEGMENT_PRICE 16

/* The current position in the lines of a chunk. */
typedef struct {
    uint32_t next, last; /* lines */
    uint32_t file, line; /* of the procedure itself */
} place_t;


static sym_status_t
put_segment(sym_pdb_reader_t *r, uint32_t linked, const place_t *at)
{
    sym_segment_t s = { .addr = linked, .file = at->file, .line = at->line };
    const sym_segment_t *before;

    if (r->n_open != 0) {
        const sym_pdb_inline_t *in = &r->open[r->n_open - 1];

        s.node = in->node;
        s.file = in->file;
        s.line = in->line;
    }

    before = r->n_segments != 0 ? &r->segments[r->n_segments - 1] : NULL;
    if (before != NULL && before->node == s.node && before->file == s.file
        && before->line == s.line)
    {
        return SYM_OK;
    }

    if (!SYM_PDB_ROOM(r->segments, r->n_segments + 1, r->segments_size)) {
        return SYM_NOMEM;
    }

    r->segments[r->n_segments++] = s;
    return SYM_OK;
}


static sym_status_t
pass_line(sym_pdb_reader_t *r, place_t *at)
{
    const sym_pdb_line_t *l = &r->lines.lines[at->next++];
    sym_status_t rc = sym_pdb_reader_file(r, l->file, &at->file);

    at->line = rc == SYM_OK ? l->line : 0;
    return rc == SYM_NOMEM ? rc : SYM_OK;
}


/* Opens a call: of those at its depth it is the only one. */
static sym_status_t
open_inline(sym_pdb_reader_t *r, const sym_pdb_inline_t *in)
{
    size_t low = 0, high = r->n_open;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->open[middle].depth < in->depth) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == r->n_open || r->open[low].depth != in->depth) {
        if (!SYM_PDB_ROOM(r->open, r->n_open + 1, r->open_size)) {
            return SYM_NOMEM;
        }

        memmove(&r->open[low + 1], &r->open[low],
                (r->n_open - low) * sizeof(*r->open));
        r->n_open++;
    }

    r->open[low] = *in;
    return SYM_OK;
}


static void
close_inlines(sym_pdb_reader_t *r, uint32_t linked)
{
    while (r->n_open != 0 && r->open[r->n_open - 1].end <= linked) {
        r->n_open--;
    }
}


/* In their order, the first inlined range that begins at or after an address. */
static size_t
inline_from(const sym_pdb_reader_t *r, uint32_t linked)
{
    size_t low = 0, high = r->n_inlines;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->order[middle].key >> 32 < linked) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}


/* Appends the segments of a chunk, with linked addresses. */
static sym_status_t
read_chunk(sym_pdb_reader_t *r, const sym_pdb_chunk_t *c)
{
    const sym_pdb_line_t *lines = r->lines.lines;
    place_t at = { .file = SYM_NO_STRING };
    size_t in = inline_from(r, c->linked);
    sym_status_t rc = SYM_OK;

    r->n_segments = r->n_open = 0;
    if (c->table != NULL) {
        at.last = c->table->first + c->table->n;
        at.next = sym_pdb_lines_at(&r->lines, c->table, c->linked);
    }

    for (uint32_t linked = c->linked; rc == SYM_OK && linked < c->end;) {
        close_inlines(r, linked);
        while (rc == SYM_OK && at.next < at.last
               && lines[at.next].linked <= linked) {
            rc = pass_line(r, &at);
        }

        for (; rc == SYM_OK && in < r->n_inlines
               && r->order[in].key >> 32 <= linked;
             in++)
        {
            rc = open_inline(r, &r->inlines[r->order[in].at]);
        }

        rc = rc != SYM_OK ? rc : put_segment(r, linked, &at);

        linked =
            at.next < at.last ? least(lines[at.next].linked, c->end) : c->end;
        if (in < r->n_inlines) {
            linked = least(linked, (uint32_t) (r->order[in].key >> 32));
        }
        if (r->n_open != 0) {
            linked = least(linked, r->open[r->n_open - 1].end);
        }
    }

    return rc;
}


/* --- parts that were moved (OMAP) --- */

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

        if (!SYM_PDB_ROOM(r->part_segments, *n + 1, r->part_segments_size)) {
            return false;
        }

        to = &r->part_segments[(*n)++];
        *to = r->segments[i];
        to->addr = i < low ? s->addr : s->addr + (to->addr - s->linked);
    }

    return true;
}


/* Copies only the nodes that the part's segments need.  A parent precedes its
 * children. */
static bool
choose_nodes(sym_pdb_reader_t *r, size_t n_segments, size_t *n_nodes)
{
    if (!SYM_PDB_ROOM(r->renumbered, r->n_nodes, r->renumbered_size)
        || !SYM_PDB_ROOM(r->part_nodes, r->n_nodes, r->part_nodes_size))
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


/* Charges the budget for a function, and for a scan of all nodes if it is a
 * moved part. */
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

    if (rc != SYM_NOMEM) { /* the name without arguments, if there is no type */
        rc = sym_pdb_types_function_name(r->scratch, r->name, type, r->has_id,
                                         &text);
    }

    if (rc == SYM_OK) {
        text = sym_undecorate(text); /* of C, without a type */
        rc = sym_pdb_spend(r, text.len);
    }

    rc = rc != SYM_OK ? rc : sym_shard_string(r->shard, text, false, &name);
    if (rc != SYM_OK) {
        return rc;
    }

    if (!SYM_PDB_ROOM(r->nodes, 1, r->nodes_size)) {
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
