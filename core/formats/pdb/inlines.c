/*
 * inlines.c - code ranges and call sites of the calls inlined in a procedure.
 *
 * The annotations of a call also cover the code of the calls nested in it,
 * where their lines are the call sites of the nested calls.
 */
#include <stdlib.h>

#include "formats/pdb/annotations.h"
#include "formats/pdb/reader.h"

/* Slots of the cache of names; a power of two. */
#define NAMES ((uint32_t) 8192)

/* Nodes of a call that are searched for an equal one; more are rare, because a
 * call has few call sites. */
#define NODES_COMPARED 8


static int
compare_inlines(const void *a, const void *b)
{
    const sym_pdb_inline_t *x = a, *y = b;

    if (x->linked != y->linked) {
        return x->linked < y->linked ? -1 : 1;
    }

    return x->depth < y->depth ? -1 : x->depth > y->depth;
}


static void
sort_inlines(sym_pdb_inline_t *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (compare_inlines(&items[i - 1], &items[i]) > 0) {
            qsort(items, n, sizeof(*items), compare_inlines);
            return;
        }
    }
}


/* Ranges of one call lie together; this is the order of all.  False: out of
 * memory. */
static bool
order_inlines(sym_pdb_reader_t *r)
{
    if (!SYM_PDB_ROOM(r->order, r->n_inlines, r->order_size)) {
        return false;
    }

    for (size_t i = 0; i < r->n_inlines; i++) {
        const sym_pdb_inline_t *in = &r->inlines[i];

        r->order[i] =
            (sym_sort_item_t){ (uint64_t) in->linked << 32 | in->depth,
                               (uint32_t) i };
    }

    return sym_sort(r->order, r->n_inlines);
}


/* SYM_NOT_FOUND: the id is not a function's. */
static sym_status_t
name_of(sym_pdb_reader_t *r, uint32_t id, uint32_t *name)
{
    sym_status_t rc = sym_pdb_reader_index(r, id, &id);
    const uint32_t slot = id & (NAMES - 1);
    sym_str_t text;

    if (rc != SYM_OK) {
        return rc;
    }

    if (r->names == NULL) {
        r->names = calloc(NAMES, sizeof(*r->names));
        if (r->names == NULL) {
            return SYM_NOMEM;
        }
    }

    if (r->names[slot].name != 0 && r->names[slot].id == id) {
        *name = r->names[slot].name - 1;
        return SYM_OK;
    }

    rc = sym_pdb_types_inlinee_name(r->scratch, id, &text);
    rc = rc != SYM_OK ? rc : sym_pdb_spend(r, text.len);
    rc = rc != SYM_OK ? rc : sym_shard_string(r->shard, text, false, name);
    if (rc == SYM_OK) {
        r->names[slot].id = id;
        r->names[slot].name = *name + 1;
    }

    return rc;
}


/* --- call sites --- */

/* The range of the caller's code that covers the address, otherwise the next
 * one, otherwise the last.  Most often it is the one found last, or the one
 * after that. */
