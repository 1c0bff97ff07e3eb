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

/* What extended headers say about the next entry. */
typedef struct {
    sym_str_t name; /* data NULL: the header's own */
    uint64_t size;
    bool is_there, has_size, is_sparse;
} extended_t;


static sym_status_t
fail(const sym_tar_t *tar, sym_status_t status, const char *what,
     sym_error_t *err)
{
    if (err->status == SYM_OK) {
        err->section = "tar file";
        err->offset = tar->offset;
    }

    return sym_fail(err, status, what);
}


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
sym_tar_start(sym_tar_t *tar, sym_tar_more_pt more, void *ctx)
{
    tar->more = more;
    tar->ctx = ctx;
    tar->left = 0;
    tar->offset = 0;
    tar->body = 0;
    tar->padding = 0;
}


/* Returns at most `most` bytes of the current piece, or of the next one; *len 0:
 * the end. */
static sym_status_t
take(sym_tar_t *tar, uint64_t most, const char **data, size_t *len,
     sym_error_t *err)
{
    sym_status_t rc = tar->left == 0
                          ? tar->more(tar->ctx, &tar->pos, &tar->left, err)
                          : SYM_OK;

    *data = tar->pos;
    *len = tar->left < most ? tar->left : (size_t) most;
    tar->pos += *len;
    tar->left -= *len;
    tar->offset += *len;
    return rc;
}


/* Copies exactly len bytes. */
static sym_status_t
read_exactly(sym_tar_t *tar, char *to, size_t len, sym_error_t *err)
{
    const char *data;
    size_t n;

    while (len != 0) {
        if (take(tar, len, &data, &n, err) != SYM_OK) {
            return err->status;
        }
        if (n == 0) {
            return fail(tar, SYM_TRUNCATED, "the tar ends early", err);
        }
        memcpy(to, data, n);
        to += n;
        len -= n;
    }

    return SYM_OK;
}


static sym_status_t
skip(sym_tar_t *tar, uint64_t len, sym_error_t *err)
{
    const char *data;
    size_t n;

    while (len != 0) {
        if (take(tar, len, &data, &n, err) != SYM_OK) {
            return err->status;
        }
        if (n == 0) {
            return fail(tar, SYM_TRUNCATED, "the tar ends early", err);
        }
        len -= n;
    }

    return SYM_OK;
}


/* Reads the rest, which is padding to a large block.  An unpacker verifies its
 * checksum at its end. */
static sym_status_t
drain(sym_tar_t *tar, sym_error_t *err)
{
    const char *data;
    size_t n;

    do {
        if (take(tar, UINT64_MAX, &data, &n, err) != SYM_OK) {
            return err->status;
        }
    } while (n != 0);

    return SYM_NOT_FOUND;
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
    if (read_exactly(tar, tar->block, SYM_TAR_BLOCK_BYTES, err) != SYM_OK) {
        return err->status;
    }

    if (is_zero(tar->block)) {
        return SYM_NOT_FOUND;
    }

    if (!sym_tar_is(tar->block, SYM_TAR_BLOCK_BYTES)
        || !is_sum_right(tar->block)) {
        return fail(tar, SYM_MALFORMED, "a damaged header", err);
    }

    return read_size(tar->block + SIZE_AT, size) && *size < SIZE_MAX_BYTES
               ? SYM_OK
               : fail(tar, SYM_MALFORMED, "an invalid size", err);
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


/* "tar -c ." writes "./a". */
static sym_str_t
without_dot(sym_str_t name)
{
    while (sym_str_starts(name, SYM_STR("./"))) {
        name = sym_str(name.data + 2, name.len - 2);
    }

    return name;
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
        return fail(tar, SYM_LIMIT,
                    "an extended header of more than 65536 bytes", err);
    }
    if (x->is_there) {
        return fail(tar, SYM_MALFORMED, "two extended headers of one entry",
                    err);
    }

    if (read_exactly(tar, tar->extra, (size_t) size, err) != SYM_OK
        || skip(tar, padding_of(size), err) != SYM_OK)
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
               : fail(tar, SYM_MALFORMED, "a damaged extended header", err);
}


/* --- entries --- */

static sym_status_t
begin_entry(sym_tar_t *tar, const extended_t *x, uint64_t size,
            sym_tar_entry_t *entry, sym_error_t *err)
{
    char type = tar->block[TYPE_AT];

    if (type == 'S' || x->is_sparse) {
        return fail(tar, SYM_UNSUPPORTED,
                    "a sparse file in it: make it without --sparse", err);
    }

    size = x->has_size ? x->size : size;

    /* readers differ in whether bytes follow these */
    if (type >= '1' && type <= '6' && size != 0) {
        return fail(tar, SYM_MALFORMED, "a link, device or folder with bytes",
                    err);
    }

    entry->name = without_dot(x->name.data != NULL ? x->name : own_name(tar));
    entry->size = size;
    entry->is_file = type == '0' || type == '\0' || type == '7';
    tar->body = size;
    tar->padding = padding_of(size);
    return SYM_OK;
}


sym_status_t
sym_tar_next(sym_tar_t *tar, sym_tar_entry_t *entry, sym_error_t *err)
{
    extended_t x = { .name = sym_str(NULL, 0) };
    sym_status_t rc = skip(tar, tar->body + tar->padding, err);
    bool is_extended = true;
    uint64_t size = 0;

    tar->body = 0;
    tar->padding = 0;
    while (rc == SYM_OK && is_extended) {
        char type;

        rc = read_header(tar, &size, err);
        type = tar->block[TYPE_AT];

        /* 'g' is for all entries; 'K' is a long target of a link */
        is_extended = type != '\0' && strchr("xLgK", type) != NULL;
        if (rc == SYM_OK && is_extended) {
            rc = type == 'x' || type == 'L'
                     ? read_extended(tar, type, size, &x, err)
                     : skip(tar, size + padding_of(size), err);
        }
    }

    if (rc == SYM_NOT_FOUND) {
        return drain(tar, err);
    }

    return rc == SYM_OK ? begin_entry(tar, &x, size, entry, err) : rc;
}


sym_status_t
sym_tar_read(sym_tar_t *tar, const char **data, size_t *len, sym_error_t *err)
{
    *len = 0;
    if (tar->body == 0) {
        return SYM_OK;
    }

    if (take(tar, tar->body, data, len, err) != SYM_OK) {
        return err->status;
    }

    tar->body -= *len;
    return *len != 0 ? SYM_OK
                     : fail(tar, SYM_TRUNCATED, "the tar ends early", err);
}
