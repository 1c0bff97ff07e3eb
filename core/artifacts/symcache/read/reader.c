/*
 * reader.c - lookups in a symcache.
 *
 * It has more than 800 lines so that the compiler can inline the steps of a
 * lookup into each other; a lookup takes less than a microsecond.  Exports
 * share decode.h and scan.h.
 */
#include "artifacts/symcache/read/decode.h"
#include "artifacts/symcache/read/scan.h"

_Static_assert((int) SYM_INFO_COUNT == (int) SYM_INFO_REFS,
               "one reference for each sym_info_t");

#define CACHE_LINE ((size_t) 64)

/* Usual size of a block's tables. */
#define BLOCK_HEAD (3 * CACHE_LINE)

#define BLOCKS_AHEAD 4

/*
 * The hot path of the complete server.  It reads through plain pointers, not
 * through a sym_cursor_t.  So every function here that moves a pointer also
 * takes the end.  Only get_uleb() and get_packed() read numbers of variable
 * width.
 */
static sym_status_t
damaged(sym_symcache_t *sc)
{
    sc->damaged++;
    return SYM_DAMAGED;
}


static bool
get_uleb(sym_span_t *s, uint64_t *value)
{
    uint64_t v = 0;

    for (unsigned shift = 0; s->pos < s->end && shift < 64; shift += 7) {
        uint8_t byte = *s->pos++;

        v |= (uint64_t) (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *value = v;
            return true;
        }
    }

    return false;
}


/* Reads a number of `width` bytes at *p, little endian.  Four bytes must be
 * readable. */
static inline uint32_t
get_packed(const uint8_t **p, unsigned width)
{
    static const uint32_t masks[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff };
    const uint8_t *q = *p;

    *p = q + width;
    return sym_column(q, 0, 4) & masks[width];
}


/* The i-th number of a column, like sym_column() but without a branch.  Four
 * bytes must be readable there. */
static inline uint32_t
get_column(const uint8_t *column, unsigned i, unsigned width)
{
    const uint8_t *p = column + (size_t) i * width;

    return get_packed(&p, width);
}


static inline uint32_t
get_wide(const uint8_t **p, unsigned code)
{
    return get_packed(p, SYM_WIDE(code & 3));
}


static inline uint32_t
get_thin(const uint8_t **p, unsigned code)
{
    return get_packed(p, SYM_THIN(code & 3));
}


/*
 * At least `need` readable bytes for a record: the bytes at s, or, near the end
 * of an extent, a copy of the rest that is padded with zeros.
 */
static inline const uint8_t *
readable(const sym_span_t *s, uint8_t *copy, size_t need)
{
    if ((size_t) (s->end - s->pos) >= need) {
        return s->pos;
    }

    memset(copy, 0, need);
    memcpy(copy, s->pos, (size_t) (s->end - s->pos));
    return copy;
}


static inline bool
get_extent(sym_symcache_t *sc, uint32_t number, sym_extent_view_t *view)
{
    if (sc->extents != NULL && number < sc->n_extents
        && sc->extents[number].data != NULL)
    {
        *view = sc->extents[number];
        return true;
    }

    if (number >= sc->n_extents
        || sc->get(sc->ctx, number, &view->data, &view->len) != SYM_OK)
    {
        return false;
    }

    if (sc->extents != NULL) {
        sc->extents[number] = *view;
    }

    return true;
}


/* The bytes from ref to the end of its extent. */
static inline bool
get_span(sym_symcache_t *sc, uint32_t ref, sym_span_t *s)
{
    uint32_t number = SYM_REF_EXTENT(ref), pos = SYM_REF_POS(ref);
    sym_extent_view_t view;

    if (!get_extent(sc, number, &view) || pos >= view.len) {
        return false;
    }

    s->pos = view.data + pos;
    s->end = view.data + view.len;
    return true;
}


/* Fields beyond the end of a short extent are read as 0.  No writer of ours
   makes such an extent. */
static sym_header_t
load_header(const sym_extent_view_t *first)
{
    sym_header_t h = { 0 };

    memcpy(&h, first->data, first->len < sizeof(h) ? first->len : sizeof(h));
    if (h.header_bytes < SYM_HEADER_BYTES_SHOWN) {
        h.source_server = 0;
        h.shown_ref = 0;
    }
    if (h.header_bytes < sizeof(h)) {
        h.n_loads = 0;
    }

    return h;
}


/* --- opening --- */

static sym_status_t
check_header(const sym_header_t *h, size_t len, sym_error_t *err)
{
    if (len < SYM_HEADER_BYTES_MIN
        || memcmp(h->magic, SYM_MAGIC, sizeof(h->magic)) != 0)
    {
        return sym_fail(err, SYM_DAMAGED, "not a symcache");
    }

    if (h->byte_order != SYM_BYTE_ORDER) {
        return sym_fail(err, SYM_VERSION, "symcache of another byte order");
    }

    if (h->version != SYM_SYMCACHE_VERSION) {
        return sym_fail(err, SYM_VERSION, "symcache of another version");
    }

    if (h->n_extents == 0 || h->n_extents > SYM_EXTENTS_LIMIT) {
        return sym_fail(err, SYM_DAMAGED, "symcache counts no extents");
    }

    return SYM_OK;
}


