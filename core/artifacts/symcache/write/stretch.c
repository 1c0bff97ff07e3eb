#include "artifacts/symcache/write/stretch.h"

#include <stdlib.h>

#include "artifacts/symcache/write/put_number.h"

/* Least size of a piece, which bounds the arrays of a block. */
#define PIECES_MAX (SYM_BLOCK_MAX / 8)

static sym_status_t
no_memory(sym_stretch_t *s)
{
    return sym_fail(&s->err, SYM_NOMEM, "no memory for the symcache's blocks");
}


void
sym_stretch_desk_free(sym_stretch_desk_t *d)
{
    free(d->twins.slots);
    free(d->starts);
    free(d->positions);
    free(d->body);
    *d = (sym_stretch_desk_t){ 0 };
}


static bool
lay_desk(sym_stretch_desk_t *d)
{
    if (d->starts == NULL) {
        d->starts = malloc(PIECES_MAX * sizeof(*d->starts));
    }
    if (d->positions == NULL) {
        d->positions = malloc(PIECES_MAX * sizeof(*d->positions));
    }
    if (d->body == NULL) {
        d->body = malloc(SYM_BLOCK_MAX + SYM_PIECE_BYTES_MAX + 4);
    }

    return d->starts != NULL && d->positions != NULL && d->body != NULL;
}


sym_status_t
sym_stretch_begin(sym_stretch_t *s, uint32_t start, sym_stretch_desk_t *desk)
{
    s->err = (sym_error_t){ 0 };
    s->desk = desk;
    s->start = start;
    s->block.n_pieces = 0;
    s->body_len = s->blocks.len = s->n_blocks = s->n_statements = 0;
    s->n_segments = 0;

    return lay_desk(desk)
               ? sym_nodes_begin(&s->nodes, start, &desk->twins, &s->err)
               : no_memory(s);
}


void
sym_stretch_free(sym_stretch_t *s)
{
    sym_nodes_free(&s->nodes);
    sym_buffer_free(&s->blocks);
    free(s->block_ends);
    free(s->statements);
    *s = (sym_stretch_t){ 0 };
}


sym_status_t
sym_stretch_nodes(sym_stretch_t *s, const sym_block_function_t *f,
                  sym_node_place_t *places)
{
    return sym_nodes_add(&s->nodes, f, places);
}


/* --- blocks --- */

static size_t
block_size(size_t n_pieces, unsigned addr_bytes, size_t body_len)
{
    return sizeof(sym_block_t) + n_pieces * (addr_bytes + sizeof(uint16_t))
           + body_len;
}


static void
put_block(const sym_stretch_t *s, uint8_t *p, size_t head)
{
    const sym_stretch_desk_t *d = s->desk;
    const size_t n = s->block.n_pieces;
    const unsigned wide = s->block.addr_bytes;

    memcpy(p, &s->block, sizeof(s->block));
    p += sizeof(s->block);

    for (size_t i = 0; i < n; i++, p += wide) {
        uint16_t narrow = (uint16_t) d->starts[i];

        memcpy(p, wide == 2 ? (void *) &narrow : (void *) &d->starts[i], wide);
    }

    for (size_t i = 0; i < n; i++, p += sizeof(uint16_t)) {
        uint16_t at = (uint16_t) (head + d->positions[i]);

        memcpy(p, &at, sizeof(at));
    }

    memcpy(p, d->body, s->body_len);
}


static sym_status_t
end_block(sym_stretch_t *s)
{
    size_t head = block_size(s->block.n_pieces, s->block.addr_bytes, 0);
    size_t *ends;

    if (s->block.n_pieces == 0) {
        return SYM_OK;
    }

    ends = sym_array_grow(s->block_ends, &s->block_ends_size, s->n_blocks + 1,
                          sizeof(*ends));
    s->block_ends = ends != NULL ? ends : s->block_ends;
    if (ends == NULL || !sym_buffer_room(&s->blocks, head + s->body_len)) {
        return no_memory(s);
    }

    put_block(s, s->blocks.data + s->blocks.len, head);
    s->blocks.len += head + s->body_len;
    s->block_ends[s->n_blocks++] = s->blocks.len;
    s->block.n_pieces = 0;
    s->body_len = 0;
    return SYM_OK;
}


/* --- pieces --- */

/* The columns of a piece.  Lines and files of exceptions are in the order of
 * the segments. */
typedef struct {
    uint32_t deltas[SYM_PIECE_SEGMENTS], nodes[SYM_PIECE_SEGMENTS];
    uint32_t lines[SYM_PIECE_SEGMENTS], files[SYM_PIECE_SEGMENTS];
    size_t n_lines, n_files;
    uint32_t deltas_all, nodes_most, nodes_least; /* of all segments but the
                                                     function's own */
    uint8_t codes[SYM_PIECE_SEGMENTS];
} columns_t;

/* The code of a segment's line.  Adds an exception if it needs one. */
static inline uint8_t
line_code(columns_t *c, const sym_segment_t *s, const sym_node_place_t *node)
{
    const int64_t distance =
        (int64_t) s->line - (int64_t) node->line + SYM_LINE_BIAS;

    if (s->file == node->file && s->file != 0) {
        if ((uint64_t) distance < SYM_LINE_CODES) {
            return (uint8_t) distance;
        }
        c->lines[c->n_lines++] = s->line;
        return SYM_LINE_FAR;
    }

    if (s->file == 0) {
        return SYM_LINE_NONE;
    }

    c->lines[c->n_lines++] = s->line;
    c->files[c->n_files++] = s->file;
    return SYM_LINE_FOREIGN;
}


