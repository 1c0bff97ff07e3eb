#include "artifacts/symcache/write/blocks.h"

#include <endian.h>
#include <stdlib.h>

/* The first chunks of nodes are small: so are most modules. */
#define SMALL_CHUNK 1020
#define SMALL_CHUNKS 4

/* A piece takes no less: bounds the arrays of a block. */
#define PIECES_MAX (SYM_BLOCK_MAX / 8)

sym_status_t
sym_blocks_begin(sym_blocks_t *b, sym_extents_t *x, const uint32_t *string_refs,
                 size_t n_strings, sym_error_t *err)
{
    *b = (sym_blocks_t){
        .err = err, .x = x, .string_refs = string_refs, .n_strings = n_strings
    };

    b->starts = malloc(PIECES_MAX * sizeof(*b->starts));
    b->positions = malloc(PIECES_MAX * sizeof(*b->positions));
    b->body = malloc(SYM_BLOCK_MAX);
    b->twins = calloc(SYM_TWINS, sizeof(*b->twins));
    b->file_numbers = calloc(n_strings + 1, sizeof(*b->file_numbers));
    b->statements = malloc(SYM_STATEMENTS_PER_PAGE * sizeof(*b->statements));

    if (b->starts == NULL || b->positions == NULL || b->body == NULL
        || b->twins == NULL || b->file_numbers == NULL || b->statements == NULL)
    {
        return sym_fail(err, SYM_NOMEM, "no memory for the symcache's blocks");
    }

    return SYM_OK;
}


void
sym_blocks_free(sym_blocks_t *b)
{
    free(b->starts);
    free(b->positions);
    free(b->body);
    free(b->index.entries);
    free(b->statements);
    free(b->statement_index.entries);
    free(b->shown_index.entries);
    free(b->twins);
    free(b->file_numbers);
    free(b->files);
    *b = (sym_blocks_t){ .err = b->err };
}


/* 0 for no string, and for one without text. */
static uint32_t
string_ref(const sym_blocks_t *b, uint32_t id)
{
    return id < b->n_strings ? b->string_refs[id] : 0;
}


/* Takes a file that has a name into the module's table. */
static sym_status_t
number_file(sym_blocks_t *b, uint32_t file)
{
    uint32_t *files = sym_array_grow(b->files, &b->files_size, b->n_files + 1,
                                     sizeof(*files));

    if (files == NULL) {
        return sym_fail(b->err, SYM_NOMEM, "no memory for file names");
    }

    b->files = files;
    b->files[b->n_files++] = b->string_refs[file];
    b->file_numbers[file] = (uint32_t) b->n_files;
    return SYM_OK;
}


/* Number + 1 of a file in the module's table, 0 for none. */
static inline sym_status_t
file_number(sym_blocks_t *b, uint32_t file, uint32_t *number)
{
    *number = 0;

    if (file >= b->n_strings) {
        return SYM_OK;
    }

    if (b->file_numbers[file] == 0 && b->string_refs[file] != 0
        && number_file(b, file) != SYM_OK)
    {
        return b->err->status;
    }

    *number = b->file_numbers[file];
    return SYM_OK;
}


/* --- nodes --- */

static void
close_chunk(sym_blocks_t *b)
{
    if (b->chunk != NULL) {
        sym_extents_trim(b->x, b->chunk_ref, b->chunk_size, b->chunk_len);
    }
}


static uint8_t *
node_room(sym_blocks_t *b, uint32_t *ref)
{
    if (b->chunk == NULL || b->chunk_size - b->chunk_len < SYM_NODE_BYTES_MAX) {
        uint32_t before = SYM_REF_EXTENT(b->chunk_ref);

        close_chunk(b);

        b->chunk_size =
            b->n_chunks++ < SMALL_CHUNKS ? SMALL_CHUNK : SYM_BLOCK_MAX;
        b->chunk = sym_extents_alloc(b->x, SYM_LANE_NODES, b->chunk_size,
                                     SYM_PLACE_PAGE, &b->chunk_ref);
        b->chunk_len = 0;
        if (b->chunk == NULL) {
            return NULL;
        }

        if (SYM_REF_EXTENT(b->chunk_ref) != before) {
            memset(b->twins, 0, SYM_TWINS * sizeof(*b->twins));
        }
    }

    *ref = b->chunk_ref + (uint32_t) b->chunk_len;
    return b->chunk + b->chunk_len;
}


