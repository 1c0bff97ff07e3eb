/*
 * inflate.h - zlib data of a known length, as sections of debug files are
 * packed.
 */
#ifndef SYM_BASE_INFLATE_H
#define SYM_BASE_INFLATE_H

#include "base/error.h"
#include "base/str.h"

/* No deflate stream expands further (RFC 1951: 258 bytes out of 2 bits). */
#define SYM_INFLATE_RATIO_MAX 1032

/*
 * Unpacks `in` into exactly len bytes at out.  SYM_MALFORMED: it is no zlib
 * stream, or one of another length; err->offset is the byte of `in`.
 */
sym_status_t sym_inflate(sym_str_t in, uint8_t *out, size_t len,
                         sym_error_t *err);

#endif