static void
fill_columns(columns_t *c, const sym_segment_t *s, size_t n,
             const sym_node_place_t *places)
{
    const uint32_t root = places[0].ref;
    uint32_t last = s[0].addr;

    c->n_lines = c->n_files = 0;
    c->deltas_all = c->nodes_most = 0;
    c->nodes_least = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        const sym_node_place_t *place = &places[s[i].node];
        uint32_t node = place->ref - root, delta = s[i].addr - last;

        last = s[i].addr;
        c->deltas[i] = delta;
        c->deltas_all |= delta;
        c->nodes[i] = node;
        c->nodes_most = node > c->nodes_most ? node : c->nodes_most;
        c->nodes_least = node - 1 < c->nodes_least ? node - 1 : c->nodes_least;
        c->codes[i] = line_code(c, &s[i], place);
    }
}


/* Encodes segments [0, n), which end at `end`, at out.  Returns the end of the
   output. */
static uint8_t *
encode_piece(const sym_segment_t *s, size_t n, uint64_t end,
             const sym_node_place_t *places, uint32_t node_base, uint8_t *out)
{
    columns_t c;
    uint32_t code_len = (uint32_t) (end - s[0].addr - 1);
    /* wraps around if the function is before the base, which happens rarely */
    uint32_t function = places[0].ref - node_base;
    uint32_t nearest;
    unsigned delta_code, node_code, line_code, file_code;
    uint8_t *p = out;

    fill_columns(&c, s, n, places);
    nearest = c.nodes_most == 0 ? 0 : c.nodes_least + 1;
    delta_code = sym_thin_code(c.deltas_all);
    node_code =
        sym_thin_code(c.nodes_most == 0 ? 0 : c.nodes_most - c.nodes_least);
    line_code = sym_column_code(c.lines, c.n_lines);
    file_code = sym_column_code(c.files, c.n_files);

    *p++ = (uint8_t) n;
    p = sym_put_number(
        p,
        delta_code | node_code << 2 | sym_wide_code(code_len) << 4
            | sym_thin_code(function) << 6 | sym_thin_code(nearest) << 8
            | line_code << 10 | file_code << 12,
        2);
    p = sym_put_wide(p, code_len);
    p = sym_put_thin(p, function);
    p = sym_put_thin(p, nearest);
    p = sym_put_column(p, c.deltas + 1, n - 1, delta_code);

    for (size_t i = 0; node_code != 0 && i < n; i++) {
        uint32_t node = c.nodes[i];

        p = sym_put_number(p, node == 0 ? 0 : node - c.nodes_least,
                           SYM_THIN(node_code));
    }

    memcpy(p, c.codes, n);
    p = sym_put_column(p + n, c.lines, c.n_lines, line_code);
    return sym_put_column(p, c.files, c.n_files, file_code);
}


static sym_status_t
add_piece(sym_stretch_t *s, const sym_segment_t *segments, size_t n,
          uint64_t end, const sym_node_place_t *places)
{
    for (;;) {
        bool is_empty = s->block.n_pieces == 0;
        uint32_t base = is_empty ? places[0].ref : s->block.node_ref;
        uint32_t first = is_empty ? segments[0].addr : s->block.addr;
        unsigned wide = segments[0].addr - first > UINT16_MAX ? 4 : 2;
        uint8_t *out = s->desk->body + s->body_len;
        size_t len =
            (size_t) (encode_piece(segments, n, end, places, base, out) - out);

        if (is_empty) {
            s->block = (sym_block_t){ .addr = first,
                                      .node_ref = base,
                                      .addr_bytes = 2 };
        }

        if (s->block.addr_bytes == 4) {
            wide = 4;
        }

        if (s->block.n_pieces < PIECES_MAX
            && block_size(s->block.n_pieces + 1u, wide, s->body_len + len)
                   <= SYM_BLOCK_MAX)
        {
            s->block.addr_bytes = (uint8_t) wide;
            s->desk->starts[s->block.n_pieces] = segments[0].addr - first;
            s->desk->positions[s->block.n_pieces] = (uint16_t) s->body_len;
            s->body_len += len;
            s->block.n_pieces++;
            s->n_segments += n;
            return SYM_OK;
        }

        if (end_block(s) != SYM_OK) {
            return s->err.status;
        }
    }
}


sym_status_t
sym_stretch_run(sym_stretch_t *s, const sym_segment_t *segments, size_t n,
                uint64_t end, const sym_node_place_t *places)
{
    while (n > 0) {
        size_t take = n < SYM_PIECE_SEGMENTS ? n : SYM_PIECE_SEGMENTS;
        uint64_t piece_end = take < n ? segments[take].addr : end;

        if (add_piece(s, segments, take, piece_end, places) != SYM_OK) {
            return s->err.status;
        }
        segments += take;
        n -= take;
    }

    return SYM_OK;
}


sym_status_t
sym_stretch_end(sym_stretch_t *s)
{
    return end_block(s);
}


sym_status_t
sym_stretch_statement(sym_stretch_t *s, const sym_statement_t *statement)
{
    sym_statement_t *statements =
        sym_array_grow(s->statements, &s->statements_size, s->n_statements + 1,
                       sizeof(*statements));

    if (statements == NULL) {
        return no_memory(s);
    }

    s->statements = statements;
    s->statements[s->n_statements++] = *statement;
    return SYM_OK;
}