/* A node's file and first line are those of its first segment, or else the
 * place of the first call inside it: what most that follows has as well. */
void
sym_blocks_bases(const sym_block_function_t *f, sym_node_place_t *places)
{
    for (size_t i = 0; i < f->n_nodes; i++) {
        places[i] = (sym_node_place_t){ .file = SYM_NO_STRING };
    }

    for (size_t i = 0; i < f->n_segments; i++) {
        sym_node_place_t *p = &places[f->segments[i].node];

        if (p->file == SYM_NO_STRING) {
            p->file = f->segments[i].file;
            p->line = f->segments[i].line;
        }
    }

    for (size_t i = 1; i < f->n_nodes; i++) {
        sym_node_place_t *p = &places[f->nodes[i].parent];

        if (p->file == SYM_NO_STRING) {
            p->file = f->nodes[i].call_file;
        }
    }
}


/*
 * The slot of a call like `want`, or the free one for it.  Probes few slots:
 * past them the call is just written once more.  NULL then.
 */
static sym_shared_node_t *
find_twin(sym_blocks_t *b, const sym_shared_node_t *want)
{
    uint64_t h =
        ((uint64_t) want->name << 32 | want->call_line) * 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < 8; i++) {
        sym_shared_node_t *t = &b->twins[(h >> 40 & (SYM_TWINS - 1)) ^ i];

        if (t->ref == 0
            || memcmp(t, want, offsetof(sym_shared_node_t, ref)) == 0) {
            return t;
        }
    }

    return NULL;
}


/* The low bytes of v, little endian, and zeros up to four: what comes next is
 * written over them, and what takes the number has room for its widest form. */
static inline uint8_t *
put_number(uint8_t *p, uint32_t v, unsigned width)
{
    v = htole32(v);
    memcpy(p, &v, sizeof(v));
    return p + width;
}


static uint8_t *
put_wide(uint8_t *p, uint32_t v)
{
    return put_number(p, v, SYM_WIDE(sym_wide_code(v)));
}


static uint8_t *
put_thin(uint8_t *p, uint32_t v)
{
    return put_number(p, v, SYM_THIN(sym_thin_code(v)));
}


static uint8_t *
put_function(uint8_t *p, const sym_block_function_t *f,
             const sym_shared_node_t *self)
{
    *p++ = (uint8_t) (SYM_NODE_FUNCTION | (f->is_public ? SYM_NODE_PUBLIC : 0)
                      | sym_wide_code(self->name) << 4);
    *p++ = (uint8_t) (sym_thin_code(self->file) | sym_thin_code(self->line) << 2
                      | sym_thin_code(f->size) << 4);
    *p++ = f->lang;
    p = put_number(p, f->addr, 4);
    p = put_thin(p, f->size);
    p = put_wide(p, self->name);
    p = put_thin(p, self->file);
    return put_thin(p, self->line);
}


static uint8_t *
put_call(uint8_t *p, const sym_shared_node_t *self, uint32_t distance)
{
    bool has_file = self->file != self->parent_file;
    bool has_call_file = self->call_file != self->parent_file;
    uint32_t file = has_file ? self->file : 0;
    uint32_t call_file = has_call_file ? self->call_file : 0;

    *p++ = (uint8_t) (SYM_NODE_CALL | sym_wide_code(distance) << 2
                      | sym_wide_code(self->call_line) << 4
                      | sym_wide_code(self->name) << 6);
    *p++ = (uint8_t) (sym_thin_code(call_file) | sym_thin_code(file) << 2
                      | sym_thin_code(self->line) << 4
                      | (has_file ? SYM_NODE_HAS_FILE : 0)
                      | (has_call_file ? SYM_NODE_HAS_CALL_FILE : 0));
    p = put_wide(p, distance);
    p = put_wide(p, self->call_line);
    p = put_wide(p, self->name);
    p = put_thin(p, call_file);
    p = put_thin(p, file);
    return put_thin(p, self->line);
}


