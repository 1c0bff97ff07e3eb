/*
 * cpio.h - the files of a cpio archive, from its front to its end.
 *
 * Source: cpio(5), "New ASCII Format" and "New CRC Format", which RPM packages
 * contain.  The bytes come in pieces (pieces.h); only a name is kept.  Folders,
 * links and devices are entries that are not files.  If a file has several names,
 * the last one has its bytes, and the others are empty.
 */
#ifndef SYM_FORMATS_PACKED_CPIO_H
#define SYM_FORMATS_PACKED_CPIO_H

#include "formats/packed/pieces.h"

/* Maximum length of a name: Linux has no longer path. */
#define SYM_CPIO_NAME_MAX 4096

typedef struct {
    sym_pieces_t in;
    char name[SYM_CPIO_NAME_MAX];
} sym_cpio_t;

/* Whether the bytes begin with a header. */
bool sym_cpio_is(const char *data, size_t len);

/* Allocates nothing. */
void sym_cpio_start(sym_cpio_t *cpio, sym_pieces_more_pt more, void *ctx);

/* Moves to the next entry, whose bytes sym_pieces_body(&cpio->in) returns; bytes
 * of the current one are skipped.
 * SYM_NOT_FOUND: the end; the callback has returned all of its bytes. */
sym_status_t sym_cpio_next(sym_cpio_t *cpio, sym_packed_entry_t *entry,
                           sym_error_t *err);

#endif