/* The table of `bytes` bytes at ref.  NULL: it does not fit in the extent. */
static const uint8_t *
get_table(sym_symcache_t *sc, uint32_t ref, uint64_t bytes)
{
    sym_span_t s;

    if (bytes == 0) {
        return sc->first.data;
    }

    if (!get_span(sc, ref, &s) || bytes > (uint64_t) (s.end - s.pos)) {
        return NULL;
    }

    return s.pos;
}


/* The root of the table of shown names.  NULL: it is outside of the
 * symcache. */
static const uint8_t *
get_shown(sym_symcache_t *sc, uint32_t ref)
{
    const uint8_t *head = get_table(sc, ref, ref != 0 ? 4 * SYM_SHOWN_HEAD : 0);

    if (ref == 0 || head == NULL) {
        return head;
    }

    sc->n_shown_pages = sym_load32(head);
    return get_table(sc, sym_load32(head + 4),
                     (uint64_t) sc->n_shown_pages * 8);
}


sym_status_t
sym_symcache_open(sym_symcache_t *sc, sym_extent_get_pt get, void *ctx,
                  sym_error_t *err)
{
    sym_header_t h;

    *sc = (sym_symcache_t){ .get = get, .ctx = ctx };

    if (get(ctx, 0, &sc->first.data, &sc->first.len) != SYM_OK) {
        return sym_fail(err, SYM_DAMAGED, "symcache has no first extent");
    }

    h = load_header(&sc->first);
    if (check_header(&h, sc->first.len, err) != SYM_OK) {
        return err->status;
    }

    sc->n_extents = h.n_extents;
    sc->bytes = h.bytes;
    sc->quality = (uint8_t) h.quality;
    sc->flags = h.flags;
    sc->has_linker_names = (h.flags & SYM_FLAG_LINKER_NAMES) != 0;
    sc->image_base = h.image_base;
    sc->n_index_pages = h.n_index_pages;
    sc->n_statement_pages = h.n_statement_pages;
    sc->n_files = h.n_files;
    sc->dict_len = h.dict_len;

    sc->root = get_table(sc, h.root_ref, (uint64_t) h.n_index_pages * 8);
    sc->statements =
        get_table(sc, h.statements_ref, (uint64_t) h.n_statement_pages * 8);
    sc->shown = get_shown(sc, h.shown_ref);
    sc->dict =
        get_table(sc, h.dict_ref,
                  h.dict_len == 0 ? 0 : (uint64_t) h.dict_len + SYM_DICT_SLACK);
    sc->file_pages = get_table(sc, h.files_ref,
                               ((uint64_t) h.n_files + SYM_FILES_PER_PAGE - 1)
                                   / SYM_FILES_PER_PAGE * 4);

    if (sc->root == NULL || sc->statements == NULL || sc->dict == NULL
        || sc->file_pages == NULL || sc->shown == NULL)
    {
        return sym_fail(err, SYM_DAMAGED, "symcache's tables lie outside it");
    }

    if (h.n_files != 0 && h.n_files <= SYM_FILES_PER_PAGE) {
        sc->files =
            get_table(sc, sym_load32(sc->file_pages), 4 * (uint64_t) h.n_files);
    }

    return SYM_OK;
}


void
sym_symcache_remember(sym_symcache_t *sc, sym_extent_view_t *table)
{
    table[0] = sc->first;
    sc->extents = table;
}


/* Prefetches the n bytes at p into the processor's cache. */
static inline void
fetch(const uint8_t *p, size_t n)
{
    const uint8_t *last = p + n - 1;

    for (; p < last; p += CACHE_LINE) {
        __builtin_prefetch(p);
    }
    __builtin_prefetch(last);
}


/* without a table of extents, getting the address would cost too much */
static void
fetch_ref(sym_symcache_t *sc, uint32_t ref, size_t n)
{
    sym_span_t s;

    if (sc->extents != NULL && get_span(sc, ref, &s)) {
        fetch(s.pos, n);
    }
}


/* --- from an address to its piece --- */

/* Number of the n sorted numbers at p that are <= key. */
static inline size_t
count_upto(const uint8_t *p, size_t n, uint32_t key)
{
    size_t base = 0;

    /* no branch depends on data: each step is a conditional move */
    while (n > 1) {
        size_t half = n / 2;

        base += sym_load32(p + 4 * (base + half - 1)) <= key ? half : 0;
        n -= half;
    }

    return n == 0 ? 0 : base + (sym_load32(p + 4 * base) <= key);
}


static inline size_t
count_upto16(const uint8_t *p, size_t n, uint32_t key)
{
    size_t base = 0;

    while (n > 1) {
        size_t half = n / 2;

        base += sym_load16(p + 2 * (base + half - 1)) <= key ? half : 0;
        n -= half;
    }

    return n == 0 ? 0 : base + (sym_load16(p + 2 * base) <= key);
}


/* Gets index page `number` of the n_pages under a root. */
static sym_status_t
open_page(sym_symcache_t *sc, const uint8_t *root, size_t n_pages,
          size_t number, sym_page_view_t *page)
{
    const uint8_t *ref = root + 4 * (n_pages + number);
    sym_span_t s;

    if (!get_span(sc, sym_load32(ref), &s) || s.end - s.pos < 4) {
        return damaged(sc);
    }

    page->n = sym_load32(s.pos);
    if (page->n > SYM_INDEX_PER_PAGE
        || (size_t) (s.end - s.pos) < 4 + 8 * (size_t) page->n)
    {
        return damaged(sc);
    }

    page->addrs = s.pos + 4;
    page->refs = page->addrs + 4 * (size_t) page->n;
    return SYM_OK;
}


