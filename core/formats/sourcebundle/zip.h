/*
 * zip.h - the files of a zip in memory, by its central directory.
 *
 * PKWARE's APPNOTE 6.3.10: stored and deflated entries, zip64.  Other bytes may
 * precede the zip.  Its offsets count from the start of the zip, or from the
 * start of these bytes.  Bytes are borrowed, and views point into them.  Errors
 * contain an offset in the bytes.
 */
#ifndef SYM_FORMATS_SOURCEBUNDLE_ZIP_H
#define SYM_FORMATS_SOURCEBUNDLE_ZIP_H

#include "base/error.h"
#include "base/str.h"

typedef struct {
    sym_str_t bytes;
    uint64_t base;      /* base of the offsets */
    uint64_t pos, end;  /* entries of the central directory that remain */
    uint64_t n_entries; /* number in its end record */
    uint64_t first;     /* start of the central directory */
} sym_zip_t;

typedef struct {
    sym_str_t name;
    uint64_t header; /* position of its local header */
    uint64_t packed, size;
    uint32_t crc;
    uint16_t method;
    bool is_encrypted;
} sym_zip_entry_t;

sym_status_t sym_zip_open(sym_zip_t *zip, sym_str_t bytes, sym_error_t *err);

/* Gets the next entry; SYM_NOT_FOUND: there are no more. */
sym_status_t sym_zip_next(sym_zip_t *zip, sym_zip_entry_t *entry,
                          sym_error_t *err);

/*
 * Checks that no two files of the zip share bytes.  In a zip bomb a few packed
 * bytes would be unpacked once for each entry.  Restarts at the first entry.
 */
sym_status_t sym_zip_check(sym_zip_t *zip, sym_error_t *err);

/* Restarts at the first entry. */
void sym_zip_rewind(sym_zip_t *zip);

/* Unpacks entry->size bytes to out, and verifies their checksum. */
sym_status_t sym_zip_read(const sym_zip_t *zip, const sym_zip_entry_t *entry,
                          char *out, sym_error_t *err);

#endif
