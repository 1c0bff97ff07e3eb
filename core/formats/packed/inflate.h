/*
 * inflate.h - zlib and deflate data of a known length, as in sections of debug
 * files and in portable PDBs.
 */
#ifndef SYM_FORMATS_PACKED_INFLATE_H
#define SYM_FORMATS_PACKED_INFLATE_H

#include "base/error.h"
#include "base/str.h"

/* No deflate stream expands further (RFC 1951: 258 bytes out of 2 bits). */
#define SYM_INFLATE_RATIO_MAX 1032

/* Error texts of packed sections, for any compression. */
#define SYM_UNPACK_NO_MEMORY "no memory to unpack a section"
#define SYM_UNPACK_DAMAGED "packed bytes are damaged"
#define SYM_UNPACK_SHORT "packed bytes end early"
#define SYM_UNPACK_SIZE "unpacks to another size than it announces"

/*
 * Unpacks `in` into exactly len bytes at out.  Fails with one of the texts
 * above. err->offset is then a position in `in`; err->section is unchanged.
 */
sym_status_t sym_inflate(sym_str_t in, uint8_t *out, size_t len,
                         sym_error_t *err);

/* Does the same for deflate (RFC 1951) without zlib's header and checksum. */
sym_status_t sym_inflate_raw(sym_str_t in, uint8_t *out, size_t len,
                             sym_error_t *err);

#endif