sym_status_t
sym_decode_page(sym_symcache_t *sc, size_t number, sym_page_view_t *page)
{
    return open_page(sc, sc->root, sc->n_index_pages, number, page);
}


static sym_status_t
get_block(sym_symcache_t *sc, uint32_t ref, const uint8_t **data, uint32_t *len)
{
    sym_span_t s;

    if (!get_span(sc, ref, &s)) {
        return damaged(sc);
    }

    *data = s.pos;
    *len = (uint32_t) (s.end - s.pos);
    return SYM_OK;
}


/* Finds the block.  SYM_NOT_FOUND: addr is before all blocks. */
static sym_status_t
find_block(sym_symcache_t *sc, uint32_t addr)
{
    size_t page, slot, n_pages = sc->n_index_pages;
    uint64_t last_to = sc->block_to;
    sym_page_view_t view;

    page = count_upto(sc->root, n_pages, addr);
    if (page-- == 0) {
        return SYM_NOT_FOUND;
    }

    if (sym_decode_page(sc, page, &view) != SYM_OK) {
        return SYM_DAMAGED;
    }

    slot = count_upto(view.addrs, view.n, addr);
    if (slot-- == 0) {
        return damaged(sc); /* the root contains the page's first address */
    }

    sc->block_from = sym_load32(view.addrs + 4 * slot);
    sc->block_to = slot + 1 < view.n ? sym_load32(view.addrs + 4 * (slot + 1))
                   : page + 1 < n_pages ? sym_load32(sc->root + 4 * (page + 1))
                                        : UINT64_MAX;

    /* access is often sequential: prefetch the next block */
    if (sc->block_from == last_to && slot + BLOCKS_AHEAD < view.n) {
        fetch_ref(sc, sym_load32(view.refs + 4 * (slot + BLOCKS_AHEAD)),
                  BLOCK_HEAD);
    }

    return get_block(sc, sym_load32(view.refs + 4 * slot), &sc->block,
                     &sc->block_len);
}


sym_status_t
sym_decode_block(sym_symcache_t *sc, const uint8_t *data, size_t len,
                 sym_block_view_t *block)
{
    sym_block_t *b = &block->head;

    if (len < sizeof(*b)) {
        return damaged(sc);
    }

    memcpy(b, data, sizeof(*b));
    if ((b->addr_bytes != 2 && b->addr_bytes != 4)
        || sizeof(*b) + b->n_pieces * ((size_t) b->addr_bytes + 2) > len)
    {
        return damaged(sc);
    }

    block->starts = data + sizeof(*b);
    block->positions = block->starts + (size_t) b->n_pieces * b->addr_bytes;
    block->data = data;
    block->len = (uint32_t) len;
    return SYM_OK;
}


sym_status_t
sym_decode_block_at(sym_symcache_t *sc, const sym_page_view_t *page,
                    uint32_t slot, sym_block_view_t *block)
{
    uint32_t ref = sym_load32(page->refs + 4 * (size_t) slot), len;
    const uint8_t *data;

    return get_block(sc, ref, &data, &len) != SYM_OK
               ? SYM_DAMAGED
               : sym_decode_block(sc, data, len, block);
}


/* Length of a piece according to the tables. */
static inline size_t
piece_size(const sym_block_view_t *b, size_t slot, uint32_t pos)
{
    uint32_t next = slot + 1 < b->head.n_pieces
                        ? sym_load16(b->positions + 2 * slot + 2)
                        : 0;

    return next > pos && next - pos < 512 ? next - pos : 128;
}


/* The last piece that begins at or before the address. */
static sym_status_t
find_piece(sym_symcache_t *sc, sym_probe_t *q)
{
    sym_block_view_t b;
    size_t slot;
    uint32_t key, pos;

    if (sym_decode_block(sc, q->block, q->block_len, &b) != SYM_OK) {
        return SYM_DAMAGED;
    }

    if (b.head.addr > q->addr) {
        return damaged(sc);
    }

    key = q->addr - b.head.addr;
    slot = b.head.addr_bytes == 2 ? count_upto16(b.starts, b.head.n_pieces, key)
                                  : count_upto(b.starts, b.head.n_pieces, key);
    if (slot-- == 0) {
        return damaged(sc);
    }

    pos = sym_load16(b.positions + 2 * slot);
    if (pos >= q->block_len) {
        return damaged(sc);
    }

    q->behind = key - sym_block_start(&b, slot);
    q->node_base = b.head.node_ref;
    q->piece = q->block + pos;
    fetch(q->piece, piece_size(&b, slot, pos));
    return SYM_OK;
}


/* --- from a piece to its segment --- */

/* Number of bytes that a search reads beyond the end of a column. */
#define PIECE_READ (SYM_PIECE_BYTES_MAX + SYM_SCAN_BYTES)

/* Number of the segment that contains the address. */
static inline unsigned
find_segment(const sym_piece_view_t *p, uint32_t behind)
{
    uint64_t at = 0;
    unsigned i;

    if (p->delta_width == 1 && behind <= SYM_SCAN_MOST) {
        return sym_scan_deltas(p->deltas, p->n - 1, 8, behind);
    }

    if (p->delta_width == 2 && behind <= SYM_SCAN_MOST) {
        return sym_scan_deltas(p->deltas, p->n - 1, 16, behind);
    }

    for (i = 1; i < p->n; i++) {
        at += sym_column(p->deltas, i - 1, p->delta_width);
        if (at > behind) {
            break;
        }
    }

    return i - 1;
}


