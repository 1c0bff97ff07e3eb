#include "artifacts/symcache/write/packed_function.h"

/*
 * Our own bytes, so the reading needs no bounds.  Numbers are ulebs: nodes but
 * the first, their fields; segments, each as (address less the one before) <<
 * 2 | same file << 1 | same node, then what is not the same, then the line as
 * a difference (sleb).
 */

/*
 * Most numbers take one or two bytes, and a branch on that is unpredictable:
 * it would cost more than all other work.  So both bytes are always written
 * and read, and the position advances by one or two; loops handle larger
 * numbers.
 */
#define TWO_BYTES ((uint32_t) 1 << 14)

static inline uint8_t *
put_uleb(uint8_t *p, uint64_t v)
{
    unsigned two = v >= 0x80;

    if (v >= TWO_BYTES) {
        return sym_uleb_write(p, v);
    }

    p[0] = (uint8_t) ((v & 0x7f) | two << 7);
    p[1] = (uint8_t) (v >> 7);
    return p + 1 + two;
}


static inline uint8_t *
put_sleb(uint8_t *p, int64_t v)
{
    unsigned two = (uint64_t) v + 0x40 >= 0x80;

    if ((uint64_t) v + TWO_BYTES / 2 >= TWO_BYTES) {
        return sym_sleb_write(p, v);
    }

    p[0] = (uint8_t) (((uint64_t) v & 0x7f) | two << 7);
    p[1] = (uint8_t) ((uint64_t) v >> 7 & 0x7f);
    return p + 1 + two;
}


static uint8_t *
put_segments(uint8_t *p, const sym_segment_t *s, size_t n)
{
    /* of the first one everything is said */
    sym_segment_t first = { s->addr, ~s->node, ~s->file, 0 };
    const sym_segment_t *last = &first;

    for (; n > 0; n--, last = s++) {
        bool same_node = s->node == last->node;
        bool same_file = s->file == last->file;
        uint8_t *end;

        p = put_uleb(p, (uint64_t) (s->addr - last->addr) << 2
                            | (unsigned) same_file << 1 | same_node);
        end = put_uleb(p, s->node);
        p = same_node ? p : end;
        end = put_uleb(p, (uint32_t) (s->file + 1));
        p = same_file ? p : end;
        p = put_sleb(p, (int64_t) s->line - (int64_t) last->line);
    }

    return p;
}


const uint8_t *
sym_packed_function_pack(sym_arena_t *arena, sym_buffer_t *scratch,
                         const sym_flat_function_t *f)
{
    uint8_t *packed, *p;

    scratch->len = 0;
    if (!sym_buffer_room(scratch, (size_t) 2 * SYM_LEB_MAX + f->n_nodes * 20
                                      + f->n_segments * 22))
    {
        return NULL;
    }

    p = put_uleb(scratch->data, f->n_nodes);
    for (size_t i = 1; i < f->n_nodes; i++) {
        const sym_flat_node_t *n = &f->nodes[i];

        p = put_uleb(p, n->parent);
        p = put_uleb(p, n->name);
        p = put_uleb(p, (uint32_t) (n->call_file + 1));
        p = put_uleb(p, n->call_line);
    }

    p = put_uleb(p, f->n_segments);
    if (f->n_segments != 0) {
        p = put_segments(p, f->segments, f->n_segments);
    }

    scratch->len = (size_t) (p - scratch->data);
    packed = sym_arena_alloc(arena, scratch->len + 1); /* read by twos */
    if (packed != NULL) {
        memcpy(packed, scratch->data, scratch->len);
        packed[scratch->len] = 0;
    }

    return packed;
}


static uint64_t
get_long_uleb(const uint8_t **p)
{
    uint64_t v = 0;
    unsigned shift = 0;

    while (**p & 0x80) {
        v |= (uint64_t) (*(*p)++ & 0x7f) << shift;
        shift += 7;
    }

    return v | (uint64_t) * (*p)++ << shift;
}


static inline uint64_t
get_uleb(const uint8_t **p)
{
    uint32_t low = (*p)[0], high = (*p)[1], two = low >> 7;

    if ((low & high) >> 7 != 0) {
        return get_long_uleb(p);
    }

    *p += 1 + two;
    return (low & 0x7f) | (high << 7 & -two);
}


static int64_t
get_long_sleb(const uint8_t **p)
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


static inline int64_t
get_sleb(const uint8_t **p)
{
    uint32_t low = (*p)[0], high = (*p)[1], two = low >> 7;
    uint32_t sign = two ? TWO_BYTES / 2 : 0x40;
    uint32_t v = (low & 0x7f) | (high << 7 & -two);

    if ((low & high) >> 7 != 0) {
        return get_long_sleb(p);
    }

    *p += 1 + two;
    return (int64_t) (v ^ sign) - sign;
}


bool
sym_packed_function_unpack(sym_arena_t *arena, const sym_packed_function_t *f,
                           const uint32_t *ids, sym_packed_functions_t *draft)
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
        n->name = sym_packed_function_id(ids, (uint32_t) get_uleb(&p));
        n->call_file = sym_packed_function_id(ids, (uint32_t) get_uleb(&p) - 1);
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
        const uint8_t *next = p;
        uint32_t node = (uint32_t) get_uleb(&next), file;

        /* what is not there is read all the same, out of what follows */
        s.addr += (uint32_t) (head >> 2);
        s.node = head & 1 ? s.node : node;
        p = head & 1 ? p : next;

        next = p;
        file = (uint32_t) get_uleb(&next) - 1;
        if ((head & 2) == 0) {
            s.file = sym_packed_function_id(ids, file);
            p = next;
        }
        s.line = (uint32_t) ((int64_t) s.line + get_sleb(&p));
        draft->segments[i] = s;
    }

    return true;
}