static uint8_t *
put_twin(uint8_t *p, uint32_t distance, uint32_t other)
{
    *p++ = (uint8_t) (SYM_NODE_TWIN | sym_wide_code(distance) << 2
                      | sym_wide_code(other) << 4);
    p = put_wide(p, distance);
    return put_wide(p, other);
}


static sym_status_t
write_node(sym_blocks_t *b, const sym_block_function_t *f, size_t i,
           sym_node_place_t *places)
{
    const sym_flat_node_t *n = &f->nodes[i];
    sym_node_place_t *place = &places[i];
    uint32_t distance;
    sym_shared_node_t self = { .name = string_ref(b, n->name),
                               .call_line = n->call_line },
                      *twin;
    uint8_t *start, *end;

    if (file_number(b, place->file, &self.file) != SYM_OK
        || file_number(b, n->call_file, &self.call_file) != SYM_OK
        || (i != 0
            && file_number(b, places[n->parent].file, &self.parent_file)
                   != SYM_OK))
    {
        return b->err->status;
    }

    start = node_room(b, &place->ref);
    if (start == NULL) {
        return b->err->status;
    }

    distance = place->ref - places[n->parent].ref;
    self.ref = place->ref;
    self.line = place->line;

    twin = i == 0 ? NULL : find_twin(b, &self);
    if (twin != NULL && twin->ref != 0) {
        end = put_twin(start, distance, place->ref - twin->ref);
        place->line = twin->line;
    } else if (i == 0) {
        end = put_function(start, f, &self);
    } else {
        end = put_call(start, &self, distance);
        if (twin != NULL) {
            *twin = self;
        }
    }

    b->chunk_len += (size_t) (end - start);
    b->n_nodes++;
    return SYM_OK;
}


sym_status_t
sym_blocks_nodes(sym_blocks_t *b, const sym_block_function_t *f,
                 sym_node_place_t *places)
{
    for (size_t i = 0; i < f->n_nodes; i++) {
        if (f->nodes[i].name < b->n_strings) {
            __builtin_prefetch(&b->string_refs[f->nodes[i].name]);
        }
    }

    for (size_t i = 0; i < f->n_nodes; i++) {
        if (write_node(b, f, i, places) != SYM_OK) {
            return b->err->status;
        }
    }

    return SYM_OK;
}


/* --- blocks --- */

static size_t
block_size(size_t n_pieces, unsigned addr_bytes, size_t body_len)
{
    return sizeof(sym_block_t) + n_pieces * (addr_bytes + sizeof(uint16_t))
           + body_len;
}


/* Room for a page that begins at addr, entered into its index; NULL on failure.
 */
static uint8_t *
indexed_room(sym_blocks_t *b, sym_index_t *index, uint32_t addr, size_t size)
{
    uint32_t ref;
    uint8_t *p =
        sym_extents_alloc(b->x, SYM_LANE_MAIN, size, SYM_PLACE_PAGE, &ref);
    sym_index_entry_t *entries;

    if (p == NULL) {
        return NULL;
    }

    entries = sym_array_grow(index->entries, &index->size, index->n + 1,
                             sizeof(*entries));
    if (entries == NULL) {
        (void) sym_fail(b->err, SYM_NOMEM, "no memory for the index");
        return NULL;
    }

    index->entries = entries;
    index->entries[index->n++] = (sym_index_entry_t){ addr, ref };
    return p;
}