/* Like sym_decode_piece(), but called for every lookup.  PIECE_READ bytes must
 * be readable at start, even if len is less. */
static inline sym_status_t
open_piece(sym_symcache_t *sc, const uint8_t *start, size_t len,
           uint32_t node_base, sym_piece_view_t *piece)
{
    const uint8_t *p = start + SYM_PIECE_HEAD;
    unsigned n = start[0], widths = start[1] | (unsigned) start[2] << 8;
    unsigned n_lines, n_files;

    piece->n = n;
    piece->delta_width = SYM_THIN(widths & 3);
    piece->node_width = SYM_THIN(widths >> 2 & 3);
    piece->line_width = SYM_THIN(widths >> 10 & 3);
    piece->file_width = SYM_THIN(widths >> 12 & 3);
    piece->len = get_wide(&p, widths >> 4);
    piece->root_ref = node_base + get_thin(&p, widths >> 6);
    piece->nearest = get_thin(&p, widths >> 8);

    if (n - 1 >= SYM_PIECE_SEGMENTS) {
        return damaged(sc);
    }

    piece->deltas = p;
    piece->nodes = p + (size_t) (n - 1) * piece->delta_width;
    piece->codes = piece->nodes + (size_t) n * piece->node_width;
    piece->exceptions = sym_scan_exceptions(piece->codes);
    sym_scan_bits(piece->exceptions, n, &n_lines, &n_files);

    piece->lines = piece->codes + n;
    piece->files = piece->lines + (size_t) n_lines * piece->line_width;
    p = piece->files + (size_t) n_files * piece->file_width;
    return (size_t) (p - start) > len ? damaged(sc) : SYM_OK;
}


sym_status_t
sym_decode_piece(sym_symcache_t *sc, const uint8_t *data, const uint8_t *end,
                 uint32_t node_base, sym_piece_view_t *piece)
{
    uint8_t copy[PIECE_READ];
    const sym_span_t s = { data, end };
    const uint8_t *start = readable(&s, copy, sizeof(copy));
    size_t len = (size_t) (end - data);

    if (open_piece(sc, start, len, node_base, piece) != SYM_OK) {
        return SYM_DAMAGED;
    }

    piece->deltas = data + (piece->deltas - start);
    piece->nodes = data + (piece->nodes - start);
    piece->codes = data + (piece->codes - start);
    piece->lines = data + (piece->lines - start);
    piece->files = data + (piece->files - start);
    return SYM_OK;
}


/* Position of segment i.  The exception's value is read even if it is not used,
 * because a branch on the code would be unpredictable. */
static inline void
read_line(const sym_piece_view_t *p, unsigned i, sym_probe_t *q)
{
    uint32_t code = p->codes[i], line, file;
    unsigned lines_before, files_before;

    sym_scan_bits(p->exceptions, i, &lines_before, &files_before);
    line = get_column(p->lines, lines_before, p->line_width);
    file = get_column(p->files, files_before, p->file_width);

    q->line_mask = code < SYM_LINE_CODES ? UINT32_MAX : 0;
    q->line = code < SYM_LINE_CODES ? code - SYM_LINE_BIAS : line;
    file = code == SYM_LINE_FOREIGN ? file : SYM_FILE_NODES;
    q->file = code == SYM_LINE_NONE ? 0 : file;
}


/* SYM_NOT_FOUND: the piece ends before the address.  PIECE_READ bytes at start
 * must be readable. */
static inline sym_status_t
read_piece_at(sym_probe_t *q, const uint8_t *start, size_t len)
{
    sym_piece_view_t piece;
    unsigned i;

    if (open_piece(q->sc, start, len, q->node_base, &piece) != SYM_OK) {
        return SYM_DAMAGED;
    }

    if (q->behind > piece.len) {
        return SYM_NOT_FOUND;
    }

    i = find_segment(&piece, q->behind);
    q->root_ref = piece.root_ref;
    q->node_ref =
        sym_piece_node(&piece, get_column(piece.nodes, i, piece.node_width));
    read_line(&piece, i, q);
    return SYM_OK;
}


/* Copies a piece near the end of an extent, where reads of words would cross
 * the end. */
static __attribute__((cold)) sym_status_t
read_last_piece(sym_probe_t *q, const sym_span_t *s)
{
    uint8_t copy[PIECE_READ];
    size_t len = (size_t) (s->end - s->pos);

    return read_piece_at(q, readable(s, copy, sizeof(copy)),
                         len < SYM_PIECE_BYTES_MAX ? len : SYM_PIECE_BYTES_MAX);
}


static inline sym_status_t
read_piece(sym_probe_t *q)
{
    const sym_span_t s = { q->piece, q->block + q->block_len };

    return s.end - s.pos < PIECE_READ
               ? read_last_piece(q, &s)
               : read_piece_at(q, s.pos, SYM_PIECE_BYTES_MAX);
}


/* --- nodes --- */

