/*
 * source.h - the bytes of one symbol file on disk.
 *
 * It reads a descriptor (it does not open files) or the output of another
 * unpacker, in large pieces, for input.c and the unpackers.  Offsets are bytes
 * from the initial position.
 */
#ifndef SYMLOADER_UNPACK_SOURCE_H
#define SYMLOADER_UNPACK_SOURCE_H

#include <stdint.h>

#include "base/error.h"

/* Size of a piece.  Measured: 700 MB are read in 50 ms in pieces of 16 KiB, in
 * 40 ms in pieces of 64 KiB, and in 36 ms in pieces of 256 KiB or more. */
#define SOURCE_PIECE_BYTES ((size_t) 256 * 1024)

/* Size of the first piece, which shows the type of the file; after it, most
 * files are mapped. */
#define SOURCE_FIRST_BYTES ((size_t) 4096)

/* Fills out; *len < size only at the end. */
typedef sym_status_t (*source_more_pt)(void *from, char *out, size_t size,
                                       size_t *len, sym_error_t *err);

typedef struct {
    int fd;
    source_more_pt more; /* instead of fd, if not NULL */
    void *from;
    uint64_t read_bytes; /* so far */
    uint64_t most_bytes; /* maximum number of bytes to read; the file ends
                            there */
    uint64_t offset;     /* all bytes before it are consumed; errors contain
                            it */
    const char *pos;     /* bytes that were read, but not consumed yet */
    size_t left;
    char piece[SOURCE_PIECE_BYTES];
} source_t;

/* Reads at most `length` bytes from fd's position; UINT64_MAX: to its end. */
void source_start(source_t *s, int fd, uint64_t length);

/* Reads from the start of the file; head[len], at most a piece, was read
 * before. */
void source_start_from(source_t *s, source_more_pt more, void *from,
                       const char *head, size_t len);

/*
 * Reads the next piece if the current one is used up: at least `want` bytes
 * unless the file is shorter.  SYM_OK with left 0: the end.
 */
sym_status_t source_fill(source_t *s, size_t want, sym_error_t *err);

/* Consumes the next n bytes. */
void source_take(source_t *s, size_t n);

/* Fails with the offset s->offset. */
sym_status_t source_fail(const source_t *s, const char *section,
                         sym_status_t status, const char *what,
                         sym_error_t *err);

#endif
