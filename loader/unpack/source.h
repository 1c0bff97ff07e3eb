/*
 * source.h - the bytes of one symbol file on disk.
 *
 * Reads a descriptor (it opens nothing) in large pieces, for input.c and the
 * unpackers; or the output of another unpacker.  Offsets are bytes from the
 * initial position.
 */
#ifndef SYMLOADER_UNPACK_SOURCE_H
#define SYMLOADER_UNPACK_SOURCE_H

#include <stdint.h>

#include "base/error.h"

/* Measured: 700 MB are read in 50 ms in pieces of 16 KiB, in 40 ms in pieces of
 * 64 KiB, in 36 ms from 256 KiB on. */
#define SOURCE_PIECE_BYTES ((size_t) 256 * 1024)

/* The first piece has the type of the file; most files are mapped then. */
#define SOURCE_FIRST_BYTES ((size_t) 4096)

/* Fills out; *len < size only at the end. */
typedef sym_status_t (*source_more_pt)(void *from, char *out, size_t size,
                                       size_t *len, sym_error_t *err);

typedef struct {
    int fd;
    source_more_pt more; /* instead of fd, if not NULL */
    void *from;
    uint64_t read_bytes; /* so far */
    uint64_t most_bytes; /* limit of bytes to read, treated as the file's end */
    uint64_t offset;     /* everything before it is consumed; errors name it */
    const char *pos;     /* read, but not consumed yet */
    size_t left;
    char piece[SOURCE_PIECE_BYTES];
} source_t;

/* Reads at most `length` bytes from fd's position; UINT64_MAX: to its end. */
void source_start(source_t *s, int fd, uint64_t length);

/* Reads from the start, of which head[len], at most a piece, was read ahead. */
void source_start_from(source_t *s, source_more_pt more, void *from,
                       const char *head, size_t len);

/*
 * Reads the next piece if the current one is used up: at least `want` bytes
 * unless the file is shorter.  SYM_OK with left 0: the end.
 */
sym_status_t source_fill(source_t *s, size_t want, sym_error_t *err);

/* Consumes the next n bytes. */
void source_take(source_t *s, size_t n);

/* Fails at s->offset. */
sym_status_t source_fail(const source_t *s, const char *section,
                         sym_status_t status, const char *what,
                         sym_error_t *err);

#endif