static void
read_function(const uint8_t *p, sym_node_t *node)
{
    unsigned first = p[0], codes = p[1];

    node->lang = p[2];
    node->is_public = (first & SYM_NODE_PUBLIC) != 0;
    p += 3;
    node->addr = get_packed(&p, 4);
    node->size = get_thin(&p, codes >> 4);
    node->name = get_wide(&p, first >> 4);
    node->file = get_thin(&p, codes);
    node->line = get_thin(&p, codes >> 2);
    node->has_file = true; /* the node has its own file, or none, and so does
                              not inherit one */
}


/* Reads all fields except the parent. */
static void
read_call(const uint8_t *p, sym_node_t *node)
{
    unsigned first = p[0], codes = p[1];

    p += 2;
    (void) get_wide(&p, first >> 2);
    node->call_line = get_wide(&p, first >> 4);
    node->name = get_wide(&p, first >> 6);
    node->call_file = get_thin(&p, codes);
    node->file = get_thin(&p, codes >> 2);
    node->line = get_thin(&p, codes >> 4);
    node->has_file = (codes & SYM_NODE_HAS_FILE) != 0;
    node->has_call_file = (codes & SYM_NODE_HAS_CALL_FILE) != 0;
}


/* Reads the record at s.  Near the end of an extent it is read from a copy. */
static inline const uint8_t *
node_record(const sym_span_t *s, uint8_t *copy)
{
    return copy == NULL ? s->pos : readable(s, copy, SYM_NODE_BYTES_MAX);
}


static inline __attribute__((always_inline)) sym_status_t
open_node_at(sym_symcache_t *sc, uint32_t ref, sym_span_t s, uint8_t *copy,
             sym_node_t *node)
{
    const uint8_t *record = node_record(&s, copy), *p;
    uint32_t distance, other;

    node->kind = SYM_NODE_KIND(record[0]);

    if (node->kind == SYM_NODE_FUNCTION) {
        read_function(record, node);
        return SYM_OK;
    }

    p = record + (node->kind == SYM_NODE_TWIN ? 1 : 2);
    distance = get_wide(&p, record[0] >> 2);

    /* with a distance of 0 a node would be its own parent */
    if (node->kind > SYM_NODE_TWIN || distance == 0 || distance > ref) {
        return damaged(sc);
    }
    node->parent_ref = ref - distance;

    if (node->kind == SYM_NODE_TWIN) {
        other = get_wide(&p, record[0] >> 4);
        if (other > SYM_REF_POS(ref)) {
            return damaged(sc);
        }

        s.pos -= other;
        record = node_record(&s, copy);
        if (SYM_NODE_KIND(record[0]) != SYM_NODE_CALL) {
            return damaged(sc);
        }
    }

    read_call(record, node);
    return SYM_OK;
}


static __attribute__((cold)) sym_status_t
open_last_node(sym_symcache_t *sc, uint32_t ref, const sym_span_t *s,
               sym_node_t *node)
{
    uint8_t copy[SYM_NODE_BYTES_MAX];

    return open_node_at(sc, ref, *s, copy, node);
}


/* Like sym_decode_node(), but called for every level of an answer. */
static inline __attribute__((always_inline)) sym_status_t
open_node(sym_symcache_t *sc, uint32_t ref, sym_node_t *node)
{
    sym_span_t s;

    if (!get_span(sc, ref, &s)) {
        return damaged(sc);
    }

    return s.end - s.pos < SYM_NODE_BYTES_MAX
               ? open_last_node(sc, ref, &s, node)
               : open_node_at(sc, ref, s, NULL, node);
}


sym_status_t
sym_decode_node(sym_symcache_t *sc, uint32_t ref, sym_node_t *node)
{
    return open_node(sc, ref, node);
}


static sym_string_ref_t
no_file(sym_symcache_t *sc)
{
    (void) damaged(sc);
    return SYM_NO_REF;
}


/* Like sym_symcache_file(), but called for every level of an answer. */
static inline sym_string_ref_t
get_file(sym_symcache_t *sc, uint32_t number)
{
    uint32_t i = number - 1; /* 0, "no file", wraps around */
    size_t place = 4 * (size_t) (i % SYM_FILES_PER_PAGE);
    sym_span_t s;

    if (i >= sc->n_files) {
        return number == 0 ? SYM_NO_REF : no_file(sc);
    }

    if (sc->files != NULL) {
        return sym_load32(sc->files + place);
    }

    if (!get_span(
            sc,
            sym_load32(sc->file_pages + 4 * (size_t) (i / SYM_FILES_PER_PAGE)),
            &s)
        || place + 4 > (size_t) (s.end - s.pos))
    {
        return no_file(sc);
    }

    return sym_load32(s.pos + place);
}


sym_string_ref_t
sym_symcache_file(sym_symcache_t *sc, uint32_t number)
{
    return get_file(sc, number);
}


/* --- from a node out to its function --- */

/* Positions of the levels.  All files are looked up here, once for each level,
 * because a node without a file has its parent's file. */
static void
name_files(sym_symcache_t *sc, const uint32_t *node_files, sym_level_t *levels,
           uint32_t n)
{
    uint32_t file = 0;

    while (n-- > 0) {
        sym_level_t *l = &levels[n];
        uint32_t own = node_files[n];

        file = own == SYM_FILE_NODES ? file : own;
        l->file = get_file(sc, l->file == SYM_FILE_NODES ? file : l->file);
        l->line = l->file == SYM_NO_REF ? 0 : l->line;
    }
}


