#include "symcache/blocks.h"

#include <stdlib.h>

/* Longest node: flags, language and eight numbers. */
#define NODE_BYTES_MAX 48

/* The first chunks of nodes are small: so are most modules. */
#define SMALL_CHUNK 1020
#define SMALL_CHUNKS 4

/* Longest piece: head, and per segment address, node, line and exception. */
#define PIECE_BYTES_MAX (32 + SYM_PIECE_SEGMENTS * (4 + 4 + 1 + 10))

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

    if (b->starts == NULL || b->positions == NULL || b->body == NULL
        || b->twins == NULL || b->file_numbers == NULL)
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
    free(b->index);
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


/* Number + 1 of a file in the module's table, 0 for none. */
static sym_status_t
file_number(sym_blocks_t *b, uint32_t file, uint32_t *number)
{
    *number = 0;

    if (string_ref(b, file) == 0) {
        return SYM_OK;
    }

    if (b->file_numbers[file] == 0) {
        uint32_t *files = sym_array_grow(b->files, &b->files_size,
                                         b->n_files + 1, sizeof(*files));

        if (files == NULL) {
            return sym_fail(b->err, SYM_NOMEM, "no memory for file names");
        }

        b->files = files;
        b->files[b->n_files++] = b->string_refs[file];
        b->file_numbers[file] = (uint32_t) b->n_files;
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
    if (b->chunk == NULL || b->chunk_size - b->chunk_len < NODE_BYTES_MAX) {
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
static void
choose_bases(const sym_block_function_t *f, sym_node_place_t *places)
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
static sym_twin_t *
find_twin(sym_blocks_t *b, const sym_twin_t *want)
{
    uint64_t h =
        ((uint64_t) want->name << 32 | want->call_line) * 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < 8; i++) {
        sym_twin_t *t = &b->twins[(h >> 40 & (SYM_TWINS - 1)) ^ i];

        if (t->ref == 0 || memcmp(t, want, offsetof(sym_twin_t, ref)) == 0) {
            return t;
        }
    }

    return NULL;
}


static uint8_t *
put_function(uint8_t *p, const sym_block_function_t *f, unsigned flags)
{
    flags |= SYM_NODE_FUNCTION | (f->is_public ? SYM_NODE_PUBLIC : 0);
    p = sym_uleb_write(p, flags);
    memcpy(p, &f->addr, sizeof(f->addr));
    p = sym_uleb_write(p + sizeof(f->addr), f->size);
    *p++ = f->lang;
    return p;
}


static uint8_t *
put_call(uint8_t *p, const sym_twin_t *call, uint32_t distance, unsigned flags)
{
    bool has_file = call->call_file != call->parent_file;

    flags |= has_file ? SYM_NODE_CALL_FILE : 0;
    p = sym_uleb_write(p, (uint64_t) distance << SYM_NODE_CALL_SHIFT | flags);
    p = sym_uleb_write(p, call->call_line);

    return has_file ? sym_uleb_write(p, call->call_file) : p;
}


static sym_status_t
write_node(sym_blocks_t *b, const sym_block_function_t *f, size_t i,
           sym_node_place_t *places)
{
    const sym_flat_node_t *n = &f->nodes[i];
    sym_node_place_t *place = &places[i];
    uint32_t distance;
    sym_twin_t self = { .name = string_ref(b, n->name),
                        .call_line = n->call_line },
               *twin;
    unsigned flags;
    uint8_t *start, *p;

    if (file_number(b, place->file, &self.file) != SYM_OK
        || file_number(b, n->call_file, &self.call_file) != SYM_OK
        || (i != 0
            && file_number(b, places[n->parent].file, &self.parent_file)
                   != SYM_OK))
    {
        return b->err->status;
    }

    start = p = node_room(b, &place->ref);
    if (start == NULL) {
        return b->err->status;
    }

    distance = place->ref - places[n->parent].ref;
    self.ref = place->ref;
    self.line = place->line;

    twin = i == 0 ? NULL : find_twin(b, &self);
    if (twin != NULL && twin->ref != 0) {
        p = sym_uleb_write(p, (uint64_t) distance << SYM_NODE_TWIN_SHIFT
                                  | SYM_NODE_TWIN);
        p = sym_uleb_write(p, place->ref - twin->ref);
        place->line = twin->line;
        goto done;
    }

    if (twin != NULL) {
        *twin = self;
    }

    flags = (self.file != self.parent_file ? SYM_NODE_FILE : 0)
            | (self.line != 0 ? SYM_NODE_LINE : 0);
    p = i == 0 ? put_function(p, f, flags)
               : put_call(p, &self, distance, flags);
    p = sym_uleb_write(p, self.name);

    if (flags & SYM_NODE_FILE) {
        p = sym_uleb_write(p, self.file);
    }

    if (flags & SYM_NODE_LINE) {
        p = sym_uleb_write(p, self.line);
    }

done:
    b->chunk_len += (size_t) (p - start);
    b->n_nodes++;
    return SYM_OK;
}


sym_status_t
sym_blocks_nodes(sym_blocks_t *b, const sym_block_function_t *f,
                 sym_node_place_t *places)
{
    choose_bases(f, places);

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


static sym_status_t
flush_block(sym_blocks_t *b)
{
    size_t n = b->block.n_pieces;
    unsigned wide = b->block.addr_bytes;
    size_t head = block_size(n, wide, 0), size = head + b->body_len;
    sym_index_entry_t *entry;
    uint32_t ref;
    uint8_t *p;

    if (n == 0) {
        return SYM_OK;
    }

    p = sym_extents_alloc(b->x, SYM_LANE_MAIN, size, SYM_PLACE_PAGE, &ref);
    if (p == NULL) {
        return b->err->status;
    }

    entry = sym_array_grow(b->index, &b->index_size, b->n_index + 1,
                           sizeof(*entry));
    if (entry == NULL) {
        return sym_fail(b->err, SYM_NOMEM, "no memory for the index");
    }
    b->index = entry;
    b->index[b->n_index++] = (sym_index_entry_t){ b->block.addr, ref };

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


static unsigned
width_of(uint32_t largest)
{
    return largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
}


static uint8_t *
put_number(uint8_t *p, uint32_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        /* host order, as the reader's loads */
        p[i] = ((const uint8_t *) &v)[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                          ? i
                                          : sizeof(v) - width + i];
    }

    return p + width;
}


/* The line[] byte of a segment, and its exception if it needs one. */
static sym_status_t
put_line(sym_blocks_t *b, const sym_segment_t *s, const sym_node_place_t *node,
         uint8_t *code, uint8_t **exception)
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
        *exception = sym_uleb_write(*exception, s->line);
        *exception = sym_uleb_write(*exception, file);
    } else if (distance >= 0 && distance < SYM_LINE_CODES) {
        *code = (uint8_t) distance;
    } else {
        *code = SYM_LINE_FAR;
        *exception = sym_uleb_write(*exception, s->line);
    }

    return SYM_OK;
}


/* Encodes segments [0, n) up to `end`; *len bytes at out. */
static sym_status_t
encode_piece(sym_blocks_t *b, const sym_segment_t *s, size_t n, uint64_t end,
             const sym_node_place_t *places, uint32_t node_base, uint8_t *out,
             size_t *len)
{
    uint8_t exceptions[SYM_PIECE_SEGMENTS * 10], *e = exceptions;
    uint32_t most_addr = 0, most_node = 0, nearest = UINT32_MAX;
    uint32_t root = places[0].ref;
    unsigned addr_width, node_width;
    uint8_t *p = out;

    for (size_t i = 0; i < n; i++) {
        uint32_t delta = i == 0 ? 0 : s[i].addr - s[i - 1].addr;
        uint32_t node = places[s[i].node].ref - root;

        most_addr = delta > most_addr ? delta : most_addr;
        most_node = node > most_node ? node : most_node;
        nearest = node != 0 && node < nearest ? node : nearest;
    }

    addr_width = width_of(most_addr);
    node_width = most_node == 0 ? 0 : width_of(most_node - nearest + 1);

    p = sym_uleb_write(p, end - s[0].addr);
    p = sym_sleb_write(p, (int64_t) root - (int64_t) node_base);
    *p++ = (uint8_t) n;
    *p++ = SYM_WIDTHS(addr_width, node_width);
    if (node_width != 0) {
        p = sym_uleb_write(p, nearest);
    }

    for (size_t i = 1; i < n; i++) {
        p = put_number(p, s[i].addr - s[i - 1].addr, addr_width);
    }

    for (size_t i = 0; i < n; i++) {
        uint32_t node = places[s[i].node].ref - root;

        p = put_number(p, node == 0 ? 0 : node - nearest + 1, node_width);
    }

    for (size_t i = 0; i < n; i++) {
        if (put_line(b, &s[i], &places[s[i].node], p++, &e) != SYM_OK) {
            return b->err->status;
        }
    }

    memcpy(p, exceptions, (size_t) (e - exceptions));
    *len = (size_t) (p - out) + (size_t) (e - exceptions);
    return SYM_OK;
}


static sym_status_t
add_piece(sym_blocks_t *b, const sym_segment_t *s, size_t n, uint64_t end,
          const sym_node_place_t *places)
{
    uint8_t piece[PIECE_BYTES_MAX];
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
write_index(sym_blocks_t *b, sym_header_t *header)
{
    size_t n_pages = 0;
    uint8_t *p;

    for (size_t i = 0; i < b->n_index; i += SYM_INDEX_PER_PAGE) {
        uint32_t n = (uint32_t) (b->n_index - i < SYM_INDEX_PER_PAGE
                                     ? b->n_index - i
                                     : SYM_INDEX_PER_PAGE);
        uint32_t ref;

        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 4 + 8 * (size_t) n,
                              SYM_PLACE_PAGE, &ref);
        if (p == NULL) {
            return b->err->status;
        }
        memcpy(p, &n, sizeof(n));
        put_index(p + 4, b->index + i, n);

        /* the page takes the place of its first block in the root */
        b->index[n_pages++] = (sym_index_entry_t){ b->index[i].addr, ref };
    }

    header->n_blocks = (uint32_t) b->n_index;
    header->n_index_pages = (uint32_t) n_pages;

    p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 8 * n_pages, SYM_PLACE_ANY,
                          &header->root_ref);
    if (p == NULL) {
        return b->err->status;
    }
    put_index(p, b->index, n_pages);
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

    if (flush_block(b) != SYM_OK || write_index(b, header) != SYM_OK
        || write_files(b, header) != SYM_OK)
    {
        return b->err->status;
    }

    header->counts[SYM_COUNT_SEGMENTS] = b->n_segments;
    header->counts[SYM_COUNT_NODES] = b->n_nodes;
    return SYM_OK;
}
