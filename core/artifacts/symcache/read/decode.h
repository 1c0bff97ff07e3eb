/*
 * decode.h - decodes the records of a symcache; private to the files of this
 * folder.
 *
 * Every bound is checked.  If a record is outside of the bytes, the result is
 * SYM_DAMAGED, counted in sc->damaged.  The layouts are those of format.h.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_DECODE_H
#define SYM_ARTIFACTS_SYMCACHE_READ_DECODE_H

#include "artifacts/symcache/read/reader.h"

/* Readable bytes. */
typedef struct {
    const uint8_t *pos, *end;
} sym_span_t;

/* The unpacked node of a function or a call. */
typedef struct {
    unsigned kind;
    uint32_t parent_ref;
    uint32_t call_line, call_file; /* file numbers, plus 1 */
    uint32_t name;
    uint32_t file, line;
    uint32_t addr, size;
    uint8_t lang;
    bool is_public;
    bool has_call_file, has_file;
} sym_node_t;

/* An index page: n addresses at addrs, then n references. */
typedef struct {
    const uint8_t *addrs, *refs;
    uint32_t n;
} sym_page_view_t;

/* A block, with pointers to its tables. */
typedef struct {
    sym_block_t head;
    const uint8_t *starts, *positions; /* n_pieces entries each */
    const uint8_t *data;               /* bytes of the block */
    uint32_t len;
} sym_block_view_t;

/* A piece, with pointers to its columns. */
typedef struct {
    const uint8_t *deltas, *nodes, *codes; /* n entries each; deltas has one
                                              less */
    const uint8_t *lines, *files;          /* lines and files of exceptions */
    unsigned n, delta_width, node_width, line_width, file_width;
    uint32_t len; /* number of code bytes, less 1 */
    uint32_t root_ref, nearest;
    uint64_t exceptions; /* result of sym_scan_exceptions() */
} sym_piece_view_t;

sym_status_t sym_decode_page(sym_symcache_t *sc, size_t number,
                             sym_page_view_t *page);
sym_status_t sym_decode_block(sym_symcache_t *sc, const uint8_t *data,
                              size_t len, sym_block_view_t *block);
sym_status_t sym_decode_block_at(sym_symcache_t *sc,
                                 const sym_page_view_t *page, uint32_t slot,
                                 sym_block_view_t *block);
sym_status_t sym_decode_piece(sym_symcache_t *sc, const uint8_t *data,
                              const uint8_t *end, uint32_t node_base,
                              sym_piece_view_t *piece);
sym_status_t sym_decode_node(sym_symcache_t *sc, uint32_t ref,
                             sym_node_t *node);

/* The i-th number of a column. */
static inline uint32_t
sym_column(const uint8_t *p, size_t i, unsigned width)
{
    const uint8_t *q = p + i * width;

    switch (width) {
    case 0:
        return 0;
    case 1:
        return q[0];
    case 2:
        return (uint32_t) q[0] | (uint32_t) q[1] << 8;
    default:
        return (uint32_t) q[0] | (uint32_t) q[1] << 8 | (uint32_t) q[2] << 16
               | (uint32_t) q[3] << 24;
    }
}


/* The node that a number of the column denotes. */
static inline uint32_t
sym_piece_node(const sym_piece_view_t *p, uint32_t number)
{
    return p->root_ref + (number == 0 ? 0 : number - 1 + p->nearest);
}


/* Start of piece i of a block, relative to the block's address. */
static inline uint32_t
sym_block_start(const sym_block_view_t *b, size_t i)
{
    return b->head.addr_bytes == 2 ? sym_load16(b->starts + 2 * i)
                                   : sym_load32(b->starts + 4 * i);
}

#endif
