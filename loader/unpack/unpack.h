/*
 * unpack.h - the interface of unpackers for input.c.
 *
 * A kind of compression is a row of functions over its own state.  It reads
 * from a source_t, returns plain bytes, and never holds more than a window of
 * them.  None of them opens or writes files: they run inside the sandbox.
 */
#ifndef SYMLOADER_UNPACK_UNPACK_H
#define SYMLOADER_UNPACK_UNPACK_H

#include "unpack/source.h"

typedef struct {
    const char *section; /* in errors: "gzip stream" */

    /* Consumes nothing of *s yet; s->pos has the first bytes.  NULL: see
       *err. */
    void *(*open)(source_t *s, sym_error_t *err);

    /*
     * Fills out; *len < size only at the end of the data, when the complete
     * file has been verified.
     */
    sym_status_t (*next)(void *state, char *out, size_t size, size_t *len,
                         sym_error_t *err);

    void (*close)(void *state);

    /* Base name of the file inside; "" if not recorded.  NULL: a stream,
     * without files. */
    const char *(*name)(const void *state);
} unpack_t;

extern const unpack_t unpack_gzip, unpack_zlib;           /* inflate.c */
extern const unpack_t unpack_zstd;                        /* zstd.c */
extern const unpack_t unpack_xz;                          /* xz.c */
extern const unpack_t unpack_zip, unpack_cab, unpack_tar; /* archive.c */

/*
 * Call it before the sandbox: loads libarchive, and lets the C library read the
 * files that it needs for it (character set, time zone).
 */
void unpack_archive_prepare(void);

#endif
