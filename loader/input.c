#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/module_key.h"
#include "source.h"
#include "unpack.h"

#define PLAIN_BYTES ((size_t) 256 * 1024)

/* As much as the first look at a file wants to see: a pipe may give its bytes
 * one at a time. */
#define SNIFF_BYTES 64

/* What a mapping must begin at; larger pages are multiples of it. */
#define PAGE_BYTES ((uint64_t) 65536)

/* No symbol file shrinks a thousand times; past what may come out before anyone
 * asks, one that does is a bomb. */
#define RATIO_MAX 1000
#define RATIO_FREE_BYTES ((uint64_t) 64 << 20)

/* What an xz file begins with. */
static const char xz_magic[] = { '\xfd', '7', 'z', 'X', 'Z', 0 };

struct input_s {
    source_t source;
    uint64_t max_expanded;

    bool is_started, at_end;
    const unpack_t *kind; /* NULL: plain text */
    void *state;
    uint64_t expanded; /* bytes handed out so far */
    char name[SYM_NAME_MAX + 1];

    void *map; /* of the file, or NULL */
    size_t map_len;

    char plain[PLAIN_BYTES];
};


input_t *
input_create(uint64_t max_expanded)
{
    input_t *in = calloc(1, sizeof(*in));

    if (in != NULL) {
        in->max_expanded = max_expanded;
        unpack_archive_prepare();
    }

    return in;
}


/* An unpacker's memory goes as soon as it has done its work. */
static void
close_unpacker(input_t *in)
{
    if (in->state != NULL) {
        in->kind->close(in->state);
        in->state = NULL;
    }
}


void
input_end(input_t *in)
{
    close_unpacker(in);

    if (in->map != NULL) {
        munmap(in->map, in->map_len);
        in->map = NULL;
    }
}


void
input_free(input_t *in)
{
    if (in != NULL) {
        input_end(in);
    }

    free(in);
}


void
input_start(input_t *in, int fd, uint64_t length)
{
    input_end(in);
    source_start(&in->source, fd, length);
    in->kind = NULL;
    in->is_started = false;
    in->at_end = false;
    in->expanded = 0;
    in->name[0] = '\0';
}


sym_str_t
input_name(const input_t *in)
{
    return sym_cstr(in->name);
}


static bool
begins_with(const char *p, size_t len, const char *magic, size_t n)
{
    return len >= n && memcmp(p, magic, n) == 0;
}


static bool
is_zstd(const char *p, size_t len)
{
    /* any of 16 skippable frames (RFC 8878, 3.1.2) may come first */
    return begins_with(p, len, "\x28\xb5\x2f\xfd", 4)
           || (len >= 4 && ((uint8_t) p[0] & 0xf0) == 0x50
               && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0);
}


/* Nothing but text as far as the first look goes. */
static bool
looks_like_text(const char *p, size_t len)
{
    size_t i;

    for (i = 0; i < len && i < SNIFF_BYTES; i++) {
        uint8_t c = (uint8_t) p[i];

        if (c < 0x20 ? c != '\t' && c != '\n' && c != '\r' : c >= 0x7f) {
            return false;
        }
    }

    return true;
}


/* RFC 1950, 2.2: the two bytes are a multiple of 31.  "x " and "x^" are, too. */
static bool
is_zlib(const char *p, size_t len)
{
    return len >= 2 && p[0] == 0x78 && (0x7800 + (uint8_t) p[1]) % 31 == 0
           && !looks_like_text(p, len);
}


/* A zip begins with a file, the end record (it is empty), or the mark of one
 * that was split. */
static bool
is_zip(const char *p, size_t len)
{
    return begins_with(p, len, "PK\3\4", 4) || begins_with(p, len, "PK\5\6", 4)
           || begins_with(p, len, "PK\7\10", 4);
}


/* NULL: not compressed. */
static const unpack_t *
sniff(const char *p, size_t len)
{
    if (begins_with(p, len, "\x1f\x8b", 2)) {
        return &unpack_gzip;
    }

    if (is_zstd(p, len)) {
        return &unpack_zstd;
    }

    if (begins_with(p, len, xz_magic, sizeof(xz_magic))) {
        return &unpack_xz;
    }

    if (is_zip(p, len)) {
        return &unpack_zip;
    }

    if (begins_with(p, len, "MSCF\0\0\0\0", 8)) {
        return &unpack_cab;
    }

    return is_zlib(p, len) ? &unpack_zlib : NULL;
}


