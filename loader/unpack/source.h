/*
 * source.h - the bytes of one symbol file as they lie on the disk.
 *
 * Reads a descriptor (it opens nothing) in large pieces, for input.c and the
 * unpackers; or what another unpacker hands out.  Offsets are bytes from where
 * that stood at the start.
 */
#ifndef SYMLOADER_UNPACK_SOURCE_H
#define SYMLOADER_UNPACK_SOURCE_H

#include <stdint.h>

#include "base/error.h"

/* Measured: 700 MB are read in 50 ms in pieces of 16 KiB, in 40 ms in pieces of
 * 64 KiB, in 36 ms from 256 KiB on. */
#define SOURCE_PIECE_BYTES ((size_t) 256 * 1024)

/* The first one tells what the file is; most files are mapped then. */
#define SOURCE_FIRST_BYTES ((size_t) 4096)

/* Fills out; *len < size only at the end. */
typedef sym_status_t (*source_more_pt)(void *from, char *out, size_t size,
                                       size_t *len, sym_error_t *err);

typedef struct {
    int fd;
    source_more_pt more; /* instead of fd, if not NULL */
    void *from;
    uint64_t read_bytes; /* so far */
    uint64_t most_bytes; /* that may be read: the file's end, for us */
    uint64_t offset;     /* what is before it is done with: errors name it */
    const char *pos;     /* read, not yet taken */
    size_t left;
    char piece[SOURCE_PIECE_BYTES];
} source_t;

/* At most `length` bytes, from where fd stands; UINT64_MAX: to its end. */
void source_start(source_t *s, int fd, uint64_t length);

/* From its beginning, of which head[len] was read ahead: a piece at most. */
void source_start_from(source_t *s, source_more_pt more, void *from,
                       const char *head, size_t len);

/*
 * Reads the next piece if nothing is left of the one before: at least `want`
 * bytes unless the file is shorter.  SYM_OK with left 0: the end.
 */
sym_status_t source_fill(source_t *s, size_t want, sym_error_t *err);

/* Done with the next n bytes. */
void source_take(source_t *s, size_t n);

/* Fails at s->offset. */
sym_status_t source_fail(const source_t *s, const char *section,
                         sym_status_t status, const char *what,
                         sym_error_t *err);

#endif
