#include "formats/packed/cpio.h"

#include <string.h>

#include "base/hex.h"

/* cpio(5): a magic, and thirteen numbers of eight hexadecimal digits */
#define MAGIC_BYTES 6
#define NUMBER_BYTES 8
#define HEADER_BYTES 110

/* Positions of the numbers. */
#define MODE 1
#define SIZE 6
#define NAME_SIZE 11

#define TRAILER "TRAILER!!!"

/* POSIX, <cpio.h>: the type of a file in its mode */
#define TYPE_MASK 0170000u
#define TYPE_FILE 0100000u

/* Headers and bodies begin at multiples of 4. */
#define ALIGNMENT 4


bool
sym_cpio_is(const char *data, size_t len)
{
    return len >= MAGIC_BYTES
           && (memcmp(data, "070701", MAGIC_BYTES) == 0
               || memcmp(data, "070702", MAGIC_BYTES) == 0);
}


void
sym_cpio_start(sym_cpio_t *cpio, sym_pieces_more_pt more, void *ctx)
{
    sym_pieces_start(&cpio->in, more, ctx, "cpio archive");
}


static bool
read_number(const char *header, unsigned which, uint64_t *value)
{
    return sym_hex_read(
        sym_str(header + MAGIC_BYTES + (size_t) which * NUMBER_BYTES,
                NUMBER_BYTES),
        value);
}


static sym_status_t
read_name(sym_cpio_t *cpio, uint64_t size, sym_str_t *name, sym_error_t *err)
{
    if (size == 0 || size > sizeof(cpio->name)) {
        return sym_pieces_fail(&cpio->in, SYM_LIMIT,
                               "a name of more than 4095 bytes, or none", err);
    }

    if (sym_pieces_read(&cpio->in, cpio->name, (size_t) size, err) != SYM_OK) {
        return err->status;
    }

    if (memchr(cpio->name, '\0', (size_t) size) != cpio->name + size - 1) {
        return sym_pieces_fail(&cpio->in, SYM_MALFORMED,
                               "a name that does not end where it should", err);
    }

    *name = sym_str(cpio->name, (size_t) size - 1);
    return sym_pieces_skip(&cpio->in, -(HEADER_BYTES + size) % ALIGNMENT, err);
}


static sym_status_t
begin_entry(sym_cpio_t *cpio, sym_packed_entry_t *entry, sym_error_t *err)
{
    char header[HEADER_BYTES];
    uint64_t mode, name_size;

    if (sym_pieces_read(&cpio->in, header, sizeof(header), err) != SYM_OK) {
        return err->status;
    }

    if (!sym_cpio_is(header, sizeof(header))) {
        /* rpm's own variant, for packages with files of 4 GB or more */
        return memcmp(header, "07070X", MAGIC_BYTES) == 0
                   ? sym_pieces_fail(&cpio->in, SYM_UNSUPPORTED,
                                     "headers without sizes (07070X)", err)
                   : sym_pieces_fail(&cpio->in, SYM_MALFORMED,
                                     "a damaged header", err);
    }

    if (!read_number(header, MODE, &mode)
        || !read_number(header, SIZE, &entry->size)
        || !read_number(header, NAME_SIZE, &name_size))
    {
        return sym_pieces_fail(&cpio->in, SYM_MALFORMED, "an invalid number",
                               err);
    }

    entry->is_file = (mode & TYPE_MASK) == TYPE_FILE;
    cpio->in.body = entry->size;
    cpio->in.padding = -entry->size % ALIGNMENT;
    return read_name(cpio, name_size, &entry->name, err);
}


sym_status_t
sym_cpio_next(sym_cpio_t *cpio, sym_packed_entry_t *entry, sym_error_t *err)
{
    if (sym_pieces_leave(&cpio->in, err) != SYM_OK
        || begin_entry(cpio, entry, err) != SYM_OK)
    {
        return err->status;
    }

    if (sym_str_eq(entry->name, SYM_STR(TRAILER))) {
        return sym_pieces_drain(&cpio->in, err) == SYM_OK ? SYM_NOT_FOUND
                                                          : err->status;
    }

    entry->name = sym_packed_name(entry->name);
    return SYM_OK;
}
