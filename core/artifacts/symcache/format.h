/*
 * format.h - the layout of symcaches, shared by writer and reader.
 *
 * docs/formats/symcache.md describes it byte by byte and explains why; the
 * names here are its names.  Numbers are in host byte order; a mark in the
 * header lets a host of the other order refuse the symcache.  They are read by
 * memcpy, because LMDB aligns small values to two bytes only.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_FORMAT_H
#define SYM_ARTIFACTS_SYMCACHE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "artifacts/extents.h"

/* Increases with every change that an older reader would misread. */
#define SYM_SYMCACHE_VERSION 3

/* Longer names are cut between characters, and counted. */
#define SYM_NAME_BYTES_MAX 1048576

/* A longer string is stored in parts, so that each fits an extent.  It is cut
 * between characters, so a part may be up to three bytes shorter. */
#define SYM_PART_BYTES_MAX 32768
#define SYM_PARTS_MAX (SYM_NAME_BYTES_MAX / (SYM_PART_BYTES_MAX - 3) + 1)

/* Limit on the bytes of such strings in a module.  Later strings are cut to one
 * part. */
#define SYM_LONG_BYTES_MAX ((uint64_t) 64 << 20)

/* Inlined calls nested deeper than this are dropped and counted. */
#define SYM_INLINE_DEPTH_MAX 500

/* Quality of a module's symbols, from worst to best. */
enum {
    SYM_QUALITY_EMPTY = 0, /* no symbols */
    SYM_QUALITY_PUBLICS,
    SYM_QUALITY_FUNCTIONS,
    SYM_QUALITY_LINES,
    SYM_QUALITY_INLINES
};

/* Header flag.  Set: names are the linker's.  Those of C++, D and Rust are
 * mangled, and are demangled when they are shown.  Clear: names are shown
 * unchanged. */
#define SYM_FLAG_LINKER_NAMES 1u

/* Features of the file; valid if SYM_FLAG_FEATURES is set. */
#define SYM_FLAG_FEATURES 2u
#define SYM_FLAG_DEBUG_INFO 4u /* functions with files and lines: DWARF, ... */
#define SYM_FLAG_SYMBOLS 8u    /* a table of symbols */
#define SYM_FLAG_UNWIND_INFO 16u

/* The features that a file has. */
static inline uint32_t
sym_feature_flags(bool has_debug_info, bool has_symbols, bool has_unwind_info)
{
    return SYM_FLAG_FEATURES | (has_debug_info ? SYM_FLAG_DEBUG_INFO : 0)
           | (has_symbols ? SYM_FLAG_SYMBOLS : 0)
           | (has_unwind_info ? SYM_FLAG_UNWIND_INFO : 0);
}


/* "empty", "publics", "functions", "lines", "lines and inlines" */
const char *sym_quality_name(unsigned quality);


/*
 * A record that should not cost two page faults is inside one page of the
 * operating system.  A value starts 16 bytes after the start of its first page.
 */
#define SYM_PAGE 4096
#define SYM_PAGE_SHIFT 16 /* bytes of LMDB's header before the value */
#define SYM_BLOCK_MAX (SYM_PAGE - SYM_PAGE_SHIFT)

/* --- header, at the start of extent 0 --- */

#define SYM_MAGIC "SYMCACHE"
#define SYM_BYTE_ORDER 0x01020304u

enum { SYM_INFO_REFS = 6 };

