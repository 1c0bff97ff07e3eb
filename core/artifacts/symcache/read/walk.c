#include "artifacts/symcache/read/walk.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "artifacts/symcache/read/decode.h"

/*
 * If other functions interrupt a function, the walk reads the rest of it at
 * once, across their pieces.  So pieces of a function that spans a complete
 * module are visited twice.  Pieces that are visited more often than this, on
 * average, are adversarial input.
 */
#define AHEAD_PER_PIECE 64
#define AHEAD_FREE ((uint64_t) 1 << 20)

/* Limit on the interrupted functions at one address. */
#define INTERRUPTED_MAX 4096

#define SPACE_END ((uint64_t) 1 << 32)

/* A position between two pieces. */
typedef struct {
    uint64_t from;     /* the next piece begins at or after this address */
    uint32_t n_pages;  /* number of pages begun */
    uint32_t n_blocks; /* number of the page's blocks begun */
    uint32_t n_pieces; /* number of the block's pieces begun */
    sym_page_view_t page;
    sym_block_view_t block;
} place_t;

typedef struct {
    sym_piece_view_t view;
    uint32_t addr;
    uint64_t end;
} piece_t;

/* The values relative to which a node's segments are stored. */
typedef struct {
    uint32_t ref;
    uint32_t file, line;
} base_t;

typedef struct {
    uint32_t root_ref;
    uint64_t end;
} interrupted_t;

struct sym_walk_s {
    sym_symcache_t *sc;
    sym_error_t *err; /* error of the current call */

    place_t at;
    piece_t piece; /* found, but not yet returned */
    bool has_piece;
    uint64_t passed, ahead; /* numbers of visited pieces, to bound the work */

    interrupted_t *interrupted;
    size_t n_interrupted, interrupted_size;

    /* the current function */
    sym_walk_node_t *nodes;
    base_t *bases; /* bases of these nodes */
    size_t n_nodes, nodes_size, bases_size;
    sym_walk_segment_t *segments;
    size_t n_segments, segments_size;
    uint32_t *table; /* hash table of node indexes + 1; n_table is a power of
                        two */
    size_t n_table, table_size;

    sym_node_t chain[SYM_LEVELS_MAX];
    uint32_t chain_refs[SYM_LEVELS_MAX];
};


sym_walk_t *
sym_walk_create(sym_symcache_t *sc, sym_error_t *err)
{
    sym_walk_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory to walk a symcache");
        return NULL;
    }

    w->sc = sc;
    return w;
}


void
sym_walk_free(sym_walk_t *w)
{
    if (w == NULL) {
        return;
    }

    free(w->interrupted);
    free(w->nodes);
    free(w->bases);
    free(w->segments);
    free(w->table);
    free(w);
}


void
sym_walk_rewind(sym_walk_t *w)
{
    w->at = (place_t){ 0 };
    w->has_piece = false;
    w->passed = w->ahead = 0;
    w->n_interrupted = 0;
}


static sym_status_t
damaged(sym_walk_t *w)
{
    w->sc->damaged++;
    return sym_fail(w->err, SYM_DAMAGED, "the symcache's pages are damaged");
}


/* Makes room for another item at *items. */
#define ROOM(w, items, n, size)                                                \
    ((n) < (size)                                                              \
     || grow((w), (void **) &(items), &(size), (n) + 1, sizeof(*(items))))

static bool
grow(sym_walk_t *w, void **items, size_t *size, size_t need, size_t each)
{
    void *grown = sym_array_grow(*items, size, need, each);

    if (grown == NULL) {
        (void) sym_fail(w->err, SYM_NOMEM, "no memory for a function");
        return false;
    }

    *items = grown;
    return true;
}


/* --- from piece to piece --- */

