/*
 * inlines.c - code ranges and call sites of the calls inlined in a procedure.
 *
 * The annotations of a call also cover the code of the calls nested in it.
 * There, the lines are the call sites of the nested calls.
 */
#include <stdlib.h>

#include "formats/pdb/annotations.h"
#include "formats/pdb/reader.h"

/* Slots of the caches: powers of two. */
#define NAMES ((uint32_t) 8192)
#define CALLEES ((uint32_t) 1024)

/* How many enclosing calls are searched for a file, nearest first. */
#define CALLERS_ASKED 8

/* Name in the cache for an id that is not a function's. */
#define NO_NAME UINT32_MAX

/* Number of a call's nodes that are compared with a new one.  More are rare,
 * because a call has few call sites. */
#define NODES_COMPARED 8


static int
compare_inlines(const void *a, const void *b)
{
    const sym_pdb_inline_t *x = a, *y = b;

    if (x->linked != y->linked) {
        return x->linked < y->linked ? -1 : 1;
    }

    return x->node < y->node ? -1 : x->node > y->node;
}


/* Sorts stably: qsort() need not keep the order of ranges at one address. */
static void
order_ranges(sym_pdb_inline_t *ranges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ranges[i].node = i;
    }

    qsort(ranges, n, sizeof(*ranges), compare_inlines);

    for (uint32_t i = 0; i < n; i++) {
        ranges[i].node = 0;
    }
}


/* Sorts all ranges stably by address.  At first they are in the order of their
 * calls.  False: out of memory. */
static bool
order_inlines(sym_pdb_reader_t *r)
{
    if (r->n_inlines == 0) {
        return true;
    }

    if (!SYM_ARRAY_ROOM(r->order, 2 * r->n_inlines, r->order_size)) {
        return false;
    }

    for (size_t i = 0; i < r->n_inlines; i++) {
        r->order[i] = (sym_sort_item_t){ r->inlines[i].linked, (uint32_t) i };
    }

    sym_sort_with(r->order, r->n_inlines, r->order + r->n_inlines);
    return true;
}


/* --- inlined functions --- */

void
sym_pdb_forget_names(sym_pdb_reader_t *r)
{
    if (r->names != NULL) {
        memset(r->names, 0, NAMES * sizeof(*r->names));
    }
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
        return r->names[slot].name != NO_NAME ? SYM_OK : SYM_NOT_FOUND;
    }

    rc = sym_pdb_types_inlinee_name(r->scratch, id, &text);
    if (sym_pdb_spend(r, text.len) != SYM_OK) {
        return SYM_LIMIT;
    }

    rc = rc != SYM_OK ? rc : sym_shard_string(r->shard, text, false, name);
    if (rc == SYM_OK || rc == SYM_NOT_FOUND) {
        r->names[slot].id = id;
        r->names[slot].name = rc == SYM_OK ? *name + 1 : NO_NAME;
    }

    return rc;
}


/* A module inlines the same functions many times, so their names are cached.
 * SYM_NOT_FOUND: the function has no name, or no file. */
static sym_status_t
find_callee(sym_pdb_reader_t *r, uint32_t id, const sym_pdb_callee_t **found)
{
    sym_pdb_callee_t *callee, read = { .id = id, .module = r->module };
    sym_status_t rc;

    if (r->callees == NULL) {
        r->callees = calloc(CALLEES, sizeof(*r->callees));
        if (r->callees == NULL) {
            return SYM_NOMEM;
        }
    }

    *found = callee = &r->callees[id & (CALLEES - 1)];
    if (callee->id == id && callee->module == r->module) {
        return SYM_OK;
    }

    rc = name_of(r, id, &read.name);
    if (rc != SYM_OK) {
        return rc;
    }

    if (!sym_pdb_lines_inlinee(&r->lines, id, &read.declared)) {
        return SYM_NOT_FOUND;
    }

    *callee = read;
    return SYM_OK;
}


/* --- call sites --- */