/* Walks from the segment's node outwards to the function's node. */
static sym_status_t
answer_segment(sym_symcache_t *sc, const sym_probe_t *q, sym_level_t *levels,
               sym_answer_t *answer)
{
    uint32_t node_files[SYM_LEVELS_MAX];
    uint32_t ref = q->node_ref, n = 0;
    uint32_t line = q->line, line_mask = q->line_mask, file = q->file;
    sym_node_t node;

    for (;;) {
        if (ref < q->root_ref || open_node(sc, ref, &node) != SYM_OK) {
            return damaged(sc);
        }

        levels[n] = (sym_level_t){ .name = node.name,
                                   .file = file,
                                   .line = line + (node.line & line_mask) };
        node_files[n++] = node.has_file ? node.file : SYM_FILE_NODES;

        if (node.kind == SYM_NODE_FUNCTION) {
            break;
        }

        if (n == SYM_LEVELS_MAX) {
            return damaged(sc);
        }

        /* the caller's position is that of the call */
        line = node.call_line;
        line_mask = 0;
        file = node.has_call_file ? node.call_file : SYM_FILE_NODES;
        ref = node.parent_ref;
    }

    name_files(sc, node_files, levels, n);
    answer->function_addr = node.addr;
    answer->function_size = node.size;
    answer->lang = node.lang;
    answer->n_levels = n;
    return SYM_OK;
}


/* --- shown names --- */

sym_string_ref_t
sym_symcache_shown(sym_symcache_t *sc, sym_string_ref_t name)
{
    size_t n = sc->n_shown_pages, number, slot;
    sym_page_view_t view;

    number = count_upto(sc->shown, n, name);
    if (number-- == 0 || open_page(sc, sc->shown, n, number, &view) != SYM_OK) {
        return SYM_NO_REF;
    }

    slot = count_upto(view.addrs, view.n, name);
    return slot != 0 && sym_load32(view.addrs + 4 * (slot - 1)) == name
               ? sym_load32(view.refs + 4 * (slot - 1))
               : SYM_NO_REF;
}


/* --- statements --- */

/* A statement page, with pointers to its columns. */
typedef struct {
    const uint8_t *columns[SYM_STATEMENT_COLUMNS];
    unsigned widths[SYM_STATEMENT_COLUMNS];
    unsigned n;
} statement_page_t;

static inline uint32_t
statement(const statement_page_t *page, unsigned column, unsigned i)
{
    return sym_column(page->columns[column], i, page->widths[column]);
}


static sym_status_t
open_statements(sym_symcache_t *sc, uint32_t ref, statement_page_t *page)
{
    size_t left;
    sym_span_t s;

    if (!get_span(sc, ref, &s) || s.end - s.pos < SYM_STATEMENT_HEAD) {
        return damaged(sc);
    }

    page->n = s.pos[0];
    left = (size_t) (s.end - s.pos) - SYM_STATEMENT_HEAD;

    for (unsigned k = 0; k < SYM_STATEMENT_COLUMNS; k++) {
        unsigned width = SYM_THIN(s.pos[1] >> 2 * k & 3);

        if ((size_t) page->n * width > left) {
            return damaged(sc);
        }

        left -= (size_t) page->n * width;
        page->widths[k] = width;
        page->columns[k] =
            k == 0
                ? s.pos + SYM_STATEMENT_HEAD
                : page->columns[k - 1] + (size_t) page->n * page->widths[k - 1];
    }

    return SYM_OK;
}


/* Finds the page for the address.  SYM_NOT_FOUND: addr is before all pages. */
static sym_status_t
find_statements(sym_symcache_t *sc, uint32_t addr, uint32_t *behind,
                statement_page_t *page)
{
    size_t n = sc->n_statement_pages, number, slot;
    sym_page_view_t view;

    number = count_upto(sc->statements, n, addr);
    if (number-- == 0) {
        return SYM_NOT_FOUND;
    }

    if (open_page(sc, sc->statements, n, number, &view) != SYM_OK) {
        return SYM_DAMAGED;
    }

    slot = count_upto(view.addrs, view.n, addr);
    if (slot-- == 0) {
        return damaged(sc);
    }

    *behind = addr - sym_load32(view.addrs + 4 * slot);
    return open_statements(sc, sym_load32(view.refs + 4 * slot), page);
}


bool
sym_symcache_statement(sym_symcache_t *sc, uint32_t addr,
                       sym_level_t *innermost)
{
    statement_page_t page;
    unsigned low = 0, high;
    uint32_t behind;

    if (sc->n_statement_pages == 0
        || find_statements(sc, addr, &behind, &page) != SYM_OK)
    {
        return false;
    }

    for (high = page.n; low < high;) {
        unsigned middle = low + (high - low) / 2;

        if (statement(&page, SYM_STATEMENT_START, middle) <= behind) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low-- == 0
        || behind - statement(&page, SYM_STATEMENT_START, low)
               > statement(&page, SYM_STATEMENT_LENGTH, low))
    {
        return false;
    }

    innermost->file = get_file(sc, statement(&page, SYM_STATEMENT_FILE, low));
    innermost->line = innermost->file != SYM_NO_REF
                          ? statement(&page, SYM_STATEMENT_LINE, low)
                          : 0;
    return true;
}


/* --- step by step --- */