enum {
    SYM_COUNT_FUNCTIONS,
    SYM_COUNT_PUBLICS,
    SYM_COUNT_INLINES,
    SYM_COUNT_LINES,
    SYM_COUNT_SEGMENTS,
    SYM_COUNT_NODES,
    SYM_COUNT_STRINGS,
    SYM_COUNT_STRING_BYTES,
    SYM_COUNT_DROPPED,
    SYM_COUNT_TRUNCATED,
    SYM_COUNT_SOURCE_BYTES,
    SYM_COUNTS
};

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes; /* a later version may add fields at the end */
    uint32_t n_extents;
    uint64_t bytes; /* size of all extents */
    uint32_t quality;
    uint32_t n_blocks;
    uint32_t n_index_pages;
    uint32_t root_ref; /* addr[n_index_pages], ref[n_index_pages] */
    uint32_t dict_ref; /* dictionary: bytes that packed strings copy from */
    uint32_t dict_len;
    uint32_t n_files;
    uint32_t files_ref; /* ref[] of pages, each with SYM_FILES_PER_PAGE
                           string refs */
    uint32_t n_strings;
    uint32_t info[SYM_INFO_REFS]; /* string refs; see sym_info_t */
    uint32_t flags;               /* SYM_FLAG_*; other bits are ignored */
    uint64_t counts[SYM_COUNTS];
    uint64_t image_base;        /* image base of the file */
    uint32_t n_statement_pages; /* pages of the index of statement pages */
    uint32_t statements_ref;    /* root, like root_ref, of the index of
                                   statement pages; 0: none */

    /* headers of SYM_HEADER_BYTES_MIN end before these */
    uint32_t source_server; /* string ref; 0: none */
    uint32_t shown_ref;     /* table of shown names; 0: none */

    /* not in headers of SYM_HEADER_BYTES_SHOWN */
    uint32_t n_loads;
    uint32_t loads_ref; /* table of loads */
} sym_header_t;

/* Size of older headers.  The fields that follow then count as 0. */
#define SYM_HEADER_BYTES_MIN offsetof(sym_header_t, source_server)
#define SYM_HEADER_BYTES_SHOWN offsetof(sym_header_t, n_loads)

#define SYM_FILES_PER_PAGE 1020

/* --- index page: u32 n, addr[n], ref[n] of blocks --- */

#define SYM_INDEX_PER_PAGE ((SYM_BLOCK_MAX - 4) / 8)

/* --- shown names --- */

/* u32 number of index pages, ref of their root.  The index maps names to shown
 * names. */
#define SYM_SHOWN_HEAD 2

/* Limit on the bytes of a Swift name that has a shown name, and room for the
   shown name with its NUL. */
#define SYM_SWIFT_NAME_MAX SYM_PART_BYTES_MAX
#define SYM_SWIFT_SHOWN_MAX 4096

/* --- loads: where bytes of the file are in memory --- */

/* u64 offset in the file, u64 number of bytes, u64 address.  Only segments with
 * code are listed, so a file has few of them. */
#define SYM_LOAD_BYTES 24
#define SYM_LOADS_MAX 64

/* Bytes of the file that are mapped as code. */
typedef struct {
    uint64_t offset, bytes;
    uint64_t addr; /* less the image base */
} sym_load_t;

/* --- block: the pieces of a run of addresses --- */

typedef struct {
    uint32_t addr;     /* address of the first piece */
    uint32_t node_ref; /* base from which pieces count the distance of their
                          function's node */
    uint16_t n_pieces;
    uint8_t addr_bytes; /* 2 or 4: bytes of a piece's start, which is
                           relative to addr */
    uint8_t unused;
} sym_block_t;

/* these follow: start[n_pieces] (addr_bytes each), pos[n_pieces] (u16),
 * pieces */

/* --- packed numbers --- */

/*
 * Pieces and nodes begin with the widths of their numbers, two bits each; the
 * numbers follow, little endian.  So a reader knows all positions at once.
 * With LEB128 it would wait for the length of each number before the next.
 */
#define SYM_WIDE(code) ((code) + 1u)                /* 1, 2, 3, 4 bytes */
#define SYM_THIN(code) ((code) + ((code) + 1u) / 4) /* 0, 1, 2, 4 bytes */

/* The number of a value's bytes without leading zeros.  It has no branch,
 * because that would be unpredictable. */
static inline unsigned
sym_number_bytes(uint32_t v)
{
    return (70u - (unsigned) __builtin_clzll((uint64_t) v << 1 | 1)) >> 3;
}


static inline unsigned
sym_wide_code(uint32_t v)
{
    return sym_number_bytes(v | 1) - 1;
}


static inline unsigned
sym_thin_code(uint32_t v)
{
    unsigned bytes = sym_number_bytes(v);

    return bytes - (bytes >> 2); /* a width of three bytes becomes four */
}


/* --- piece: up to SYM_PIECE_SEGMENTS segments of one function --- */

#define SYM_PIECE_SEGMENTS 32

