#include "formats/packed/tar.h"

#include <string.h>

/* Offsets and lengths of the fields of a header (ustar Interchange Format,
 * table 4-14). */
#define NAME_BYTES 100
#define SIZE_AT 124
#define SIZE_BYTES 12
#define SUM_AT 148
#define SUM_BYTES 8
#define TYPE_AT 156
#define MAGIC_AT 257
#define PREFIX_AT 345
#define PREFIX_BYTES 155

/* Larger sizes are damaged: the sum of two of them fits into 64 bits. */
#define SIZE_MAX_BYTES ((uint64_t) 1 << 62)

/* Facts about the next entry that its extended headers give. */
typedef struct {
    sym_str_t name; /* data NULL: the header's own */
    uint64_t size;
    bool is_there, has_size, is_sparse;
} extended_t;


static bool
has_gnu_magic(const char *block)
{
    return memcmp(block + MAGIC_AT, "ustar  ", 8) == 0;
}


bool
sym_tar_is(const char *data, size_t len)
{
    return len >= SYM_TAR_BLOCK_BYTES
           && (memcmp(data + MAGIC_AT, "ustar", 6) == 0 || has_gnu_magic(data));
}


void
sym_tar_start(sym_tar_t *tar, sym_pieces_more_pt more, void *ctx)
{
    sym_pieces_start(&tar->in, more, ctx, "tar file");
}


/* --- headers --- */

/* A number in octal digits, between spaces; ends with a NUL, a space or the
 * field. */
static bool
read_octal(const char *p, size_t len, uint64_t *value)
{
    size_t i = 0;

    *value = 0;
    while (i < len && p[i] == ' ') {
        i++;
    }

    while (i < len && p[i] >= '0' && p[i] <= '7') {
        *value = *value << 3 | (uint64_t) (p[i] - '0');
        i++;
    }

    return i == len || p[i] == '\0' || p[i] == ' ';
}


/* GNU tar writes large sizes as a number of 95 bits after a bit that is set. */
static bool
read_size(const char *p, uint64_t *value)
{
    if ((uint8_t) p[0] != 0x80) {
        return (uint8_t) p[0] < 0x80 && read_octal(p, SIZE_BYTES, value);
    }

    *value = 0;
    for (size_t i = 1; i < SIZE_BYTES; i++) {
        if (*value >= SIZE_MAX_BYTES >> 8) {
            return false;
        }
        *value = *value << 8 | (uint8_t) p[i];
    }

    return true;
}


/* The sum of all bytes, in which the sum's own field counts as spaces. */
static bool
is_sum_right(const char *block)
{
    uint64_t said, sum = 0;

    for (size_t i = 0; i < SYM_TAR_BLOCK_BYTES; i++) {
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : (uint8_t) block[i];
    }

    return read_octal(block + SUM_AT, SUM_BYTES, &said) && said == sum;
}


static bool
is_zero(const char *block)
{
    return block[0] == '\0'
           && memcmp(block, block + 1, SYM_TAR_BLOCK_BYTES - 1) == 0;
}


/* SYM_NOT_FOUND: the block that ends the tar. */
static sym_status_t
read_header(sym_tar_t *tar, uint64_t *size, sym_error_t *err)
{
    if (sym_pieces_read(&tar->in, tar->block, SYM_TAR_BLOCK_BYTES, err)
        != SYM_OK) {
        return err->status;
    }

    if (is_zero(tar->block)) {
        return SYM_NOT_FOUND;
    }

    if (!sym_tar_is(tar->block, SYM_TAR_BLOCK_BYTES)
        || !is_sum_right(tar->block)) {
        return sym_pieces_fail(&tar->in, SYM_MALFORMED, "a damaged header",
                               err);
    }

    return read_size(tar->block + SIZE_AT, size) && *size < SIZE_MAX_BYTES
               ? SYM_OK
               : sym_pieces_fail(&tar->in, SYM_MALFORMED, "an invalid size",
                                 err);
}


static sym_str_t
text_of(const char *p, size_t size)
{
    return sym_str(p, strnlen(p, size));
}


/* The name in a header.  In GNU's format other things follow where POSIX has
 * the first part of a name. */
static sym_str_t
own_name(sym_tar_t *tar)
{
    sym_str_t name = text_of(tar->block, NAME_BYTES);
    sym_str_t prefix = text_of(tar->block + PREFIX_AT, PREFIX_BYTES);

    if (has_gnu_magic(tar->block) || prefix.len == 0) {
        return name;
    }

    memcpy(tar->name, prefix.data, prefix.len);
    tar->name[prefix.len] = '/';
    memcpy(tar->name + prefix.len + 1, name.data, name.len);
    return sym_str(tar->name, prefix.len + 1 + name.len);
}


/* --- extended headers --- */