static sym_status_t
flush_block(sym_blocks_t *b)
{
    size_t n = b->block.n_pieces;
    unsigned wide = b->block.addr_bytes;
    size_t head = block_size(n, wide, 0), size = head + b->body_len;
    uint8_t *p;

    if (n == 0) {
        return SYM_OK;
    }

    p = indexed_room(b, &b->index, b->block.addr, size);
    if (p == NULL) {
        return b->err->status;
    }

    memcpy(p, &b->block, sizeof(b->block));
    p += sizeof(b->block);

    for (size_t i = 0; i < n; i++, p += wide) {
        uint16_t narrow = (uint16_t) b->starts[i];

        memcpy(p, wide == 2 ? (void *) &narrow : (void *) &b->starts[i], wide);
    }

    for (size_t i = 0; i < n; i++, p += sizeof(uint16_t)) {
        uint16_t at = (uint16_t) (head + b->positions[i]);

        memcpy(p, &at, sizeof(at));
    }

    memcpy(p, b->body, b->body_len);
    b->block.n_pieces = 0;
    b->body_len = 0;
    return SYM_OK;
}


/* Lines and files of a piece's exceptions, in the order of their segments. */
typedef struct {
    uint32_t lines[SYM_PIECE_SEGMENTS], files[SYM_PIECE_SEGMENTS];
    size_t n_lines, n_files;
} exceptions_t;

/* The code of a segment's line, and its exception if it needs one. */
static sym_status_t
put_line(sym_blocks_t *b, const sym_segment_t *s, const sym_node_place_t *node,
         uint8_t *code, exceptions_t *e)
{
    int64_t distance = (int64_t) s->line - (int64_t) node->line + SYM_LINE_BIAS;
    uint32_t file;

    if (file_number(b, s->file, &file) != SYM_OK) {
        return b->err->status;
    }

    if (file == 0) {
        *code = SYM_LINE_NONE;
    } else if (s->file != node->file) {
        *code = SYM_LINE_FOREIGN;
        e->lines[e->n_lines++] = s->line;
        e->files[e->n_files++] = file;
    } else if (distance >= 0 && distance < SYM_LINE_CODES) {
        *code = (uint8_t) distance;
    } else {
        *code = SYM_LINE_FAR;
        e->lines[e->n_lines++] = s->line;
    }

    return SYM_OK;
}


/* The narrowest thin code that serves all. */
static unsigned
column_code(const uint32_t *numbers, size_t n)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < n; i++) {
        bits |= numbers[i];
    }

    return sym_thin_code(bits);
}


static uint8_t *
put_column(uint8_t *p, const uint32_t *numbers, size_t n, unsigned code)
{
    for (size_t i = 0; i < n; i++) {
        p = put_number(p, numbers[i], SYM_THIN(code));
    }

    return p;
}


/* Widths that serve all of the piece's segments. */
typedef struct {
    uint32_t delta, node, nearest; /* the largest, the largest, the least */
} piece_range_t;

static piece_range_t
measure(const sym_segment_t *s, size_t n, const sym_node_place_t *places)
{
    piece_range_t r = { 0, 0, UINT32_MAX };

    for (size_t i = 0; i < n; i++) {
        uint32_t delta = i == 0 ? 0 : s[i].addr - s[i - 1].addr;
        uint32_t node = places[s[i].node].ref - places[0].ref;

        r.delta = delta > r.delta ? delta : r.delta;
        r.node = node > r.node ? node : r.node;
        r.nearest = node != 0 && node < r.nearest ? node : r.nearest;
    }

    r.nearest = r.node == 0 ? 0 : r.nearest;
    r.node = r.node == 0 ? 0 : r.node - r.nearest + 1;
    return r;
}


