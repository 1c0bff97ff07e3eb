/*
 * format.h - the artifact `ppdb`: lines of .NET methods, by IL offset.
 *
 * docs/formats/ppdb.md describes it byte by byte; the names here are its names.
 * Numbers are little endian on every host.
 */
#ifndef SYM_ARTIFACTS_PPDB_FORMAT_H
#define SYM_ARTIFACTS_PPDB_FORMAT_H

#include <stdint.h>

#include "artifacts/extents.h"
#include "base/little.h"

/* Increases with every change that an older reader would misread. */
#define SYM_PPDB_VERSION 1

#define SYM_PPDB_MAGIC 0x504d5953u /* "SYMP" */

/* The header, at the beginning of extent 0. */
#define SYM_PPDB_HEADER_BYTES 64

/* Records of tables (artifacts/extents.h). */
#define SYM_PPDB_METHOD_BYTES 4
#define SYM_PPDB_DOCUMENT_BYTES 16

/* Limit on the points of a piece.  A method with more points has several
 * pieces. */
#define SYM_PPDB_PIECE_POINTS 1024
#define SYM_PPDB_PIECE_BYTES 8 /* bytes of an entry in a list of pieces */

/* The form byte of a piece: two bits for each column, which encode its
 * width. */
#define SYM_PPDB_OFFSETS_SHIFT 0
#define SYM_PPDB_LINES_SHIFT 2
#define SYM_PPDB_DOCUMENTS_SHIFT 4
#define SYM_PPDB_PIECES 0x40 /* a list of pieces, not a piece */

/* Limits that reader and writer share. */
#define SYM_PPDB_METHODS_MAX ((UINT32_C(1) << 24) - 1) /* ECMA-335, II.22 */
#define SYM_PPDB_DOCUMENTS_MAX ((UINT32_C(1) << 24) - 1)
#define SYM_PPDB_PATH_MAX 4096

/* Flags of the header. */
#define SYM_PPDB_SOURCES 1 /* the file contains source code or links */

/* Qualities. */
#define SYM_PPDB_NO_LINES 0
#define SYM_PPDB_LINES 1

/* The width in bytes that a code denotes: 0, 1, 2 or 4. */
static inline uint32_t
sym_ppdb_width(uint32_t code)
{
    return (code & 3) == 3 ? 4 : code & 3;
}

#endif
