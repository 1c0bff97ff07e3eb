#include "artifacts/symcache/write/nodes.h"

#include <stdlib.h>

#include "artifacts/symcache/write/put_number.h"
#include "base/buffer.h"

/* Slots of the table of twins.  An extent rarely has more distinct calls.  A
 * call that finds no slot is written in full. */
#define TWINS 16384

sym_status_t
sym_nodes_begin(sym_nodes_t *n, uint32_t start, sym_twins_t *twins,
                sym_error_t *err)
{
    n->end = start;
    n->n = 0;
    n->twins = twins;
    n->err = err;

    if (twins->slots == NULL) {
        twins->slots = calloc(TWINS, sizeof(*twins->slots));
        if (twins->slots == NULL) {
            return sym_fail(err, SYM_NOMEM, "no memory for inlined calls");
        }
    }

    twins->extents++;
    return SYM_OK;
}


void
sym_nodes_free(sym_nodes_t *n)
{
    free(n->data);
    n->data = NULL;
    n->size = 0;
}


/* --- positions --- */

/* Bytes for this many nodes, including bytes at the ends of pages that stay
 * unused. */
static sym_status_t
make_room(sym_nodes_t *n, size_t n_nodes)
{
    const uint64_t end =
        n->end + (n_nodes + 1) * (uint64_t) (SYM_NODE_BYTES_MAX + 1) + SYM_PAGE;
    uint8_t *data;

    if (end <= n->size) {
        return SYM_OK;
    }

    if (end / SYM_EXTENTS_LIMIT >= SYM_EXTENTS_LIMIT) {
        return sym_fail(n->err, SYM_LIMIT, "artifact would exceed 4 GiB");
    }

    data = sym_array_grow(n->data, &n->size, (size_t) end, 1);
    if (data == NULL) {
        return sym_fail(n->err, SYM_NOMEM, "no memory for inlined calls");
    }

    n->data = data;
    return SYM_OK;
}


/* Moves to the next page, which may be in the next extent. */
static void
next_page(sym_nodes_t *n)
{
    uint32_t from = n->end;

    n->end = ((n->end + SYM_PAGE_SHIFT) | (SYM_PAGE - 1)) + 1 - SYM_PAGE_SHIFT;
    if (SYM_REF_POS(n->end) >= SYM_EXTENT_MAX) {
        n->end = SYM_REF(SYM_REF_EXTENT(n->end) + 1, 0);
        n->twins->extents++;
    }

    memset(n->data + from, 0, n->end - from);
}


/* Position of the next node.  No node crosses the end of a page, or of an
 * extent, which ends a few bytes before its last page. */
static inline uint32_t
next_place(sym_nodes_t *n)
{
    const uint32_t most = (SYM_EXTENT_MAX + SYM_PAGE_SHIFT) % SYM_PAGE;

    if ((n->end + SYM_PAGE_SHIFT) % SYM_PAGE > most - SYM_NODE_BYTES_MAX) {
        next_page(n);
    }

    return n->end;
}


/* A node's file and first line are those of its first segment, or else of the
 * first call inside it, because most following segments share them. */
static void
find_bases(const sym_block_function_t *f, sym_node_place_t *places)
{
    memset(places, 0, f->n_nodes * sizeof(*places));

    for (size_t i = f->n_segments; i-- > 0;) {
        const sym_segment_t *s = &f->segments[i];

        if (s->file != 0) {
            places[s->node].file = s->file;
            places[s->node].line = s->line;
        }
    }

    for (size_t i = 1; i < f->n_nodes; i++) {
        sym_node_place_t *p = &places[f->nodes[i].parent];

        if (p->file == 0) {
            p->file = f->nodes[i].call_file;
        }
    }
}


/* --- nodes --- */

static bool
is_same(const sym_shared_node_t *a, const sym_shared_node_t *b)
{
    return ((a->name ^ b->name) | (a->call_line ^ b->call_line)
            | (a->call_file ^ b->call_file) | (a->file ^ b->file)
            | (a->parent_file ^ b->parent_file) | (a->extent ^ b->extent))
           == 0;
}


/*
 * The slot of a call equal to `want`, or a free slot for it.  Probes few slots.
 * NULL: neither was found, and the call is written again.
 */