/* Encodes segments [0, n) up to `end`; *len bytes at out. */
static sym_status_t
encode_piece(sym_blocks_t *b, const sym_segment_t *s, size_t n, uint64_t end,
             const sym_node_place_t *places, uint32_t node_base, uint8_t *out,
             size_t *len)
{
    uint8_t codes[SYM_PIECE_SEGMENTS];
    exceptions_t e = { .n_lines = 0 };
    piece_range_t r = measure(s, n, places);
    uint32_t root = places[0].ref, code_len = (uint32_t) (end - s[0].addr - 1);
    /* wraps around where the function lies before the base, which is rare */
    uint32_t function = root - node_base;
    unsigned delta_code = sym_thin_code(r.delta);
    unsigned node_code = sym_thin_code(r.node);
    unsigned line_code, file_code;
    uint8_t *p = out;

    for (size_t i = 0; i < n; i++) {
        if (put_line(b, &s[i], &places[s[i].node], &codes[i], &e) != SYM_OK) {
            return b->err->status;
        }
    }

    line_code = column_code(e.lines, e.n_lines);
    file_code = column_code(e.files, e.n_files);

    *p++ = (uint8_t) n;
    p = put_number(p,
                   delta_code | node_code << 2 | sym_wide_code(code_len) << 4
                       | sym_thin_code(function) << 6
                       | sym_thin_code(r.nearest) << 8 | line_code << 10
                       | file_code << 12,
                   2);
    p = put_wide(p, code_len);
    p = put_thin(p, function);
    p = put_thin(p, r.nearest);

    for (size_t i = 1; i < n; i++) {
        p = put_number(p, s[i].addr - s[i - 1].addr, SYM_THIN(delta_code));
    }

    for (size_t i = 0; i < n; i++) {
        uint32_t node = places[s[i].node].ref - root;

        p = put_number(p, node == 0 ? 0 : node - r.nearest + 1,
                       SYM_THIN(node_code));
    }

    memcpy(p, codes, n);
    p = put_column(p + n, e.lines, e.n_lines, line_code);
    p = put_column(p, e.files, e.n_files, file_code);
    *len = (size_t) (p - out);
    return SYM_OK;
}


static sym_status_t
add_piece(sym_blocks_t *b, const sym_segment_t *s, size_t n, uint64_t end,
          const sym_node_place_t *places)
{
    uint8_t piece[SYM_PIECE_BYTES_MAX + 4];
    size_t len;

    for (;;) {
        bool is_empty = b->block.n_pieces == 0;
        uint32_t base = is_empty ? places[0].ref : b->block.node_ref;
        uint32_t first = is_empty ? s[0].addr : b->block.addr;
        unsigned wide = s[0].addr - first > UINT16_MAX ? 4 : 2;

        if (encode_piece(b, s, n, end, places, base, piece, &len) != SYM_OK) {
            return b->err->status;
        }

        if (is_empty) {
            b->block = (sym_block_t){ .addr = first,
                                      .node_ref = base,
                                      .addr_bytes = 2 };
        }

        if (b->block.addr_bytes == 4) {
            wide = 4;
        }

        if (b->block.n_pieces < PIECES_MAX
            && block_size(b->block.n_pieces + 1u, wide, b->body_len + len)
                   <= SYM_BLOCK_MAX)
        {
            b->block.addr_bytes = (uint8_t) wide;
            b->starts[b->block.n_pieces] = s[0].addr - first;
            b->positions[b->block.n_pieces] = (uint16_t) b->body_len;
            memcpy(b->body + b->body_len, piece, len);
            b->body_len += len;
            b->block.n_pieces++;
            b->n_segments += n;
            return SYM_OK;
        }

        if (flush_block(b) != SYM_OK) {
            return b->err->status;
        }
    }
}


sym_status_t
sym_blocks_run(sym_blocks_t *b, const sym_segment_t *segments, size_t n,
               uint64_t end, const sym_node_place_t *places)
{
    while (n > 0) {
        size_t take = n < SYM_PIECE_SEGMENTS ? n : SYM_PIECE_SEGMENTS;
        uint64_t piece_end = take < n ? segments[take].addr : end;

        if (add_piece(b, segments, take, piece_end, places) != SYM_OK) {
            return b->err->status;
        }
        segments += take;
        n -= take;
    }

    return SYM_OK;
}