void
sym_symcache_seek(sym_symcache_t *sc, uint64_t addr64, sym_probe_t *q)
{
    uint32_t addr = (uint32_t) addr64;

    q->sc = sc;
    q->addr = addr;

    if (addr64 > UINT32_MAX) {
        q->rc = SYM_NOT_FOUND;
        return;
    }

    if (sc->block == NULL || addr < sc->block_from || addr >= sc->block_to) {
        sc->block = NULL;
        q->rc = find_block(sc, addr);
        if (q->rc != SYM_OK) {
            return;
        }
        fetch(sc->block, BLOCK_HEAD);
    }

    q->rc = SYM_OK;
    q->block = sc->block;
    q->block_len = sc->block_len;
}


static void
approach(sym_probe_t *q)
{
    if (q->rc == SYM_OK) {
        q->rc = find_piece(q->sc, q);
    }
}


static void
enter(sym_probe_t *q)
{
    if (q->rc == SYM_OK) {
        q->rc = read_piece(q);
    }

    if (q->rc == SYM_OK) {
        fetch_ref(q->sc, q->node_ref, SYM_NODE_BYTES_MAX);

        /* the walk outwards ends at the function's node, often some cache lines
         * away */
        if (q->node_ref - q->root_ref > CACHE_LINE) {
            fetch_ref(q->sc, q->root_ref, SYM_NODE_BYTES_MAX);
        }
    }
}


void
sym_symcache_lead(sym_probe_t *probes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        approach(&probes[i]);
    }

    for (uint32_t i = 0; i < n; i++) {
        enter(&probes[i]);
    }
}