/* The first range of the caller's code that ends above the address, otherwise
 * the last one.  Usually it is the range found before, or the next. */
static const sym_pdb_inline_t *
caller_at(const sym_pdb_reader_t *r, sym_pdb_site_t *caller, uint32_t linked)
{
    const sym_pdb_inline_t *code = &r->inlines[caller->first];
    uint32_t low = caller->last, high = caller->n;

    low += low + 1 < high && code[low].end <= linked;
    if (linked >= code[low].linked && linked < code[low].end) {
        caller->last = low;
        return &code[low];
    }

    /* the last range that follows a range that ends below the address */
    for (low = 0; high > 1; high -= high / 2) {
        low += code[low + high / 2 - 1].end <= linked ? high / 2 : 0;
    }

    caller->last = low;
    return &code[low];
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


/* Sets the source position of the procedure's code at the address; returns
 * where its line ends. */
static sym_status_t
call_in_procedure(sym_pdb_reader_t *r, uint32_t linked, sym_flat_node_t *node,
                  uint32_t *end)
{
    const sym_pdb_chunk_t *c = chunk_of(r, linked);
    const sym_pdb_line_t *line;
    uint32_t at;
    sym_status_t rc;

    node->parent = 0;
    node->call_file = SYM_NO_STRING;
    node->call_line = 0;
    *end = 0;
    if (c->table == NULL) {
        return SYM_OK;
    }

    at = sym_pdb_lines_at(&r->lines, c->table, linked);
    line = &r->lines.lines[at];
    if (at + 1 < c->table->first + c->table->n && r->n_chunks == 1) {
        *end = line[1].linked;
    }

    rc = sym_pdb_reader_file(r, line->file, &node->call_file);
    node->call_line = rc == SYM_OK ? line->line : 0;
    return rc == SYM_NOMEM ? rc : SYM_OK;
}


/* Adds the node, unless the call has an equal one.  `first` is the call's first
 * node. */
static uint32_t
settle_node(sym_pdb_reader_t *r, size_t first)
{
    const sym_flat_node_t *want = &r->nodes[r->n_nodes];
    size_t compared = 0;

    for (size_t i = r->n_nodes; i > first && compared < NODES_COMPARED; i--) {
        const sym_flat_node_t *n = &r->nodes[i - 1];

        if (n->parent == want->parent && n->call_file == want->call_file
            && n->call_line == want->call_line)
        {
            return (uint32_t) i - 1;
        }
        compared++;
    }

    return (uint32_t) r->n_nodes++;
}


/* Sets the nodes of a call's code. */
static sym_status_t
find_nodes(sym_pdb_reader_t *r, const sym_pdb_site_t *site, uint32_t name)
{
    const size_t first = r->n_nodes;
    sym_pdb_inline_t *in = &r->inlines[site->first], *const last = in + site->n;
    uint32_t node = 0, end = 0; /* code before `end` has this node, too */

    if (!SYM_ARRAY_ROOM(r->nodes, r->n_nodes + site->n, r->nodes_size)) {
        return SYM_NOMEM;
    }

    for (; in < last; in++) {
        sym_flat_node_t *want = &r->nodes[r->n_nodes];

        if (in->linked < end) {
            in->node = node;
            continue;
        }

        want->name = name;
        if (site->parent == SYM_PDB_NONE) {
            if (call_in_procedure(r, in->linked, want, &end) != SYM_OK) {
                return SYM_NOMEM;
            }
        } else {
            const sym_pdb_inline_t *at =
                caller_at(r, &r->sites[site->parent], in->linked);

            want->parent = at->node;
            want->call_file = at->file;
            want->call_line = at->line;
            end = in->linked >= at->linked ? at->end : 0;
        }

        in->node = node = settle_node(r, first);
    }

    return SYM_OK;
}


/* --- the code of one call --- */

/* Appends the ranges, clipped to their chunks; their nodes are set later. */
static sym_status_t
add_ranges(sym_pdb_reader_t *r, sym_pdb_site_t *site,
           const sym_pdb_range_t *range, size_t n)
{
    sym_pdb_inline_t none = { .file = SYM_NO_STRING }, *last = &none;
    size_t n_inlines = r->n_inlines;
    bool is_sorted = true;
    uint32_t file;

    if (!SYM_ARRAY_ROOM(r->inlines, n_inlines + n, r->inlines_size)) {
        return SYM_NOMEM;
    }

    for (; n > 0; n--, range++) {
        const uint32_t size = sym_pdb_range_size(range);
        const sym_pdb_chunk_t *c;
        uint32_t linked, end;
        sym_status_t rc;

        if (range->place.chunk >= r->n_chunks || size == 0) {
            continue;
        }

        c = &r->chunks[range->place.chunk];
        if (range->offset >= c->end - c->linked) {
            continue;
        }

        linked = c->linked + range->offset;
        end = size < c->end - linked ? linked + size : c->end;
        rc = sym_pdb_reader_file(r, range->place.file, &file);
        if (rc != SYM_OK) {
            return rc;
        }

        /* a single branch, which is rarely taken */
        if (((last->end ^ linked) | (last->file ^ file)
             | (last->line ^ range->line))
            == 0)
        {
            last->end = end;
            continue;
        }

        is_sorted = is_sorted && last->linked <= linked;
        last = &r->inlines[n_inlines++];
        *last = (sym_pdb_inline_t){ linked, end,  site->depth,
                                    0,      file, range->line };
    }

    site->n = (uint32_t) (n_inlines - site->first);
    if (!is_sorted) {
        order_ranges(&r->inlines[site->first], site->n);
    }

    r->n_inlines = n_inlines;
    return SYM_OK;
}


/*
 * Several functions may have the id of a call.  A static function is visible
 * only in its own file.  So the right one is in the file of the nearest caller
 * whose file declares one of them.
 */
static void
choose_namesake(const sym_pdb_reader_t *r, const sym_pdb_site_t *site,
                sym_pdb_inlinee_t *declared)
{
    const sym_pdb_table_t *table = r->chunks[0].table;
    uint32_t caller = site->parent;

    for (size_t i = 0; i < CALLERS_ASKED && caller != SYM_PDB_NONE; i++) {
        const uint32_t file = r->sites[caller].file;

        if (sym_pdb_lines_inlinee_in(&r->lines, site->id, file, declared)) {
            return;
        }
        caller = r->sites[caller].parent;
    }

    if (table != NULL) {
        (void) sym_pdb_lines_inlinee_in(
            &r->lines, site->id, r->lines.lines[table->first].file, declared);
    }
}


static sym_status_t
read_ranges(sym_pdb_reader_t *r, sym_pdb_site_t *site,
            const sym_pdb_callee_t *callee)
{
    const size_t room = SYM_PDB_RANGES_ROOM(site->annotations.len);
    sym_pdb_inlinee_t declared = callee->declared;

    if (!SYM_ARRAY_ROOM(r->ranges, room, r->ranges_size)) {
        return SYM_NOMEM;
    }

    if (declared.has_namesakes) {
        choose_namesake(r, site, &declared);
    }

    site->file = declared.file;
    return add_ranges(r, site, r->ranges + 1,
                      sym_pdb_annotations_read(site->annotations, declared.file,
                                               declared.line, r->ranges));
}


static sym_status_t
read_site(sym_pdb_reader_t *r, sym_pdb_site_t *site)
{
    const sym_pdb_callee_t *callee;
    sym_status_t rc;

    site->first = (uint32_t) r->n_inlines;
    site->n = site->last = 0;

    if (site->depth > SYM_INLINE_DEPTH_MAX
        || (site->parent != SYM_PDB_NONE && r->sites[site->parent].n == 0))
    {
        return SYM_OK;
    }

    rc = find_callee(r, site->id, &callee);
    rc = rc != SYM_OK ? rc : read_ranges(r, site, callee);
    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    return site->n != 0 ? find_nodes(r, site, callee->name) : SYM_OK;
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
