/*
 * A tar of any bytes: read at once and in pieces, whose size is the first byte,
 * with the same entries.
 */
#include "archive.h"
#include "formats/packed/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sym_tar_t tar;

static void
start(sym_pieces_more_pt more, void *ctx)
{
    sym_tar_start(&tar, more, ctx);
}


static sym_status_t
next(sym_packed_entry_t *entry, sym_error_t *err)
{
    return sym_tar_next(&tar, entry, err);
}


static const archive_reader_t reader = { start, next, &tar.in };


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t in;

    if (size < 2) {
        return 0;
    }

    in = sym_str((const char *) data + 1, size - 1);
    archive_check(&reader, in, data[0]);
    return 0;
}