sym_status_t
sym_symcache_answer(const sym_probe_t *q, sym_level_t *levels,
                    sym_answer_t *answer)
{
    sym_status_t rc = q->rc;

    *answer = (sym_answer_t){ .levels = levels };

    if (rc == SYM_OK) {
        rc = answer_segment(q->sc, q, levels, answer);
    }

    if (rc != SYM_OK) {
        answer->n_levels = 0;
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


sym_status_t
sym_symcache_lookup(sym_symcache_t *sc, uint64_t addr, sym_level_t *levels,
                    sym_answer_t *answer)
{
    sym_probe_t probe;

    sym_symcache_seek(sc, addr, &probe);
    sym_symcache_lead(&probe, 1);
    return sym_symcache_answer(&probe, levels, answer);
}


/* --- strings --- */

static sym_status_t
string_head(sym_symcache_t *sc, sym_string_ref_t ref, sym_span_t *s,
            size_t *len, bool *is_plain)
{
    uint64_t head = 1;

    *len = 0;
    *is_plain = true;

    if (ref == SYM_NO_REF) {
        return SYM_OK;
    }

    if (!get_span(sc, ref, s) || !get_uleb(s, &head)
        || head >> 1 > SYM_STRING_MAX) {
        return damaged(sc);
    }

    *len = (size_t) (head >> 1);
    *is_plain = (head & 1) != 0;
    return SYM_OK;
}


void
sym_symcache_expect(sym_symcache_t *sc, sym_string_ref_t ref)
{
    if (ref != SYM_NO_REF) {
        fetch_ref(sc, ref, 2 * CACHE_LINE);
    }
}


sym_status_t
sym_symcache_string_len(sym_symcache_t *sc, sym_string_ref_t ref, size_t *len,
                        bool *is_plain)
{
    sym_span_t s;

    return string_head(sc, ref, &s, len, is_plain);
}


/*
 * Copies words of 16 bytes.  Up to 15 bytes beyond n are read and written, so
 * both sides have SLACK.
 */
static inline void
copy_words(char *out, const uint8_t *from, size_t n)
{
    for (size_t done = 0; done < n; done += 16) {
        memcpy(out + done, from + done, 16);
    }
}

_Static_assert(SYM_STRING_SLACK >= 16 && SYM_DICT_SLACK >= 16,
               "copy_words() runs over by up to 15 bytes");


/* Executes one token: n bytes to out.  False: damaged. */
static inline bool
unpack_token(const sym_symcache_t *sc, sym_span_t *s, char *out, size_t left,
             size_t *n)
{
    unsigned token = *s->pos++;
    uint64_t more;
    uint32_t place;

    if (token < SYM_TOKEN_COPY) {
        *n = token + 1;
        if (*n > left || *n > (size_t) (s->end - s->pos)) {
            return false;
        }

        if ((size_t) (s->end - s->pos) >= *n + 15) {
            copy_words(out, s->pos, *n);
        } else {
            memcpy(out, s->pos, *n);
        }
        s->pos += *n;
        return true;
    }

    *n = token - SYM_TOKEN_COPY + SYM_COPY_MIN;
    if (token == SYM_TOKEN_LONG) {
        if (!get_uleb(s, &more) || more > left) {
            return false;
        }
        *n += (size_t) more;
    }

    if (s->end - s->pos < 2) {
        return false;
    }

    place = sym_load16(s->pos);
    s->pos += 2;

    if (*n > left || place >= sc->dict_len || *n > sc->dict_len - place) {
        return false;
    }

    copy_words(out, sc->dict + place, *n);
    return true;
}


/* Unpacks the tokens at s to len bytes.  Returns 0 on damage. */
static inline size_t
unpack_tokens(sym_symcache_t *sc, sym_span_t *s, size_t len, char *out)
{
    size_t done = 0, n;

    while (done < len) {
        if (s->pos >= s->end
            || !unpack_token(sc, s, out + done, len - done, &n)) {
            (void) damaged(sc);
            return 0;
        }
        done += n;
    }

    return len;
}


/* Unpacks the parts to which s refers, len bytes in total. */
static bool
next_part(sym_symcache_t *sc, sym_span_t *s, sym_string_ref_t *ref)
{
    if (s->end - s->pos < (ptrdiff_t) sizeof(*ref)) {
        (void) damaged(sc);
        return false;
    }

    *ref = sym_load32(s->pos);
    s->pos += sizeof(*ref);
    return true;
}


static size_t
unpack_parts(sym_symcache_t *sc, sym_span_t *s, size_t len, char *out)
{
    size_t done = 0;

    for (unsigned i = 0; i < SYM_PARTS_MAX && done < len; i++) {
        sym_span_t part = { NULL, NULL };
        sym_string_ref_t ref;
        size_t n;
        bool is_plain;

        if (!next_part(sc, s, &ref)
            || string_head(sc, ref, &part, &n, &is_plain) != SYM_OK)
        {
            return 0;
        }

        if (n > SYM_PART_BYTES_MAX || n > len - done) {
            break;
        }

        if (n != 0 && unpack_tokens(sc, &part, n, out + done) == 0) {
            return 0;
        }
        done += n;
    }

    if (done < len) {
        (void) damaged(sc);
        return 0;
    }

    return len;
}


uint32_t
sym_symcache_parts(sym_symcache_t *sc, sym_string_ref_t ref,
                   sym_string_ref_t parts[SYM_PARTS_MAX])
{
    sym_span_t s = { NULL, NULL };
    size_t len, done = 0;
    uint32_t n = 0;
    bool is_plain;

    if (string_head(sc, ref, &s, &len, &is_plain) != SYM_OK
        || len <= SYM_PART_BYTES_MAX)
    {
        return 0;
    }

    while (done < len && n < SYM_PARTS_MAX && next_part(sc, &s, &parts[n])) {
        size_t part;

        if (sym_symcache_string_len(sc, parts[n], &part, &is_plain) != SYM_OK
            || part > SYM_PART_BYTES_MAX)
        {
            break;
        }
        done += part;
        n++;
    }

    if (done != len) {
        (void) damaged(sc);
        return 0;
    }

    return n;
}


size_t
sym_symcache_string_within(sym_symcache_t *sc, sym_string_ref_t ref, char *out,
                           size_t room, bool *is_plain)
{
    size_t len, done;
    sym_span_t s = { NULL, NULL };

    if (string_head(sc, ref, &s, &len, is_plain) != SYM_OK) {
        *is_plain = true;
        return 0;
    }

    if (room < SYM_STRING_SLACK || len > room - SYM_STRING_SLACK) {
        if (len <= SYM_PART_BYTES_MAX) {
            (void) damaged(sc);
        }
        *is_plain = true;
        return 0;
    }

    done = len <= SYM_PART_BYTES_MAX ? unpack_tokens(sc, &s, len, out)
                                     : unpack_parts(sc, &s, len, out);
    *is_plain = *is_plain || done != len;
    return done;
}


/* --- facts --- */

size_t
sym_symcache_info(sym_symcache_t *sc, sym_info_t which, char *out)
{
    sym_header_t h = load_header(&sc->first);
    bool is_plain;

    return sym_symcache_string_within(sc, h.info[which], out, SYM_PART_ROOM,
                                      &is_plain);
}


size_t
sym_symcache_source_server(sym_symcache_t *sc, char *out)
{
    sym_header_t h = load_header(&sc->first);
    bool is_plain;

    return h.source_server != 0 ? sym_symcache_string_within(
               sc, h.source_server, out, SYM_PART_ROOM, &is_plain)
                                : 0;
}


bool
sym_symcache_offset(sym_symcache_t *sc, uint64_t offset, uint64_t *addr)
{
    const sym_header_t h = load_header(&sc->first);
    const uint8_t *p;

    p = h.n_loads <= SYM_LOADS_MAX
            ? get_table(sc, h.loads_ref, (uint64_t) h.n_loads * SYM_LOAD_BYTES)
            : NULL;
    if (p == NULL) {
        (void) damaged(sc);
        return false;
    }

    for (uint32_t i = 0; i < h.n_loads; i++, p += SYM_LOAD_BYTES) {
        uint64_t load[3];

        memcpy(load, p, sizeof(load));
        if (offset >= load[0] && offset - load[0] < load[1]) {
            *addr = load[2] + (offset - load[0]);
            return true;
        }
    }

    return false;
}


void
sym_symcache_counts(const sym_symcache_t *sc, sym_symcache_counts_t *counts)
{
    sym_header_t h = load_header(&sc->first);

    *counts = (sym_symcache_counts_t){
        .functions = h.counts[SYM_COUNT_FUNCTIONS],
        .publics = h.counts[SYM_COUNT_PUBLICS],
        .inlines = h.counts[SYM_COUNT_INLINES],
        .lines = h.counts[SYM_COUNT_LINES],
        .segments = h.counts[SYM_COUNT_SEGMENTS],
        .nodes = h.counts[SYM_COUNT_NODES],
        .strings = h.counts[SYM_COUNT_STRINGS],
        .string_bytes = h.counts[SYM_COUNT_STRING_BYTES],
        .dropped = h.counts[SYM_COUNT_DROPPED],
        .truncated = h.counts[SYM_COUNT_TRUNCATED],
        .source_bytes = h.counts[SYM_COUNT_SOURCE_BYTES],
    };
}
