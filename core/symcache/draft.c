#include "symcache/draft.h"

/*
 * Our own bytes, so the reading needs no bounds.  Numbers are ulebs: nodes but
 * the first, their fields; segments, each as (address less the one before) << 2
 * | same file << 1 | same node, then what is not the same, then the line as a
 * difference (sleb).
 */

const uint8_t *
sym_draft_pack(sym_arena_t *arena, sym_buffer_t *scratch,
               const sym_flat_function_t *f)
{
    const sym_segment_t *last = NULL;
    uint8_t *packed, *p;

    scratch->len = 0;
    if (!sym_buffer_room(scratch, (size_t) 2 * SYM_LEB_MAX + f->n_nodes * 20
                                      + f->n_segments * 22))
    {
        return NULL;
    }

    p = sym_uleb_write(scratch->data, f->n_nodes);
    for (size_t i = 1; i < f->n_nodes; i++) {
        const sym_flat_node_t *n = &f->nodes[i];

        p = sym_uleb_write(p, n->parent);
        p = sym_uleb_write(p, n->name);
        p = sym_uleb_write(p, (uint32_t) (n->call_file + 1));
        p = sym_uleb_write(p, n->call_line);
    }

    p = sym_uleb_write(p, f->n_segments);
    for (size_t i = 0; i < f->n_segments; i++) {
        const sym_segment_t *s = &f->segments[i];
        uint32_t addr = last == NULL ? 0 : s->addr - last->addr;
        bool same_node = last != NULL && s->node == last->node;
        bool same_file = last != NULL && s->file == last->file;

        p = sym_uleb_write(p, (uint64_t) addr << 2 | (same_file ? 2 : 0)
                                  | (same_node ? 1 : 0));
        if (!same_node) {
            p = sym_uleb_write(p, s->node);
        }
        if (!same_file) {
            p = sym_uleb_write(p, (uint32_t) (s->file + 1));
        }
        p = sym_sleb_write(p, (int64_t) s->line
                                  - (last == NULL ? 0 : (int64_t) last->line));
        last = s;
    }

    scratch->len = (size_t) (p - scratch->data);
    packed = sym_arena_alloc(arena, scratch->len);
    if (packed != NULL) {
        memcpy(packed, scratch->data, scratch->len);
    }

    return packed;
}


static inline uint64_t
get_uleb(const uint8_t **p)
{
    uint64_t v = 0;
    unsigned shift = 0;

    while (**p & 0x80) {
        v |= (uint64_t) (*(*p)++ & 0x7f) << shift;
        shift += 7;
    }

    return v | (uint64_t) * (*p)++ << shift;
}


static inline int64_t
get_sleb(const uint8_t **p)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = *(*p)++;
        v |= (uint64_t) (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);

    if ((byte & 0x40) && shift < 64) {
        v |= ~(uint64_t) 0 << shift;
    }

    return (int64_t) v;
}


static inline uint32_t
renamed(const uint32_t *ids, uint32_t id)
{
    return ids == NULL || id == SYM_NO_STRING ? id : ids[id];
}


bool
sym_draft_unpack(sym_arena_t *arena, const sym_draft_function_t *f,
                 const uint32_t *ids, sym_draft_t *draft)
{
    const uint8_t *p = f->draft;
    sym_segment_t s = { .addr = f->addr };

    draft->n_nodes = (size_t) get_uleb(&p);
    draft->nodes =
        sym_arena_alloc(arena, draft->n_nodes * sizeof(*draft->nodes));
    if (draft->nodes == NULL) {
        return false;
    }

    draft->nodes[0] = (sym_flat_node_t){ 0, f->name, SYM_NO_STRING, 0 };
    for (size_t i = 1; i < draft->n_nodes; i++) {
        sym_flat_node_t *n = &draft->nodes[i];

        n->parent = (uint32_t) get_uleb(&p);
        n->name = renamed(ids, (uint32_t) get_uleb(&p));
        n->call_file = renamed(ids, (uint32_t) get_uleb(&p) - 1);
        n->call_line = (uint32_t) get_uleb(&p);
    }

    draft->n_segments = (size_t) get_uleb(&p);
    draft->segments =
        sym_arena_alloc(arena, draft->n_segments * sizeof(*draft->segments));
    if (draft->segments == NULL) {
        return false;
    }

    for (size_t i = 0; i < draft->n_segments; i++) {
        uint64_t head = get_uleb(&p);

        s.addr += (uint32_t) (head >> 2);
        if ((head & 1) == 0) {
            s.node = (uint32_t) get_uleb(&p);
        }
        if ((head & 2) == 0) {
            s.file = renamed(ids, (uint32_t) get_uleb(&p) - 1);
        }
        s.line = (uint32_t) ((int64_t) s.line + get_sleb(&p));
        draft->segments[i] = s;
    }

    return true;
}
