/*
 * archive.h - an archive of any bytes, read at once and in pieces, whose size is
 * the first byte of the input: both must find the same entries.
 */
#ifndef FUZZ_ARCHIVE_H
#define FUZZ_ARCHIVE_H

#include "check.h"
#include "formats/packed/pieces.h"

typedef struct {
    sym_str_t rest;
    size_t piece;
} archive_input_t;

/* A reader of a kind of archive: moves to the next entry, whose bytes
 * sym_pieces_body(in) returns. */
typedef struct {
    void (*start)(sym_pieces_more_pt more, void *ctx);
    sym_status_t (*next)(sym_packed_entry_t *entry, sym_error_t *err);
    sym_pieces_t *in;
} archive_reader_t;

typedef struct {
    sym_status_t status;
    uint64_t sum, bytes;
} archive_said_t;

static inline sym_status_t
archive_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    archive_input_t *in = ctx;

    (void) err;
    *data = in->rest.data;
    *len = in->rest.len < in->piece ? in->rest.len : in->piece;
    in->rest = sym_str(in->rest.data + *len, in->rest.len - *len);
    return SYM_OK;
}


/* FNV-1a */
static inline void
archive_add(archive_said_t *said, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        said->sum = (said->sum ^ (uint8_t) data[i]) * 0x100000001b3;
    }
}


static inline sym_status_t
archive_file(const archive_reader_t *reader, const sym_packed_entry_t *entry,
             archive_said_t *said, sym_error_t *err)
{
    uint64_t bytes = 0;
    const char *data;
    sym_status_t rc;
    size_t len;

    do {
        rc = sym_pieces_body(reader->in, &data, &len, err);
        if (rc == SYM_OK) {
            archive_add(said, data, len);
            bytes += len;
        }
    } while (rc == SYM_OK && len != 0);

    check(bytes <= entry->size && (rc != SYM_OK || bytes == entry->size));
    said->bytes += bytes;
    return rc;
}


static inline archive_said_t
archive_read(const archive_reader_t *reader, sym_str_t in, size_t piece)
{
    archive_input_t input = { .rest = in, .piece = piece };
    archive_said_t said = { .sum = 0 };
    sym_error_t err = { 0 };
    sym_packed_entry_t entry;
    sym_status_t rc;

    reader->start(archive_piece, &input);
    while ((rc = reader->next(&entry, &err)) == SYM_OK) {
        archive_add(&said, entry.name.data, entry.name.len);
        if (entry.is_file) {
            rc = archive_file(reader, &entry, &said, &err);
        }
        if (rc != SYM_OK) {
            break;
        }
    }

    check(rc == SYM_NOT_FOUND || rc == err.status);
    check(err.offset <= in.len && said.bytes <= in.len);
    check(rc != SYM_NOT_FOUND || input.rest.len == 0);
    said.status = rc;
    return said;
}


static inline void
archive_check(const archive_reader_t *reader, sym_str_t in, uint8_t piece)
{
    archive_said_t whole = archive_read(reader, in, in.len);
    archive_said_t pieces = archive_read(reader, in, 1 + (size_t) piece);

    check(whole.status == pieces.status && whole.sum == pieces.sum
          && whole.bytes == pieces.bytes);
}

#endif