/* --- statements --- */

/* The numbers of a page's columns, and what widths serve all of each. */
typedef struct {
    uint32_t columns[SYM_STATEMENT_COLUMNS][SYM_STATEMENTS_PER_PAGE];
    unsigned codes[SYM_STATEMENT_COLUMNS];
} statement_page_t;

static sym_status_t
measure_statements(sym_blocks_t *b, statement_page_t *page)
{
    for (size_t i = 0; i < b->n_statements; i++) {
        const sym_statement_t *s = &b->statements[i];

        page->columns[SYM_STATEMENT_START][i] = s->addr - b->statements[0].addr;
        page->columns[SYM_STATEMENT_LENGTH][i] = s->size - 1;
        page->columns[SYM_STATEMENT_LINE][i] = s->line;
        if (file_number(b, s->file, &page->columns[SYM_STATEMENT_FILE][i])
            != SYM_OK) {
            return b->err->status;
        }
    }

    for (size_t k = 0; k < SYM_STATEMENT_COLUMNS; k++) {
        page->codes[k] = column_code(page->columns[k], b->n_statements);
    }

    return SYM_OK;
}


static sym_status_t
flush_statements(sym_blocks_t *b)
{
    statement_page_t page;
    uint8_t bytes[SYM_BLOCK_MAX + 4], *p = bytes, *out;

    if (b->n_statements == 0) {
        return SYM_OK;
    }

    if (measure_statements(b, &page) != SYM_OK) {
        return b->err->status;
    }

    *p++ = (uint8_t) b->n_statements;
    *p++ = (uint8_t) (page.codes[0] | page.codes[1] << 2 | page.codes[2] << 4
                      | page.codes[3] << 6);
    for (size_t k = 0; k < SYM_STATEMENT_COLUMNS; k++) {
        p = put_column(p, page.columns[k], b->n_statements, page.codes[k]);
    }

    out = indexed_room(b, &b->statement_index, b->statements[0].addr,
                       (size_t) (p - bytes));
    if (out == NULL) {
        return b->err->status;
    }

    memcpy(out, bytes, (size_t) (p - bytes));
    b->n_statements = 0;
    return SYM_OK;
}


sym_status_t
sym_blocks_statement(sym_blocks_t *b, const sym_statement_t *s)
{
    if (b->n_statements == SYM_STATEMENTS_PER_PAGE
        && flush_statements(b) != SYM_OK) {
        return b->err->status;
    }

    b->statements[b->n_statements++] = *s;
    return SYM_OK;
}


/* --- tables at the end --- */

/* Two arrays side by side: addresses, then references. */
static void
put_index(uint8_t *p, const sym_index_entry_t *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(p + 4 * i, &entries[i].addr, 4);
        memcpy(p + 4 * (n + i), &entries[i].ref, 4);
    }
}


static sym_status_t
write_index(sym_blocks_t *b, sym_index_t *index, uint32_t *n_index_pages,
            uint32_t *root_ref)
{
    size_t n_pages = 0;
    uint8_t *p;

    for (size_t i = 0; i < index->n; i += SYM_INDEX_PER_PAGE) {
        uint32_t n =
            (uint32_t) (index->n - i < SYM_INDEX_PER_PAGE ? index->n - i
                                                          : SYM_INDEX_PER_PAGE);
        uint32_t ref;

        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 4 + 8 * (size_t) n,
                              SYM_PLACE_PAGE, &ref);
        if (p == NULL) {
            return b->err->status;
        }
        memcpy(p, &n, sizeof(n));
        put_index(p + 4, index->entries + i, n);

        /* the page takes the place of the first it has in the root */
        index->entries[n_pages++] =
            (sym_index_entry_t){ index->entries[i].addr, ref };
    }

    *n_index_pages = (uint32_t) n_pages;
    p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 8 * n_pages, SYM_PLACE_ANY,
                          root_ref);
    if (p == NULL) {
        return b->err->status;
    }
    put_index(p, index->entries, n_pages);
    return SYM_OK;
}


