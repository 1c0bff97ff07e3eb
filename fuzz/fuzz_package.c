/*
 * A package of any bytes: where its files are; and a cpio, read at once and in
 * pieces, whose size is the first byte, with the same entries.
 */
#include "check.h"
#include "formats/packed/cpio.h"
#include "formats/packed/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    sym_str_t rest;
    size_t piece;
} input_t;

typedef struct {
    sym_status_t status;
    uint64_t sum, bytes;
} said_t;

static sym_status_t
next_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    input_t *in = ctx;

    (void) err;
    *data = in->rest.data;
    *len = in->rest.len < in->piece ? in->rest.len : in->piece;
    in->rest = sym_str(in->rest.data + *len, in->rest.len - *len);
    return SYM_OK;
}


/* FNV-1a */
static void
add(said_t *said, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        said->sum = (said->sum ^ (uint8_t) data[i]) * 0x100000001b3;
    }
}


static sym_status_t
read_file(sym_cpio_t *cpio, const sym_packed_entry_t *entry, said_t *said,
          sym_error_t *err)
{
    uint64_t bytes = 0;
    const char *data;
    sym_status_t rc;
    size_t len;

    do {
        rc = sym_pieces_body(&cpio->in, &data, &len, err);
        if (rc == SYM_OK) {
            add(said, data, len);
            bytes += len;
        }
    } while (rc == SYM_OK && len != 0);

    check(bytes <= entry->size && (rc != SYM_OK || bytes == entry->size));
    said->bytes += bytes;
    return rc;
}


static said_t
read_all(sym_str_t in, size_t piece)
{
    static sym_cpio_t cpio;
    input_t input = { .rest = in, .piece = piece };
    said_t said = { .sum = 0 };
    sym_error_t err = { 0 };
    sym_packed_entry_t entry;
    sym_status_t rc;

    sym_cpio_start(&cpio, next_piece, &input);
    while ((rc = sym_cpio_next(&cpio, &entry, &err)) == SYM_OK) {
        add(&said, entry.name.data, entry.name.len);
        if (entry.is_file) {
            rc = read_file(&cpio, &entry, &said, &err);
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


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    said_t whole, pieces;
    sym_error_t err = { 0 };
    sym_str_t in, files;
    bool is_cpio = true;

    if (size < 2) {
        return 0;
    }

    in = sym_str((const char *) data + 1, size - 1);
    files = in;
    if (sym_package_is(in)
        && sym_package_payload(in, &files, &is_cpio, &err) != SYM_OK)
    {
        check(err.offset <= in.len);
        return 0;
    }

    check(files.data >= in.data && files.len <= in.len
          && files.data + files.len <= in.data + in.len);
    if (!is_cpio) {
        return 0;
    }

    whole = read_all(files, files.len);
    pieces = read_all(files, 1 + (size_t) data[0]);
    check(whole.status == pieces.status && whole.sum == pieces.sum
          && whole.bytes == pieces.bytes);
    return 0;
}