/* SYM_NOT_FOUND: there are no more blocks. */
static sym_status_t
next_block(sym_walk_t *w, place_t *at)
{
    while (at->n_pages == 0 || at->n_blocks == at->page.n) {
        if (at->n_pages == w->sc->n_index_pages) {
            return SYM_NOT_FOUND;
        }

        if (sym_decode_page(w->sc, at->n_pages, &at->page) != SYM_OK) {
            return damaged(w);
        }
        at->n_pages++;
        at->n_blocks = 0;
    }

    if (sym_decode_block_at(w->sc, &at->page, at->n_blocks, &at->block)
        != SYM_OK) {
        return damaged(w);
    }

    at->n_blocks++;
    at->n_pieces = 0;
    return SYM_OK;
}


static sym_status_t
next_piece(sym_walk_t *w, place_t *at, piece_t *piece)
{
    const sym_block_view_t *b = &at->block;
    uint64_t addr;
    uint32_t pos;

    while (at->n_pages == 0 || at->n_pieces == b->head.n_pieces) {
        sym_status_t rc = next_block(w, at);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    addr = (uint64_t) b->head.addr + sym_block_start(b, at->n_pieces);
    pos = sym_load16(b->positions + 2 * (size_t) at->n_pieces++);

    if (addr < at->from || addr >= SPACE_END || pos >= b->len
        || sym_decode_piece(w->sc, b->data + pos, b->data + b->len,
                            b->head.node_ref, &piece->view)
               != SYM_OK
        || piece->view.n > SYM_PIECE_SEGMENTS
        || piece->view.len >= SPACE_END - addr)
    {
        return damaged(w);
    }

    piece->addr = (uint32_t) addr;
    piece->end = at->from = addr + piece->view.len + 1;
    return SYM_OK;
}


/* --- nodes of the function --- */

static size_t
slot_of(const sym_walk_t *w, uint32_t ref)
{
    return (size_t) (ref * (uint64_t) 0x9e3779b97f4a7c15u >> 32)
           & (w->n_table - 1);
}


static void
enter(sym_walk_t *w, uint32_t index)
{
    size_t at = slot_of(w, w->bases[index].ref);

    while (w->table[at] != 0) {
        at = (at + 1) & (w->n_table - 1);
    }

    w->table[at] = index + 1;
}


/* Empties the table and sets its size to n entries. */
static sym_status_t
size_table(sym_walk_t *w, size_t n)
{
    if (n > w->table_size
        && !grow(w, (void **) &w->table, &w->table_size, n, sizeof(*w->table)))
    {
        return w->err->status;
    }

    w->n_table = n;
    memset(w->table, 0, n * sizeof(*w->table));

    for (uint32_t i = 0; i < w->n_nodes; i++) {
        enter(w, i);
    }

    return SYM_OK;
}


/* False: the node is not yet among the function's nodes. */
static bool
find_node(const sym_walk_t *w, uint32_t ref, uint32_t *index)
{
    for (size_t at = slot_of(w, ref); w->table[at] != 0;
         at = (at + 1) & (w->n_table - 1))
    {
        if (w->bases[w->table[at] - 1].ref == ref) {
            *index = w->table[at] - 1;
            return true;
        }
    }

    return false;
}


static sym_status_t
keep_node(sym_walk_t *w, uint32_t ref, const sym_node_t *n, uint32_t parent)
{
    const base_t *outer;
    sym_walk_node_t *node;
    base_t *base;

    if (!ROOM(w, w->nodes, w->n_nodes, w->nodes_size)
        || !ROOM(w, w->bases, w->n_nodes, w->bases_size))
    {
        return w->err->status;
    }

    node = &w->nodes[w->n_nodes];
    base = &w->bases[w->n_nodes];
    outer = &w->bases[parent];
    *node = (sym_walk_node_t){ .name = n->name, .parent = parent };
    *base = (base_t){ ref, n->file, n->line };

    if (n->kind != SYM_NODE_FUNCTION) {
        node->depth = w->nodes[parent].depth + 1;
        node->call_file = n->has_call_file ? n->call_file : outer->file;
        node->call_line = node->call_file != 0 ? n->call_line : 0;
        base->file = n->has_file ? n->file : outer->file;
    }

    if (node->depth > SYM_INLINE_DEPTH_MAX || base->file > w->sc->n_files
        || node->call_file > w->sc->n_files)
    {
        return damaged(w);
    }

    w->n_nodes++;

    if (2 * w->n_nodes > w->n_table) {
        return size_table(w, 2 * w->n_table);
    }

    enter(w, (uint32_t) w->n_nodes - 1);
    return SYM_OK;
}


/* Index of the node.  Adds the node and its callers if they are new. */
static sym_status_t
use_node(sym_walk_t *w, uint32_t ref, uint32_t *index)
{
    uint32_t root_ref = w->bases[0].ref, n = 0;

    while (!find_node(w, ref, index)) {
        sym_node_t *node = &w->chain[n];

        if (n == SYM_LEVELS_MAX || ref < root_ref
            || sym_decode_node(w->sc, ref, node) != SYM_OK
            || node->kind == SYM_NODE_FUNCTION)
        {
            return damaged(w);
        }

        w->chain_refs[n++] = ref;
        ref = node->parent_ref;
    }

    while (n-- > 0) {
        if (keep_node(w, w->chain_refs[n], &w->chain[n], *index) != SYM_OK) {
            return w->err->status;
        }
        *index = (uint32_t) w->n_nodes - 1;
    }

    return SYM_OK;
}


/* --- segments of the function --- */

static sym_status_t
keep_segment(sym_walk_t *w, sym_walk_segment_t s, uint8_t code, uint32_t file,
             uint32_t line)
{
    const base_t *base = &w->bases[s.node];

    s.file = base->file;
    s.line = line;

    if (code < SYM_LINE_CODES) {
        s.line = base->line + code - SYM_LINE_BIAS;
    } else if (code == SYM_LINE_NONE) {
        s.file = 0;
    } else if (code == SYM_LINE_FOREIGN) {
        s.file = file;
    }

    if (s.file == 0) {
        s.line = 0;
    }

    if (s.file > w->sc->n_files) {
        return damaged(w);
    }

    if (!ROOM(w, w->segments, w->n_segments, w->segments_size)) {
        return w->err->status;
    }

    w->segments[w->n_segments++] = s;
    return SYM_OK;
}


static sym_status_t
keep_piece(sym_walk_t *w, const piece_t *piece)
{
    const sym_piece_view_t *p = &piece->view;
    sym_walk_segment_t s = { .end = piece->addr };
    size_t n_lines = 0, n_files = 0;

    for (unsigned i = 0; i < p->n; i++) {
        uint32_t file = 0, line = 0, node;

        s.addr = (uint32_t) s.end;
        s.end = i + 1u < p->n ? s.end + sym_column(p->deltas, i, p->delta_width)
                              : piece->end;

        if (s.end <= s.addr || s.end > piece->end) {
            return damaged(w);
        }

        if (p->codes[i] >= SYM_LINE_FAR) {
            line = sym_column(p->lines, n_lines++, p->line_width);
        }

        if (p->codes[i] == SYM_LINE_FOREIGN) {
            file = sym_column(p->files, n_files++, p->file_width);
        }

        node = sym_column(p->nodes, i, p->node_width);
        if (use_node(w, sym_piece_node(p, node), &s.node) != SYM_OK
            || keep_segment(w, s, p->codes[i], file, line) != SYM_OK)
        {
            return w->err->status;
        }
    }

    return SYM_OK;
}


/* --- functions --- */

/* Whether an earlier piece has already returned it. */
static bool
is_resumed(sym_walk_t *w, const piece_t *piece)
{
    size_t kept = 0;
    bool found = false;

    for (size_t i = 0; i < w->n_interrupted; i++) {
        if (w->interrupted[i].end > piece->addr) {
            found = found || w->interrupted[i].root_ref == piece->view.root_ref;
            w->interrupted[kept++] = w->interrupted[i];
        }
    }

    w->n_interrupted = kept;
    return found;
}


/* Searches for pieces of a function after those of other functions. */
static sym_status_t
follow(sym_walk_t *w, uint32_t root_ref, uint64_t end)
{
    place_t at = w->at;
    piece_t piece = w->piece;
    bool was_interrupted = false;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && piece.addr < end) {
        if (++w->ahead > AHEAD_PER_PIECE * (w->passed + AHEAD_FREE)) {
            return sym_fail(w->err, SYM_LIMIT, "functions overlap too often");
        }

        if (piece.view.root_ref == root_ref) {
            was_interrupted = true;
            if (piece.end > end) {
                return damaged(w);
            }
            rc = keep_piece(w, &piece);
        }

        rc = rc != SYM_OK ? rc : next_piece(w, &at, &piece);
    }

    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        return rc;
    }

    if (!was_interrupted) {
        return SYM_OK;
    }

    if (w->n_interrupted == INTERRUPTED_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "too many functions overlap");
    }

    if (!ROOM(w, w->interrupted, w->n_interrupted, w->interrupted_size)) {
        return w->err->status;
    }

    w->interrupted[w->n_interrupted++] = (interrupted_t){ root_ref, end };
    return SYM_OK;
}


