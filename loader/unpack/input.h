/*
 * input.h - the bytes of one symbol file, unpacked.
 *
 * Reads a descriptor (it opens nothing) and hands over plain text.  The first
 * bytes tell how the file is packed: gzip (RFC 1952, 2.3.1), zlib (RFC 1950,
 * 2.2), zstd (RFC 8878, 3.1), xz, zip, cab or tar with one file in it, a tar in
 * one of the first four, or not at all.  What came out of these is never
 * unpacked again.  Used by the converter only.
 */
#ifndef SYMLOADER_UNPACK_INPUT_H
#define SYMLOADER_UNPACK_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct input_s input_t;

/*
 * Buffers for any number of files; NULL when out of memory.  Compressed files
 * may expand to at most max_expanded bytes each.  To be called before the
 * sandbox is entered: libraries are made to read now what they would read late.
 * Without has_archives a zip, cab or tar gives SYM_AGAIN: libarchive takes half
 * of the time that a converter needs to start, and few files need it.
 */
input_t *input_create(uint64_t max_expanded, bool has_archives);

/* Starts on another file: `length` bytes of it, UINT64_MAX: all. */
void input_start(input_t *in, int fd, uint64_t length);

/* What the file is called in its archive; "" if it is in none.  To be asked
 * after the first input_next(). */
sym_str_t input_name(const input_t *in);

/* Done with the file: nothing of it stays in memory. */
void input_end(input_t *in);

/*
 * All bytes of the file, from the first on, once the first piece was had: if it
 * lies uncompressed on a disk.  SYM_NOT_FOUND: it does not, go on piece by
 * piece.  The mapping lives until input_end().  Who may write to the file can
 * change it meanwhile, or cut it: that ends the process (SIGBUS).
 */
sym_status_t input_map(input_t *in, const char **data, size_t *len,
                       sym_error_t *err);

/* Bytes of the mapping need not stay in memory: read again, they come from the
 * file.  Other bytes are ignored.  May be called in all threads. */
void input_release(const input_t *in, sym_str_t bytes);

/*
 * The next bytes; they live until the next call.  SYM_OK with *len 0: the end.
 * Errors give the offset in the file as it lies on the disk,
 * or in the tar that was in it.
 */
sym_status_t input_next(input_t *in, const char **data, size_t *len,
                        sym_error_t *err);

#endif
