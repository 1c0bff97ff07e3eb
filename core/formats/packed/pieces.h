/*
 * pieces.h - reads bytes that come in pieces, such as the output of an unpacker.
 *
 * The readers of archives use it.  Nothing is kept: views are valid until the
 * next call.
 */
#ifndef SYM_FORMATS_PACKED_PIECES_H
#define SYM_FORMATS_PACKED_PIECES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* Returns the next bytes, valid until the next call; *len 0: the end. */
typedef sym_status_t (*sym_pieces_more_pt)(void *ctx, const char **data,
                                           size_t *len, sym_error_t *err);

typedef struct {
    sym_pieces_more_pt more;
    void *ctx;
    const char *section; /* static, for errors: "tar file" */
    const char *pos;     /* the rest of the current piece */
    size_t left;
    uint64_t offset;  /* all bytes before it are read */
    uint64_t body;    /* bytes of the current entry that are not read yet ... */
    uint64_t padding; /* ... and of the padding after them */
} sym_pieces_t;

/* An entry of an archive. */
typedef struct {
    sym_str_t name; /* without "./" at its start; valid until the next entry */
    uint64_t size;  /* number of its bytes */
    bool is_file;   /* a regular file */
} sym_packed_entry_t;

void sym_pieces_start(sym_pieces_t *p, sym_pieces_more_pt more, void *ctx,
                      const char *section);

/* Fails with the section and the offset. */
sym_status_t sym_pieces_fail(const sym_pieces_t *p, sym_status_t status,
                             const char *what, sym_error_t *err);

/* Returns at most `most` bytes of the current piece, or of the next one; *len 0:
 * the end. */
sym_status_t sym_pieces_take(sym_pieces_t *p, uint64_t most, const char **data,
                             size_t *len, sym_error_t *err);

/* Copies exactly len bytes, or skips them. */
sym_status_t sym_pieces_read(sym_pieces_t *p, char *to, size_t len,
                             sym_error_t *err);
sym_status_t sym_pieces_skip(sym_pieces_t *p, uint64_t len, sym_error_t *err);

/* Returns the next bytes of the current entry; *len 0: its end. */
sym_status_t sym_pieces_body(sym_pieces_t *p, const char **data, size_t *len,
                             sym_error_t *err);

/* Skips the rest of the current entry. */
sym_status_t sym_pieces_leave(sym_pieces_t *p, sym_error_t *err);

/* "tar -c ." writes "./a". */
sym_str_t sym_packed_name(sym_str_t name);

/* Reads to the end, because an unpacker verifies its checksum there. */
sym_status_t sym_pieces_drain(sym_pieces_t *p, sym_error_t *err);

#endif