/* Moves to the next piece, if there is one. */
static sym_status_t
advance(sym_walk_t *w)
{
    sym_status_t rc = next_piece(w, &w->at, &w->piece);

    w->passed++;
    w->has_piece = rc == SYM_OK;
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* Reads the function of w->piece and of the following pieces that belong to
   it. */
static sym_status_t
collect(sym_walk_t *w, const sym_node_t *root, uint64_t end)
{
    uint32_t root_ref = w->piece.view.root_ref;

    w->n_nodes = w->n_segments = 0;

    if (size_table(w, 64) != SYM_OK
        || keep_node(w, root_ref, root, 0) != SYM_OK) {
        return w->err->status;
    }

    do {
        if (w->piece.end > end) {
            return damaged(w);
        }

        if (keep_piece(w, &w->piece) != SYM_OK || advance(w) != SYM_OK) {
            return w->err->status;
        }
    } while (w->has_piece && w->piece.view.root_ref == root_ref);

    return w->has_piece && w->piece.addr < end ? follow(w, root_ref, end)
                                               : SYM_OK;
}


/* SYM_NOT_FOUND: there is no other piece that begins a function. */
static sym_status_t
find_function(sym_walk_t *w)
{
    if (w->at.n_pages == 0 && advance(w) != SYM_OK) {
        return w->err->status;
    }

    while (w->has_piece && is_resumed(w, &w->piece)) {
        if (advance(w) != SYM_OK) {
            return w->err->status;
        }
    }

    return w->has_piece ? SYM_OK : SYM_NOT_FOUND;
}


sym_status_t
sym_walk_next(sym_walk_t *w, sym_walk_function_t *f, sym_error_t *err)
{
    sym_node_t root;
    uint64_t end;
    sym_status_t rc;

    w->err = err;
    rc = find_function(w);

    if (rc != SYM_OK) {
        return rc;
    }

    if (sym_decode_node(w->sc, w->piece.view.root_ref, &root) != SYM_OK
        || root.kind != SYM_NODE_FUNCTION || root.addr > w->piece.addr
        || (root.size == 0 && !root.is_public))
    {
        return damaged(w);
    }

    end = root.size == 0 ? SPACE_END : (uint64_t) root.addr + root.size;

    if (end > SPACE_END || collect(w, &root, end) != SYM_OK) {
        return end > SPACE_END ? damaged(w) : err->status;
    }

    *f = (sym_walk_function_t){
        .addr = root.addr,
        .size = root.size,
        .lang = root.lang,
        .is_public = root.is_public,
        .nodes = w->nodes,
        .n_nodes = w->n_nodes,
        .segments = w->segments,
        .n_segments = w->n_segments,
        .next = w->has_piece ? w->piece.addr : SPACE_END,
    };
    return SYM_OK;
}
