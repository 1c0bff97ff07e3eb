#include "artifacts/symcache/read/calls.h"

#include <stdlib.h>

#include "base/buffer.h"

void
sym_calls_free(sym_calls_t *c)
{
    free(c->calls);
    free(c->ranges);
    *c = (sym_calls_t){ 0 };
}


static sym_status_t
out_of_memory(sym_error_t *err)
{
    return sym_fail(err, SYM_NOMEM, "no memory for a function's calls");
}


/* Parents precede their nodes, and nodes are in order of address. */
static sym_status_t
link_calls(sym_calls_t *c, const sym_walk_function_t *f, sym_error_t *err)
{
    sym_call_t *calls =
        sym_array_grow(c->calls, &c->calls_size, f->n_nodes, sizeof(*calls));

    if (calls == NULL) {
        return out_of_memory(err);
    }

    c->calls = calls;
    memset(calls, 0, f->n_nodes * sizeof(*calls));

    for (uint32_t i = 1; i < f->n_nodes; i++) {
        sym_call_t *parent = &calls[f->nodes[i].parent];

        calls[i].parent = f->nodes[i].parent;

        if (parent->child == 0) {
            parent->child = i;
        } else {
            calls[parent->last_child].sibling = i;
        }
        parent->last_child = i;
    }

    return SYM_OK;
}


static sym_status_t
add_range(sym_calls_t *c, sym_call_t *call, sym_call_range_t range,
          sym_error_t *err)
{
    sym_call_range_t *ranges;

    if (call->last != 0 && c->ranges[call->last - 1].end == range.addr) {
        c->ranges[call->last - 1].end = range.end;
        return SYM_OK;
    }

    if (c->n_ranges == SYM_CALL_RANGES_MAX) {
        return sym_fail(err, SYM_LIMIT,
                        "too many ranges of inlined calls in a function");
    }

    ranges = sym_array_grow(c->ranges, &c->ranges_size, c->n_ranges + 1,
                            sizeof(*ranges));
    if (ranges == NULL) {
        return out_of_memory(err);
    }

    c->ranges = ranges;
    ranges[c->n_ranges++] = range;

    if (call->last == 0) {
        call->first = (uint32_t) c->n_ranges;
    } else {
        ranges[call->last - 1].next = (uint32_t) c->n_ranges;
    }
    call->last = (uint32_t) c->n_ranges;
    return SYM_OK;
}


/* A call ends at the function's next segment, or at the function's end. */
static uint64_t
segment_reach(const sym_walk_function_t *f, size_t i)
{
    return i + 1 < f->n_segments ? f->segments[i + 1].addr
                                 : (uint64_t) f->addr + f->size;
}


sym_status_t
sym_calls_fill(sym_calls_t *c, const sym_walk_function_t *f, sym_error_t *err)
{
    c->n_ranges = 0;

    if (link_calls(c, f, err) != SYM_OK) {
        return err->status;
    }

    for (size_t i = 0; f->n_nodes > 1 && i < f->n_segments; i++) {
        const sym_walk_segment_t *segment = &f->segments[i];
        const sym_call_range_t range = { segment_reach(f, i), segment->addr,
                                         0 };

        for (uint32_t node = segment->node; node != 0;
             node = c->calls[node].parent) {
            if (add_range(c, &c->calls[node], range, err) != SYM_OK) {
                return err->status;
            }
        }
    }

    return SYM_OK;
}


uint32_t
sym_calls_next(const sym_calls_t *c, uint32_t node)
{
    if (c->calls[node].child != 0) {
        return c->calls[node].child;
    }

    while (node != 0 && c->calls[node].sibling == 0) {
        node = c->calls[node].parent;
    }

    return node == 0 ? 0 : c->calls[node].sibling;
}


const sym_call_range_t *
sym_calls_range(const sym_calls_t *c, uint32_t node,
                const sym_call_range_t *range)
{
    uint32_t next = range == NULL ? c->calls[node].first : range->next;

    return next == 0 ? NULL : &c->ranges[next - 1];
}
