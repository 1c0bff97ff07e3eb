/*
 * input.h - the bytes of one symbol file, unpacked.
 *
 * It reads a descriptor (it does not open files) and returns plain bytes.  The
 * first bytes show how the file is compressed: gzip (RFC 1952, 2.3.1), zlib
 * (RFC 1950, 2.2), zstd (RFC 8878, 3.1), xz; zip, cab or tar with one file in
 * it; a tar in one of the first four; or not at all.  Unpacked bytes are never
 * unpacked again.  Only the converter uses this code.
 */
#ifndef SYMLOADER_UNPACK_INPUT_H
#define SYMLOADER_UNPACK_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct input_s input_t;

/*
 * Creates buffers for any number of files; NULL: out of memory.  Compressed
 * files may expand to at most max_expanded bytes each.  Call this before the
 * sandbox is entered, because libraries read their files now.  Without
 * has_archives a zip, cab or tar returns SYM_AGAIN: libarchive takes half of
 * the time that a converter needs to start, and few files need it.
 */
input_t *input_create(uint64_t max_expanded, bool has_archives);

/* Starts another file with `length` bytes; UINT64_MAX: up to its end. */
void input_start(input_t *in, int fd, uint64_t length);

/* Same, but a tar is returned as it is, instead of the only file in it. */
void input_start_tar(input_t *in, int fd, uint64_t length);

/* Name of the file in its archive, or "".  Call it after the first
 * input_next(). */
sym_str_t input_name(const input_t *in);

/* Ends the file and frees its memory. */
void input_end(input_t *in);

/*
 * After the first piece, maps all bytes of a file that is uncompressed on
 * disk.  SYM_NOT_FOUND: it is compressed; continue piece by piece.  The mapping
 * lives until input_end().  A process that can write the file may change it
 * meanwhile, or truncate it: that ends this process (SIGBUS).
 */
sym_status_t input_map(input_t *in, const char **data, size_t *len,
                       sym_error_t *err);

/* Lets the kernel drop bytes of the mapping from memory; if they are needed
 * again, they are read from the file.  Other bytes are ignored.  May be called
 * on all threads. */
void input_release(const input_t *in, sym_str_t bytes);

/*
 * Returns the next bytes, valid until the next call.  SYM_OK with *len 0: the
 * end.  Errors contain the offset in the file on disk, or in the tar inside it.
 */
sym_status_t input_next(input_t *in, const char **data, size_t *len,
                        sym_error_t *err);

#endif
