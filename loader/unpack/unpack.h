/*
 * unpack.h - what every kind of compressed input does for input.c.
 *
 * A kind is a row of functions over its own state.  It takes from a source_t,
 * hands out plain bytes, and never holds more than a window of them.  None of
 * them opens anything or writes anywhere: they run inside the sandbox.
 */
#ifndef SYMLOADER_UNPACK_UNPACK_H
#define SYMLOADER_UNPACK_UNPACK_H

#include "unpack/source.h"

typedef struct {
    const char *section; /* in errors: "gzip stream" */

    /* Takes nothing from *s yet; s->pos holds the first bytes.  NULL: *err. */
    void *(*open)(source_t *s, sym_error_t *err);

    /*
     * Fills out as far as the data go; *len < size only at their end, and then
     * the whole file was found sound.
     */
    sym_status_t (*next)(void *state, char *out, size_t size, size_t *len,
                         sym_error_t *err);

    void (*close)(void *state);

    /* What the file in it is called, without folders; "": that is not told.
     * NULL: this kind is a stream, without files. */
    const char *(*name)(const void *state);
} unpack_t;

extern const unpack_t unpack_gzip, unpack_zlib;           /* inflate.c */
extern const unpack_t unpack_zstd;                        /* zstd.c */
extern const unpack_t unpack_xz;                          /* xz.c */
extern const unpack_t unpack_zip, unpack_cab, unpack_tar; /* archive.c */

/*
 * Before the sandbox: loads libarchive, and has the C library load what that
 * makes it ask for (character set, time zone), which are files.
 */
void unpack_archive_prepare(void);

#endif