static int
compare_entries(const void *a, const void *b)
{
    const sym_index_entry_t *x = a, *y = b;

    return (x->addr > y->addr) - (x->addr < y->addr);
}


sym_status_t
sym_blocks_shown(sym_blocks_t *b, const sym_shown_name_t *shown, size_t n)
{
    sym_index_t *index = &b->shown_index;

    index->entries =
        sym_array_grow(NULL, &index->size, n + 1, sizeof(*index->entries));
    if (index->entries == NULL) {
        return sym_fail(b->err, SYM_NOMEM, "no memory for names");
    }

    for (size_t i = 0; i < n; i++) {
        index->entries[i] =
            (sym_index_entry_t){ b->string_refs[shown[i].name],
                                 b->string_refs[shown[i].shown] };
    }

    index->n = n;
    qsort(index->entries, n, sizeof(*index->entries), compare_entries);
    return SYM_OK;
}


static sym_status_t
write_shown(sym_blocks_t *b, sym_header_t *header)
{
    uint32_t head[SYM_SHOWN_HEAD];
    uint8_t *p;

    if (b->shown_index.n == 0) {
        return SYM_OK;
    }

    if (write_index(b, &b->shown_index, &head[0], &head[1]) != SYM_OK) {
        return b->err->status;
    }

    p = sym_extents_alloc(b->x, SYM_LANE_MAIN, sizeof(head), SYM_PLACE_ANY,
                          &header->shown_ref);
    if (p == NULL) {
        return b->err->status;
    }

    memcpy(p, head, sizeof(head));
    return SYM_OK;
}


static sym_status_t
write_files(sym_blocks_t *b, sym_header_t *header)
{
    sym_buffer_t pages = { 0 };
    uint8_t *p = NULL;

    for (size_t i = 0; i < b->n_files; i += SYM_FILES_PER_PAGE) {
        size_t n = b->n_files - i < SYM_FILES_PER_PAGE ? b->n_files - i
                                                       : SYM_FILES_PER_PAGE;
        uint32_t ref;

        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 4 * n, SYM_PLACE_PAGE, &ref);
        if (p == NULL) {
            goto failed;
        }
        memcpy(p, b->files + i, 4 * n);
        sym_buffer_put(&pages, &ref, sizeof(ref));
    }

    if (pages.failed) {
        (void) sym_fail(b->err, SYM_NOMEM, "no memory for file names");
        goto failed;
    }

    header->n_files = (uint32_t) b->n_files;
    if (pages.len != 0) {
        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, pages.len, SYM_PLACE_ANY,
                              &header->files_ref);
        if (p == NULL) {
            goto failed;
        }
        memcpy(p, pages.data, pages.len);
    }

failed:
    sym_buffer_free(&pages);
    return b->err->status;
}


sym_status_t
sym_blocks_end(sym_blocks_t *b, sym_header_t *header)
{
    close_chunk(b);

    if (flush_block(b) != SYM_OK || flush_statements(b) != SYM_OK) {
        return b->err->status;
    }

    header->n_blocks = (uint32_t) b->index.n;
    if (write_index(b, &b->index, &header->n_index_pages, &header->root_ref)
            != SYM_OK
        || (b->statement_index.n != 0
            && write_index(b, &b->statement_index, &header->n_statement_pages,
                           &header->statements_ref)
                   != SYM_OK)
        || write_shown(b, header) != SYM_OK || write_files(b, header) != SYM_OK)
    {
        return b->err->status;
    }

    header->counts[SYM_COUNT_SEGMENTS] = b->n_segments;
    header->counts[SYM_COUNT_NODES] = b->n_nodes;
    return SYM_OK;
}