static bool
read_decimal(sym_str_t *rest, char end, uint64_t *value)
{
    size_t i = 0;

    *value = 0;
    while (i < rest->len && rest->data[i] >= '0' && rest->data[i] <= '9') {
        if (*value >= SIZE_MAX_BYTES / 10) {
            return false;
        }
        *value = *value * 10 + (uint64_t) (rest->data[i] - '0');
        i++;
    }

    if (i == 0 || (end != '\0' && (i == rest->len || rest->data[i] != end))
        || (end == '\0' && i != rest->len))
    {
        return false;
    }

    i += end != '\0';
    *rest = sym_str(rest->data + i, rest->len - i);
    return true;
}


/* Takes a record: "LENGTH KEY=VALUE\n", whose length includes itself. */
static bool
read_record(sym_str_t *rest, sym_str_t *key, sym_str_t *value)
{
    sym_str_t all = *rest, record = *rest;
    uint64_t len;
    size_t used;

    if (!read_decimal(&record, ' ', &len)) {
        return false;
    }

    used = all.len - record.len;
    if (len <= used || len > all.len || all.data[len - 1] != '\n') {
        return false;
    }

    *rest = sym_str(all.data + len, all.len - (size_t) len);
    *value = sym_str(record.data, (size_t) len - used - 1);
    *key = sym_str_cut(value, '=');
    return value->data != NULL;
}


static bool
read_records(sym_str_t rest, extended_t *x)
{
    sym_str_t key, value;

    while (rest.len != 0) {
        if (!read_record(&rest, &key, &value)) {
            return false;
        }

        if (sym_str_eq(key, SYM_STR("path"))) {
            x->name = value;
        } else if (sym_str_eq(key, SYM_STR("size"))) {
            x->has_size = read_decimal(&value, '\0', &x->size);
            if (!x->has_size) {
                return false;
            }
        } else if (sym_str_starts(key, SYM_STR("GNU.sparse."))) {
            x->is_sparse = true;
        }
    }

    return true;
}


static uint64_t
padding_of(uint64_t size)
{
    return -size % SYM_TAR_BLOCK_BYTES;
}


/* Reads the body of an extended header: type 'x', or 'L' for a long name. */
static sym_status_t
read_extended(sym_tar_t *tar, char type, uint64_t size, extended_t *x,
              sym_error_t *err)
{
    if (size > SYM_TAR_EXTRA_MAX) {
        return sym_pieces_fail(&tar->in, SYM_LIMIT,
                               "an extended header of more than 65536 bytes",
                               err);
    }
    if (x->is_there) {
        return sym_pieces_fail(&tar->in, SYM_MALFORMED,
                               "two extended headers of one entry", err);
    }

    if (sym_pieces_read(&tar->in, tar->extra, (size_t) size, err) != SYM_OK
        || sym_pieces_skip(&tar->in, padding_of(size), err) != SYM_OK)
    {
        return err->status;
    }

    x->is_there = true;
    if (type == 'L') {
        x->name = text_of(tar->extra, (size_t) size);
        return SYM_OK;
    }

    return read_records(sym_str(tar->extra, (size_t) size), x)
               ? SYM_OK
               : sym_pieces_fail(&tar->in, SYM_MALFORMED,
                                 "a damaged extended header", err);
}


/* --- entries --- */

static sym_status_t
begin_entry(sym_tar_t *tar, const extended_t *x, uint64_t size,
            sym_packed_entry_t *entry, sym_error_t *err)
{
    char type = tar->block[TYPE_AT];

    if (type == 'S' || x->is_sparse) {
        return sym_pieces_fail(&tar->in, SYM_UNSUPPORTED,
                               "a sparse file in it: make it without --sparse",
                               err);
    }

    size = x->has_size ? x->size : size;

    /* readers differ in whether bytes follow these */
    if (type >= '1' && type <= '6' && size != 0) {
        return sym_pieces_fail(&tar->in, SYM_MALFORMED,
                               "a link, device or folder with bytes", err);
    }

    entry->name =
        sym_packed_name(x->name.data != NULL ? x->name : own_name(tar));
    entry->size = size;
    entry->is_file = type == '0' || type == '\0' || type == '7';
    tar->in.body = size;
    tar->in.padding = padding_of(size);
    return SYM_OK;
}


sym_status_t
sym_tar_next(sym_tar_t *tar, sym_packed_entry_t *entry, sym_error_t *err)
{
    extended_t x = { .name = sym_str(NULL, 0) };
    sym_status_t rc = sym_pieces_leave(&tar->in, err);
    bool is_extended = true;
    uint64_t size = 0;

    while (rc == SYM_OK && is_extended) {
        char type;

        rc = read_header(tar, &size, err);
        type = tar->block[TYPE_AT];

        /* 'g' is for all entries; 'K' is a long target of a link */
        is_extended = type != '\0' && strchr("xLgK", type) != NULL;
        if (rc == SYM_OK && is_extended) {
            rc = type == 'x' || type == 'L'
                     ? read_extended(tar, type, size, &x, err)
                     : sym_pieces_skip(&tar->in, size + padding_of(size), err);
        }
    }

    if (rc == SYM_NOT_FOUND) {
        return sym_pieces_drain(&tar->in, err) == SYM_OK ? SYM_NOT_FOUND
                                                         : err->status;
    }

    return rc == SYM_OK ? begin_entry(tar, &x, size, entry, err) : rc;
}
