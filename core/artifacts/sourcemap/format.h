/*
 * format.h - the artifact `sourcemap`: maps positions in generated code to
 * positions in its sources.
 *
 * docs/formats/sourcemap.md describes it byte by byte; the names here are its
 * names.  Numbers are little endian on every host.
 */
#ifndef SYM_ARTIFACTS_SOURCEMAP_FORMAT_H
#define SYM_ARTIFACTS_SOURCEMAP_FORMAT_H

#include <stdint.h>

#include "artifacts/extents.h"
#include "base/little.h"

/* Increases with every change that an older reader would misread. */
#define SYM_SOURCEMAP_VERSION 1

#define SYM_SOURCEMAP_MAGIC 0x4a4d5953u /* "SYMJ" */

/* The header, at the beginning of extent 0. */
#define SYM_SOURCEMAP_HEADER_BYTES 64

/* Records of tables (artifacts/extents.h). */
#define SYM_SOURCEMAP_BLOCK_BYTES 12
#define SYM_SOURCEMAP_SOURCE_BYTES 8
#define SYM_SOURCEMAP_NAME_BYTES 4

/* Number of tokens in a block; only the last block has fewer. */
#define SYM_SOURCEMAP_BLOCK_TOKENS 128

/* The columns of a block.  Numbers are stored plus one, so that "none" is 0.
 * The position is stored unchanged. */
typedef enum {
    SYM_SOURCEMAP_LINE,
    SYM_SOURCEMAP_COLUMN,
    SYM_SOURCEMAP_SOURCE,
    SYM_SOURCEMAP_SOURCE_LINE,
    SYM_SOURCEMAP_SOURCE_COLUMN,
    SYM_SOURCEMAP_NAME,
    SYM_SOURCEMAP_SCOPE,
    SYM_SOURCEMAP_COLUMNS /* number of columns */
} sym_sourcemap_column_t;

/* Denotes that a token has no source, name or scope, or that the map contains
 * no line or column. */
#define SYM_SOURCEMAP_NONE UINT32_MAX

/* Flags of a source. */
#define SYM_SOURCEMAP_IGNORED 1 /* the source is of a library (ignoreList) */
#define SYM_SOURCEMAP_TEXT 2    /* the artifact `sources` contains its text */
/* the text's path is `#` and the source's number */
#define SYM_SOURCEMAP_NUMBERED 4

/* Flags of the header. */
#define SYM_SOURCEMAP_SCOPES                                                   \
    1 /* the map contains names of functions, so the script is not needed */
#define SYM_SOURCEMAP_HAS_ID 2 /* the map contains its debug id */

/* Limits that reader and writer share. */
#define SYM_SOURCEMAP_TEXT_MAX 16384 /* bytes of a name; longer ones are cut */
#define SYM_SOURCEMAP_TOKENS_MAX (UINT32_C(1) << 31)

/* Qualities. */
#define SYM_SOURCEMAP_EMPTY 0
#define SYM_SOURCEMAP_MAPPED 1

/* A token.  All members except the position may be SYM_SOURCEMAP_NONE. */
typedef struct {
    uint32_t line, column;
    uint32_t source, source_line, source_column;
    uint32_t name, scope; /* numbers of the names */
} sym_sourcemap_token_t;

/* The width in bytes that a code denotes: 0, 1, 2 or 4. */
static inline uint32_t
sym_sourcemap_width(uint32_t code)
{
    return (code & 3) == 3 ? 4 : code & 3;
}

#endif
