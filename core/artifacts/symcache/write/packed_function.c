#include "artifacts/symcache/write/packed_function.h"

#include "artifacts/symcache/write/squeeze.h"

/*
 * A row has four numbers.  For a call: parent, name + 1, number of the file,
 * line.  For a segment: distance from the function's start, node, number of the
 * file, line.  If all calls of a function fit, each row is one word of four
 * 16-bit numbers, otherwise two words; the same is true for segments.  The
 * first word contains the number of segments, and which rows are wide.  LEB128
 * would take five bytes a row and twice the work.  Squeezed rows also take five
 * bytes, at one and a half times the work.
 */
#define WIDE_NODES ((uint64_t) 1 << 32)
#define WIDE_SEGMENTS ((uint64_t) 1 << 33)

/* All rows were wide and are squeezed (squeeze.h).  This many bytes after them
 * must be readable. */
#define SQUEEZED ((uint64_t) 1 << 34)
#define SQUEEZED_SLACK sizeof(uint64_t)

typedef struct {
    uint32_t a, b, c, d;
} row_t;

_Static_assert(sizeof(row_t) == sizeof(sym_row_t), "wide rows are squeezed");

static inline uint64_t
narrow(row_t r)
{
    return r.a | (uint64_t) r.b << 16 | (uint64_t) r.c << 32
           | (uint64_t) r.d << 48;
}


static inline bool
is_narrow(uint32_t all)
{
    return all <= UINT16_MAX;
}


static inline void
put_wide(uint64_t *p, row_t r)
{
    memcpy(p, &r, sizeof(r));
}


static inline row_t
get_narrow(uint64_t word)
{
    return (row_t){ (uint16_t) word, (uint16_t) (word >> 16),
                    (uint16_t) (word >> 32), (uint16_t) (word >> 48) };
}


static inline row_t
get_wide(const uint64_t *p)
{
    row_t r;

    memcpy(&r, p, sizeof(r));
    return r;
}


/* --- packing --- */

/* Source of the names of a function's files. */
typedef struct {
    sym_file_table_t *files;
    size_t n_ids;
    bool squeezes; /* all rows are wide */
} pack_t;

static inline row_t
node_row(const pack_t *k, const sym_flat_node_t *n)
{
    return (row_t){ n->parent, n->name + 1,
                    sym_file_table_number(k->files, n->call_file, k->n_ids),
                    n->call_line };
}


static inline row_t
segment_row(const pack_t *k, const sym_segment_t *s, uint32_t start)
{
    return (row_t){ s->addr - start, s->node,
                    sym_file_table_number(k->files, s->file, k->n_ids),
                    s->line };
}


static uint64_t *
put_nodes(uint64_t *p, const pack_t *k, const sym_flat_node_t *nodes, size_t n,
          uint64_t *head)
{
    uint32_t all = 0;

    for (size_t i = 0; i < n; i++) {
        row_t r = node_row(k, &nodes[i]);

        all |= r.a | r.b | r.c | r.d;
        p[i] = narrow(r);
    }

    if (is_narrow(all) && !k->squeezes) {
        return p + n;
    }

    *head |= WIDE_NODES;
    for (size_t i = 0; i < n; i++) {
        put_wide(p + 2 * i, node_row(k, &nodes[i]));
    }

    return p + 2 * n;
}


static uint64_t *
put_segments(uint64_t *p, const pack_t *k, const sym_segment_t *s, size_t n,
             uint32_t start, uint64_t *head)
{
    uint32_t all = 0;

    for (size_t i = 0; i < n; i++) {
        row_t r = segment_row(k, &s[i], start);

        all |= r.a | r.b | r.c | r.d;
        p[i] = narrow(r);
    }

    if (is_narrow(all) && !k->squeezes) {
        return p + n;
    }

    *head |= WIDE_SEGMENTS;
    for (size_t i = 0; i < n; i++) {
        put_wide(p + 2 * i, segment_row(k, &s[i], start));
    }

    return p + 2 * n;
}


const uint64_t *
sym_packed_function_pack(sym_arena_t *arena, sym_buffer_t *scratch,
                         sym_file_table_t *files, size_t n_ids, bool squeezes,
                         const sym_flat_function_t *f)
{
    const pack_t k = { files, n_ids, squeezes };
    const size_t n_calls = f->n_nodes - 1, n = n_calls + f->n_segments;
    uint64_t head = f->n_segments, *rows, *segments, *packed;
    const uint8_t *from;
    uint8_t *p;
    size_t bytes;

    scratch->len = 0;
    if (f->n_segments > UINT32_MAX
        || !sym_buffer_room(scratch,
                            2 * n * sizeof(*rows) + 2 * SYM_SQUEEZED_MAX(n)))
    {
        return NULL;
    }

    rows = (uint64_t *) (void *) scratch->data;
    segments = put_nodes(rows, &k, f->nodes + 1, n_calls, &head);
    p = (uint8_t *) put_segments(segments, &k, f->segments, f->n_segments,
                                 f->addr, &head);
    from = scratch->data;
    if (squeezes) {
        head |= SQUEEZED;
        from = p;
        p = sym_squeeze(p, (sym_row_t *) (void *) rows, n_calls);
        p = sym_squeeze(p, (sym_row_t *) (void *) segments, f->n_segments);
    }

    bytes = (size_t) (p - from);
    packed = sym_arena_alloc(arena, sizeof(head) + bytes + SQUEEZED_SLACK);
    if (packed == NULL || files->failed) {
        return NULL;
    }

    *packed = head;
    memcpy(packed + 1, from, bytes);
    return packed;
}