static const sym_pdb_inline_t *
caller_at(const sym_pdb_reader_t *r, sym_pdb_site_t *caller, uint32_t linked)
{
    const sym_pdb_inline_t *code = &r->inlines[caller->first];
    size_t low = caller->last, high = caller->n;

    low += low + 1 < high && code[low].end <= linked;
    if (linked >= code[low].linked && linked < code[low].end) {
        caller->last = low;
        return &code[low];
    }

    for (low = 0; low < high;) {
        size_t middle = low + (high - low) / 2;

        if (code[middle].end <= linked) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    caller->last = low < caller->n ? low : caller->n - 1;
    return &code[caller->last];
}


static sym_status_t
call_in_procedure(sym_pdb_reader_t *r, const sym_pdb_chunk_t *c,
                  uint32_t linked, sym_flat_node_t *node)
{
    const sym_pdb_line_t *line;
    sym_status_t rc;

    if (c->table == NULL) {
        return SYM_OK;
    }

    line = &r->lines.lines[sym_pdb_lines_at(&r->lines, c->table, linked)];
    rc = sym_pdb_reader_file(r, line->file, &node->call_file);
    node->call_line = rc == SYM_OK ? line->line : 0;
    return rc == SYM_NOMEM ? rc : SYM_OK;
}


/* The node of a call for code at that address; `first` is the first node of the
 * call. */
static sym_status_t
find_node(sym_pdb_reader_t *r, const sym_pdb_site_t *site,
          const sym_pdb_chunk_t *c, uint32_t linked, uint32_t name,
          size_t first, uint32_t *node)
{
    sym_flat_node_t want = { .name = name, .call_file = SYM_NO_STRING };
    size_t compared = 0;

    if (site->parent == SYM_PDB_NONE) {
        if (call_in_procedure(r, c, linked, &want) != SYM_OK) {
            return SYM_NOMEM;
        }
    } else {
        const sym_pdb_inline_t *at =
            caller_at(r, &r->sites[site->parent], linked);

        want.parent = at->node;
        want.call_file = at->file;
        want.call_line = at->line;
    }

    for (size_t i = r->n_nodes; i > first && compared < NODES_COMPARED; i--) {
        const sym_flat_node_t *n = &r->nodes[i - 1];

        if (n->parent == want.parent && n->call_file == want.call_file
            && n->call_line == want.call_line)
        {
            *node = (uint32_t) i - 1;
            return SYM_OK;
        }
        compared++;
    }

    if (!SYM_PDB_ROOM(r->nodes, r->n_nodes + 1, r->nodes_size)) {
        return SYM_NOMEM;
    }

    *node = (uint32_t) r->n_nodes;
    r->nodes[r->n_nodes++] = want;
    return SYM_OK;
}


/* --- the code of one call --- */

/* Appends a range, clipped to its chunk; its node is set later. */
static sym_status_t
add_range(sym_pdb_reader_t *r, const sym_pdb_site_t *site,
          const sym_pdb_range_t *range)
{
    const sym_pdb_chunk_t *c;
    sym_pdb_inline_t in = { .depth = site->depth, .line = range->line };
    sym_pdb_inline_t *last;
    sym_status_t rc;

    if (range->chunk >= r->n_chunks || range->size == 0) {
        return SYM_OK;
    }

    c = &r->chunks[range->chunk];
    if (range->offset >= c->end - c->linked) {
        return SYM_OK;
    }

    in.linked = c->linked + range->offset;
    in.end =
        range->size < c->end - in.linked ? in.linked + range->size : c->end;
    rc = sym_pdb_reader_file(r, range->file, &in.file);
    if (rc != SYM_OK) {
        return rc;
    }

    last = r->n_inlines > site->first ? &r->inlines[r->n_inlines - 1] : NULL;
    if (last != NULL && last->end == in.linked && last->file == in.file
        && last->line == in.line)
    {
        last->end = in.end;
        return SYM_OK;
    }

    if (!SYM_PDB_ROOM(r->inlines, r->n_inlines + 1, r->inlines_size)) {
        return SYM_NOMEM;
    }

    r->inlines[r->n_inlines++] = in;
    return SYM_OK;
}


static sym_status_t
read_ranges(sym_pdb_reader_t *r, sym_pdb_site_t *site)
{
    sym_pdb_annotations_t a;
    sym_pdb_range_t range;
    uint32_t file, line;
    sym_status_t rc = SYM_OK;

    if (!sym_pdb_lines_inlinee(&r->lines, site->id, &file, &line)) {
        return SYM_NOT_FOUND;
    }

    sym_pdb_annotations_begin(&a, site->annotations, file, line);
    while (rc == SYM_OK && sym_pdb_annotations_next(&a, &range)) {
        rc = add_range(r, site, &range);
    }

    return rc;
}


static const sym_pdb_chunk_t *
chunk_of(const sym_pdb_reader_t *r, uint32_t linked)
{
    size_t i = 0;

    while (linked < r->chunks[i].linked || linked >= r->chunks[i].end) {
        i++;
    }

    return &r->chunks[i];
}


static sym_status_t
read_site(sym_pdb_reader_t *r, sym_pdb_site_t *site)
{
    const size_t first = r->n_nodes;
    uint32_t name;
    sym_status_t rc;

    site->first = r->n_inlines;
    site->n = site->last = 0;

    if (site->depth > SYM_INLINE_DEPTH_MAX
        || (site->parent != SYM_PDB_NONE && r->sites[site->parent].n == 0))
    {
        return SYM_OK;
    }

    rc = name_of(r, site->id, &name);
    rc = rc != SYM_OK ? rc : read_ranges(r, site);
    if (rc != SYM_OK) {
        r->n_inlines = site->first; /* it has no name, or no file */
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    site->n = r->n_inlines - site->first;
    if (site->n == 0) {
        return SYM_OK;
    }

    sort_inlines(&r->inlines[site->first], site->n);

    for (size_t i = site->first; i < r->n_inlines; i++) {
        sym_pdb_inline_t *in = &r->inlines[i];

        if (find_node(r, site, chunk_of(r, in->linked), in->linked, name, first,
                      &in->node)
            != SYM_OK)
        {
            return SYM_NOMEM;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_pdb_read_inlines(sym_pdb_reader_t *r)
{
    sym_status_t rc = SYM_OK;

    r->n_inlines = 0;
    for (size_t i = 0; i < r->n_sites && rc == SYM_OK; i++) {
        rc = read_site(r, &r->sites[i]);
    }

    return rc == SYM_OK && !order_inlines(r) ? SYM_NOMEM : rc;
}