/*
 * u8 n; u16 of codes, from the lowest bits: delta (thin), node (thin), length
 * (wide), function (thin), nearest (thin), line (thin), file (thin); then the
 * numbers: length in bytes of code less 1; distance of the function's node from
 * the block's node_ref, modulo 2^32; nearest.  Then the columns: delta[n - 1]
 * of addresses; node[n] (0: the function's, else the distance from it less
 * nearest plus 1); code[n] (u8) of lines; line[] and file[] for codes that have
 * them, in order.
 */
#define SYM_PIECE_HEAD 3
#define SYM_PIECE_HEAD_MAX (SYM_PIECE_HEAD + 12)

/* Limit on the length of a piece: the header, and for each segment address,
   node, code, line and file. */
#define SYM_PIECE_BYTES_MAX                                                    \
    (SYM_PIECE_HEAD_MAX + SYM_PIECE_SEGMENTS * (4 + 4 + 1 + 4 + 4))

/* A byte of code[]: the line less the node's first line, or one of these. */
#define SYM_LINE_BIAS 64   /* code 64 is the node's first line */
#define SYM_LINE_CODES 253 /* lower codes are negative differences */
#define SYM_LINE_NONE 253  /* has neither file nor line */
/* exception: the line is in line[]; the file is the node's */
#define SYM_LINE_FAR 254
/* exception: the line is in line[], the file + 1 in file[] */
#define SYM_LINE_FOREIGN 255

/* --- statement page: addresses for which atos shows another line --- */

/*
 * u8 n; u8 of codes, from the lowest bits: widths (thin) of the columns, which
 * follow, n numbers each: start less the page's address in the index; bytes
 * less 1; line; file number + 1, 0 for neither file nor line.
 */
enum {
    SYM_STATEMENT_START,
    SYM_STATEMENT_LENGTH,
    SYM_STATEMENT_LINE,
    SYM_STATEMENT_FILE,
    SYM_STATEMENT_COLUMNS
};

#define SYM_STATEMENT_HEAD 2
#define SYM_STATEMENTS_PER_PAGE 254

/* --- node: a function, or an inlined call in it --- */

/*
 * The two lowest bits of the first byte are the kind:
 *
 * function: u8 kind | public << 2 | name (wide) << 4; u8 file (thin) | line
 * (thin) << 2 | size (thin) << 4; u8 language; u32 address; size, name, file,
 * line.
 *
 * call: u8 kind | parent (wide) << 2 | call line (wide) << 4 | name (wide) <<
 * 6; u8 call file (thin) | file (thin) << 2 | line (thin) << 4 | has file << 6
 * | has call file << 7; parent, call line, name, call file, file, line.
 *
 * twin, like an earlier call of the same extent but for its parent: u8 kind |
 * parent (wide) << 2 | other (wide) << 4; parent, other.
 *
 * Parent and other are distances back.  Files are file numbers + 1.  Line is
 * the first line, or 0.  A call without a file has its parent's file.
 */
enum { SYM_NODE_CALL, SYM_NODE_TWIN, SYM_NODE_FUNCTION };

#define SYM_NODE_KIND(byte) ((byte) &3u)
#define SYM_NODE_PUBLIC 4u           /* first byte of a function */
#define SYM_NODE_HAS_FILE 0x40u      /* second byte of a call */
#define SYM_NODE_HAS_CALL_FILE 0x80u /* the same */
#define SYM_NODE_BYTES_MAX 32

/* --- packed string: uleb (length << 1 | plain), then tokens --- */

/* If the length is above SYM_PART_BYTES_MAX, refs of parts follow instead.
 * Parts are packed strings, whose lengths add up to this length. */

/*
 * A token below SYM_TOKEN_COPY: that many bytes and one follow unpacked.  Other
 * tokens copy (token - SYM_TOKEN_COPY) + SYM_COPY_MIN bytes from the
 * dictionary, from the offset in the u16 that follows.  After SYM_TOKEN_LONG a
 * uleb precedes the u16, and is added to the length.
 */
#define SYM_TOKEN_COPY 64u
#define SYM_TOKEN_LONG 255u
#define SYM_COPY_MIN 4u

/* Bytes after the dictionary that must be readable, because copies move whole
   words. */
#define SYM_DICT_SLACK 32
#define SYM_DICT_MAX 61440

static inline uint32_t
sym_load32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}


static inline uint16_t
sym_load16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

#endif