static sym_status_t
start(input_t *in, sym_error_t *err)
{
    source_t *s = &in->source;
    sym_status_t rc = source_fill(s, SNIFF_BYTES, err);

    if (rc != SYM_OK) {
        return rc;
    }

    in->is_started = true;
    in->kind = sniff(s->pos, s->left);

    if (in->kind != NULL) {
        in->state = in->kind->open(s, err);
        in->at_end = in->state == NULL;
    }

    if (in->state != NULL && in->kind->name != NULL) {
        snprintf(in->name, sizeof(in->name), "%s", in->kind->name(in->state));
    }

    return err->status;
}


static sym_status_t
next_plain(input_t *in, const char **data, size_t *len, sym_error_t *err)
{
    source_t *s = &in->source;
    sym_status_t rc = source_fill(s, 1, err);

    *data = s->pos;
    *len = s->left;
    source_take(s, s->left);
    return rc;
}


/* Judges the bytes that just came out. */
static sym_status_t
check_expanded(input_t *in, size_t len, sym_error_t *err)
{
    const source_t *s = &in->source;

    if (in->expanded == 0 && sniff(in->plain, len) != NULL) {
        return source_fail(s, in->kind->section, SYM_UNSUPPORTED,
                           "compressed twice", err);
    }

    in->expanded += len;

    if (in->expanded > in->max_expanded) {
        return source_fail(s, in->kind->section, SYM_LIMIT,
                           "it expands to more than --max-expanded allows",
                           err);
    }

    if (in->expanded > RATIO_FREE_BYTES && in->expanded / RATIO_MAX > s->offset)
    {
        return source_fail(s, in->kind->section, SYM_LIMIT,
                           "it expands to more than 1000 times its size", err);
    }

    return SYM_OK;
}


static sym_status_t
next_unpacked(input_t *in, const char **data, size_t *len, sym_error_t *err)
{
    sym_status_t rc;

    *data = in->plain;
    *len = 0;

    if (in->at_end) {
        return SYM_OK;
    }

    rc = in->kind->next(in->state, in->plain, PLAIN_BYTES, len, err);

    if (rc == SYM_OK) {
        rc = check_expanded(in, *len, err);
    }

    if (rc != SYM_OK || *len < PLAIN_BYTES) {
        in->at_end = true;
        close_unpacker(in);
    }

    return rc;
}


sym_status_t
input_next(input_t *in, const char **data, size_t *len, sym_error_t *err)
{
    if (!in->is_started) {
        sym_status_t rc = start(in, err);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    return in->kind != NULL ? next_unpacked(in, data, len, err)
                            : next_plain(in, data, len, err);
}


/* Where the input begins and ends in its file; false: it is a pipe. */
static bool
bounds_of(const source_t *s, uint64_t *start, uint64_t *end)
{
    off_t pos = lseek(s->fd, 0, SEEK_CUR), size = lseek(s->fd, 0, SEEK_END);

    /* it is left at its end, as if it had been read */
    if (pos < 0 || size < 0 || (uint64_t) pos < s->read_bytes || size < pos) {
        return false;
    }

    *start = (uint64_t) pos - s->read_bytes;
    *end = (uint64_t) size - *start > s->most_bytes ? *start + s->most_bytes
                                                    : (uint64_t) size;
    return true;
}


sym_status_t
input_map(input_t *in, const char **data, size_t *len, sym_error_t *err)
{
    uint64_t start, end, skip;
    void *map;

    if (!in->is_started || in->kind != NULL
        || !bounds_of(&in->source, &start, &end))
    {
        return SYM_NOT_FOUND;
    }

    skip = start % PAGE_BYTES;
    map = mmap(NULL, (size_t) (end - start + skip), PROT_READ, MAP_PRIVATE,
               in->source.fd, (off_t) (start - skip));

    if (map == MAP_FAILED) {
        return sym_fail(err, SYM_NOMEM,
                        "the file does not fit into --convert-memory");
    }

    in->map = map;
    in->map_len = (size_t) (end - start + skip);
    *data = (const char *) map + skip;
    *len = (size_t) (end - start);
    return SYM_OK;
}
