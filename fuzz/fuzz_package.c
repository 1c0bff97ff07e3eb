/*
 * A package of any bytes: where its files are; and a cpio, read at once and in
 * pieces, whose size is the first byte, with the same entries.
 */
#include "archive.h"
#include "check.h"
#include "formats/packed/cpio.h"
#include "formats/packed/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sym_cpio_t cpio;

static void
start(sym_pieces_more_pt more, void *ctx)
{
    sym_cpio_start(&cpio, more, ctx);
}


static sym_status_t
next(sym_packed_entry_t *entry, sym_error_t *err)
{
    return sym_cpio_next(&cpio, entry, err);
}


static const archive_reader_t reader = { start, next, &cpio.in };


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
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

    archive_check(&reader, files, data[0]);
    return 0;
}
