/*
 * range.h - parts of files over HTTP (RFC 9110, 13 and 14): the headers that
 * show that the rest belongs to the same file.
 */
#ifndef SYM_SOURCES_GUARD_RANGE_H
#define SYM_SOURCES_GUARD_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Bytes of a file; size is that of the complete file. */
typedef struct {
    uint64_t first, last;
    uint64_t size;
} sym_range_t;

/* The value of Content-Range (14.4): "bytes FIRST-LAST/SIZE", FIRST <= LAST <
 * SIZE, SIZE < 2^63.  False: another value, or an unknown size. */
bool sym_range_read(sym_str_t text, sym_range_t *range);

/* Whether the value of ETag (8.8.3) is strong: it identifies the exact
 * bytes. */
bool sym_etag_is_strong(sym_str_t etag);

#endif
