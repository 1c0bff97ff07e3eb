/*
 * range.h - parts of files over HTTP (RFC 9110, 13 and 14): the headers by which
 * the rest of a file is known to be of the same file.
 */
#ifndef SYM_SOURCES_GUARD_RANGE_H
#define SYM_SOURCES_GUARD_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Bytes of a file; size is that of the whole file. */
typedef struct {
    uint64_t first, last;
    uint64_t size;
} sym_range_t;

/* The value of Content-Range (14.4): "bytes FIRST-LAST/SIZE", FIRST <= LAST < SIZE,
 * SIZE < 2^63.  False: it is something else, or the size is unknown. */
bool sym_range_read(sym_str_t text, sym_range_t *range);

/* The value of ETag (8.8.3) stands for the very same bytes: it is not marked as
 * weak. */
bool sym_etag_is_strong(sym_str_t etag);

#endif
