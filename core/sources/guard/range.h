/*
 * range.h - parts of files over HTTP (RFC 9110, sections 13 and 14): the
 * headers that prove that the rest belongs to the same file.
 */
#ifndef SYM_SOURCES_GUARD_RANGE_H
#define SYM_SOURCES_GUARD_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A range of bytes; size is that of the complete file. */
typedef struct {
    uint64_t first, last;
    uint64_t size;
} sym_range_t;

/* Parses the value of Content-Range (section 14.4): "bytes FIRST-LAST/SIZE",
 * FIRST <= LAST < SIZE, SIZE < 2^63.  False: another form, or an unknown
 * size. */
bool sym_range_read(sym_str_t text, sym_range_t *range);

/* Whether the value of ETag (section 8.8.3) is strong: it identifies the exact
 * bytes. */
bool sym_etag_is_strong(sym_str_t etag);

#endif