/* --- unpacking --- */

static inline sym_flat_node_t
node_of(const sym_packed_names_t *names, row_t r)
{
    return (sym_flat_node_t){ r.a, sym_packed_function_id(names->ids, r.b - 1),
                              names->files[r.c], r.d };
}


static const uint64_t *
get_nodes(const uint64_t *p, const sym_packed_names_t *names, bool is_wide,
          sym_flat_node_t *nodes, size_t n)
{
    if (is_wide) {
        for (size_t i = 0; i < n; i++) {
            nodes[i] = node_of(names, get_wide(p + 2 * i));
        }
        return p + 2 * n;
    }

    for (size_t i = 0; i < n; i++) {
        nodes[i] = node_of(names, get_narrow(p[i]));
    }

    return p + n;
}


static inline sym_segment_t
segment_of(const uint32_t *files, row_t r, uint32_t start)
{
    return (sym_segment_t){ start + r.a, r.b, files[r.c], r.d };
}


/* Unpacks segments.  drops_repeats: the next row overwrites a row that repeats
 * the one before it.  This needs no branch, which would be unpredictable. */
static size_t
get_segments(const uint64_t *p, const uint32_t *files, bool is_wide,
             bool drops_repeats, uint32_t start, sym_segment_t *s, size_t n)
{
    const bool keeps_all = !drops_repeats;
    size_t kept = 0;

    if (n != 0 && is_wide) {
        row_t last = get_wide(p);

        last.b = ~last.b; /* the first row never repeats another one */
        for (size_t i = 0; i < n; i++) {
            row_t r = get_wide(p + 2 * i);

            s[kept] = segment_of(files, r, start);
            kept += keeps_all
                    | (((r.b ^ last.b) | (r.c ^ last.c) | (r.d ^ last.d)) != 0);
            last = r;
        }

    } else if (n != 0) {
        uint64_t last = ~p[0];

        for (size_t i = 0; i < n; i++) {
            s[kept] = segment_of(files, get_narrow(p[i]), start);
            kept += keeps_all | ((p[i] ^ last) >> 16 != 0);
            last = p[i];
        }
    }

    return kept;
}


/* Numbers of wide rows of calls and of segments.  NULL when out of memory. */
static const uint64_t *
unsqueeze(sym_arena_t *arena, const uint64_t *from, size_t n_calls,
          size_t n_segments)
{
    sym_row_t *rows =
        sym_arena_alloc(arena, (n_calls + n_segments) * sizeof(*rows));
    const uint8_t *p = (const uint8_t *) from;

    if (rows != NULL) {
        p = sym_unsqueeze(p, rows, n_calls);
        (void) sym_unsqueeze(p, rows + n_calls, n_segments);
    }

    return (const uint64_t *) (const void *) rows;
}


bool
sym_packed_function_unpack(sym_arena_t *arena, const sym_packed_function_t *f,
                           const sym_packed_names_t *names, bool drops_repeats,
                           sym_packed_functions_t *draft)
{
    const uint64_t *p = f->draft;
    const uint64_t head = *p++;
    const size_t n = (uint32_t) head;

    draft->n_nodes = f->n_nodes;
    draft->nodes = sym_arena_alloc(arena, f->n_nodes * sizeof(*draft->nodes));
    draft->segments = sym_arena_alloc(arena, n * sizeof(*draft->segments));
    if (draft->nodes == NULL || draft->segments == NULL) {
        return false;
    }

    if (head & SQUEEZED) {
        p = unsqueeze(arena, p, f->n_nodes - 1, n);
        if (p == NULL) {
            return false;
        }
    }

    draft->nodes[0] = (sym_flat_node_t){ 0, f->name, names->files[0], 0 };
    p = get_nodes(p, names, (head & WIDE_NODES) != 0, draft->nodes + 1,
                  f->n_nodes - 1);
    draft->n_segments =
        get_segments(p, names->files, (head & WIDE_SEGMENTS) != 0,
                     drops_repeats, f->addr, draft->segments, n);
    return true;
}
