/*
 * unpack.h - the interface of unpackers for input.c.
 *
 * A kind of compression is a structure of functions with its own state.  It
 * reads from a source_t, returns plain bytes, and never keeps more than a
 * window of them.  Unpackers do not open or write files, because they run
 * inside the sandbox.
 */
#ifndef SYMLOADER_UNPACK_UNPACK_H
#define SYMLOADER_UNPACK_UNPACK_H

#include "unpack/source.h"

typedef struct {
    const char *section; /* name in errors: "gzip stream" */

    /* Must not consume bytes of *s; s->pos has the first ones.  NULL: err has
     * the reason. */
    void *(*open)(source_t *s, sym_error_t *err);

    /*
     * Fills out; *len < size only at the end of the data, when the complete
     * file has been verified.
     */
    sym_status_t (*next)(void *state, char *out, size_t size, size_t *len,
                         sym_error_t *err);

    void (*close)(void *state);

    /* Base name of the file inside; "" if not recorded.  NULL: for a stream,
     * which contains no files. */
    const char *(*name)(const void *state);
} unpack_t;

extern const unpack_t unpack_gzip, unpack_zlib;           /* inflate.c */
extern const unpack_t unpack_zstd;                        /* zstd.c */
extern const unpack_t unpack_xz;                          /* xz.c */
extern const unpack_t unpack_zip, unpack_cab, unpack_tar; /* archive.c */

/*
 * Call this before the sandbox is entered: it loads libarchive, and lets the C
 * library read the files that libarchive needs (character set, time zone).
 */
void unpack_archive_prepare(void);

#endif