static sym_shared_node_t *
find_twin(const sym_twins_t *twins, const sym_shared_node_t *want)
{
    uint64_t h =
        ((uint64_t) want->name << 32 | want->call_line) * 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < 8; i++) {
        sym_shared_node_t *t = &twins->slots[(h >> 40 & (TWINS - 1)) ^ i];

        if (is_same(t, want) || t->extent != want->extent) {
            return t;
        }
    }

    return NULL;
}


static uint8_t *
put_function(uint8_t *p, const sym_block_function_t *f,
             const sym_node_place_t *place)
{
    const uint32_t name = f->nodes[0].name;

    *p++ = (uint8_t) (SYM_NODE_FUNCTION | (f->is_public ? SYM_NODE_PUBLIC : 0)
                      | sym_wide_code(name) << 4);
    *p++ =
        (uint8_t) (sym_thin_code(place->file) | sym_thin_code(place->line) << 2
                   | sym_thin_code(f->size) << 4);
    *p++ = f->lang;
    p = sym_put_number(p, f->addr, 4);
    p = sym_put_thin(p, f->size);
    p = sym_put_wide(p, name);
    p = sym_put_thin(p, place->file);
    return sym_put_thin(p, place->line);
}


static uint8_t *
put_call(uint8_t *p, const sym_shared_node_t *self, uint32_t distance)
{
    const bool has_file = self->file != self->parent_file;
    const bool has_call_file = self->call_file != self->parent_file;
    const uint32_t file = has_file ? self->file : 0;
    const uint32_t call_file = has_call_file ? self->call_file : 0;

    *p++ = (uint8_t) (SYM_NODE_CALL | sym_wide_code(distance) << 2
                      | sym_wide_code(self->call_line) << 4
                      | sym_wide_code(self->name) << 6);
    *p++ = (uint8_t) (sym_thin_code(call_file) | sym_thin_code(file) << 2
                      | sym_thin_code(self->line) << 4
                      | (has_file ? SYM_NODE_HAS_FILE : 0)
                      | (has_call_file ? SYM_NODE_HAS_CALL_FILE : 0));
    p = sym_put_wide(p, distance);
    p = sym_put_wide(p, self->call_line);
    p = sym_put_wide(p, self->name);
    p = sym_put_thin(p, call_file);
    p = sym_put_thin(p, file);
    return sym_put_thin(p, self->line);
}


static uint8_t *
put_twin(uint8_t *p, uint32_t distance, uint32_t other)
{
    *p++ = (uint8_t) (SYM_NODE_TWIN | sym_wide_code(distance) << 2
                      | sym_wide_code(other) << 4);
    p = sym_put_wide(p, distance);
    return sym_put_wide(p, other);
}


/* The i-th node, an inlined call. */
static void
add_call(sym_nodes_t *n, const sym_flat_node_t *call, size_t i,
         sym_node_place_t *places)
{
    const sym_node_place_t *parent = &places[call->parent];
    const uint32_t ref = next_place(n), distance = ref - parent->ref;
    sym_node_place_t *place = &places[i];
    sym_shared_node_t self = { call->name,  call->call_line, call->call_file,
                               place->file, parent->file,    n->twins->extents,
                               ref,         place->line };
    sym_shared_node_t *twin = find_twin(n->twins, &self);
    uint8_t *start = n->data + ref, *end;

    place->ref = ref;
    if (twin != NULL && twin->extent == self.extent) {
        end = put_twin(start, distance, ref - twin->ref);
        place->line = twin->line;
    } else {
        end = put_call(start, &self, distance);
        if (twin != NULL) {
            *twin = self;
        }
    }

    n->end += (uint32_t) (end - start);
}


sym_status_t
sym_nodes_add(sym_nodes_t *n, const sym_block_function_t *f,
              sym_node_place_t *places)
{
    uint8_t *start, *end;

    if (make_room(n, f->n_nodes) != SYM_OK) {
        return n->err->status;
    }

    find_bases(f, places);
    places[0].ref = next_place(n);
    start = n->data + places[0].ref;
    end = put_function(start, f, &places[0]);
    n->end += (uint32_t) (end - start);

    for (size_t i = 1; i < f->n_nodes; i++) {
        add_call(n, &f->nodes[i], i, places);
    }

    n->n += f->n_nodes;
    return SYM_OK;
}
