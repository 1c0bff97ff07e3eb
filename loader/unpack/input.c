#include "unpack/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/packed/tar.h"
#include "object/module_key.h"
#include "unpack/source.h"
#include "unpack/unpack.h"

#define PLAIN_BYTES ((size_t) 256 * 1024)

/* Number of bytes needed to recognize a file: a pipe may return them one at a
 * time. */
#define SNIFF_BYTES 512

/* Number of these bytes that suffice to recognize text. */
#define TEXT_BYTES 64

/* Alignment of a mapping; larger pages are multiples of it. */
#define PAGE_BYTES ((uint64_t) 65536)

/* No symbol file compresses a thousandfold; beyond a first allowance, a file
 * that does is a bomb. */
#define RATIO_MAX 1000
#define RATIO_FREE_BYTES ((uint64_t) 64 << 20)

/* First bytes of an xz file. */
static const char xz_magic[] = { '\xfd', '7', 'z', 'X', 'Z', 0 };

/* A layer of compression: its source, and its decoder. */
typedef struct {
    source_t source;
    const unpack_t *kind; /* NULL: plain text */
    void *state;
    uint64_t max_expanded, expanded; /* expanded: number of bytes returned so
                                        far */
    bool at_end;
} layer_t;

struct input_s {
    layer_t file, tar; /* tar: inside a compressed file */
    layer_t *top;      /* the layer that returns the file */
    uint64_t max_expanded;

    bool is_started, keeps_tar;
    char name[SYM_NAME_MAX + 1];

    void *map; /* mapping of the file, or NULL */
    size_t map_len;

    size_t ahead; /* number of bytes of plain that were unpacked, but not
                     returned yet */
    char plain[PLAIN_BYTES];
};


input_t *
input_create(uint64_t max_expanded, bool has_archives)
{
    input_t *in = calloc(1, sizeof(*in));

    if (in != NULL) {
        in->max_expanded = max_expanded;

        if (has_archives) {
            unpack_archive_prepare();
        }
    }

    return in;
}


/* Frees an unpacker's memory as soon as it has ended. */
static void
close_unpacker(layer_t *layer)
{
    if (layer->state != NULL) {
        layer->kind->close(layer->state);
        layer->state = NULL;
    }
}


void
input_end(input_t *in)
{
    close_unpacker(&in->tar);
    close_unpacker(&in->file);

    if (in->map != NULL) {
        munmap(in->map, in->map_len);
        in->map = NULL;
    }
}


static void
start_layer(const input_t *in, layer_t *layer)
{
    layer->kind = NULL;
    layer->max_expanded = in->max_expanded;
    layer->expanded = 0;
    layer->at_end = false;
}


void
input_start(input_t *in, int fd, uint64_t length)
{
    input_end(in);
    start_layer(in, &in->file);
    source_start(&in->file.source, fd, length);
    in->top = &in->file;
    in->is_started = false;
    in->keeps_tar = false;
    in->ahead = 0;
    in->name[0] = '\0';
}


void
input_start_tar(input_t *in, int fd, uint64_t length)
{
    input_start(in, fd, length);
    in->keeps_tar = true;
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
    /* one of 16 kinds of skippable frames (RFC 8878, 3.1.2) may be first */
    return begins_with(p, len, "\x28\xb5\x2f\xfd", 4)
           || (len >= 4 && ((uint8_t) p[0] & 0xf0) == 0x50
               && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0);
}


/* Whether the first bytes contain only text. */
static bool
looks_like_text(const char *p, size_t len)
{
    size_t i;

    for (i = 0; i < len && i < TEXT_BYTES; i++) {
        uint8_t c = (uint8_t) p[i];

        if (c < 0x20 ? c != '\t' && c != '\n' && c != '\r' : c >= 0x7f) {
            return false;
        }
    }

    return true;
}


/* RFC 1950, 2.2: the two bytes are a multiple of 31.  "x " and "x^" are,
 * too. */
static bool
is_zlib(const char *p, size_t len)
{
    return len >= 2 && p[0] == 0x78 && (0x7800 + (uint8_t) p[1]) % 31 == 0
           && !looks_like_text(p, len);
}


/* A zip begins with a file, with the end record (if empty), or with the mark of
 * a split archive. */
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

    if (sym_tar_is(p, len)) {
        return &unpack_tar;
    }

    return is_zlib(p, len) ? &unpack_zlib : NULL;
}


/* Unpacked bytes are not unpacked again, except the contents of a compressed
 * tar. */
static bool
is_packed_again(const layer_t *layer, const char *data, size_t len)
{
    const unpack_t *kind = sniff(data, len);
    bool is_stream = layer->kind->name == NULL;

    return kind != NULL && !(is_stream && kind == &unpack_tar);
}


/* Checks the unpacked bytes. */
static sym_status_t
check_expanded(layer_t *layer, const char *data, size_t len, sym_error_t *err)
{
    const source_t *s = &layer->source;
    const char *section = layer->kind->section;

    if (layer->expanded == 0 && is_packed_again(layer, data, len)) {
        return source_fail(s, section, SYM_UNSUPPORTED, "compressed twice",
                           err);
    }

    layer->expanded += len;

    if (layer->expanded > layer->max_expanded) {
        return source_fail(s, section, SYM_LIMIT,
                           "it expands to more than --max-expanded allows",
                           err);
    }

    if (layer->expanded > RATIO_FREE_BYTES
        && layer->expanded / RATIO_MAX > s->offset)
    {
        return source_fail(s, section, SYM_LIMIT,
                           "it expands to more than 1000 times its size", err);
    }

    return SYM_OK;
}


static sym_status_t
unpack(void *from, char *out, size_t size, size_t *len, sym_error_t *err)
{
    layer_t *layer = from;
    sym_status_t rc;

    *len = 0;

    if (layer->at_end) {
        return SYM_OK;
    }

    rc = layer->kind->next(layer->state, out, size, len, err);

    if (rc == SYM_OK) {
        rc = check_expanded(layer, out, *len, err);
    }

    if (rc != SYM_OK || *len < size) {
        layer->at_end = true;
        close_unpacker(layer);
    }

    return rc;
}


static sym_status_t
open_layer(layer_t *layer, const unpack_t *kind, sym_error_t *err)
{
    layer->kind = kind;
    layer->state = kind->open(&layer->source, err);
    layer->at_end = layer->state == NULL;
    return err->status;
}


/* The contents of a stream are known only after unpacking. */
static sym_status_t
look_into_stream(input_t *in, sym_error_t *err)
{
    sym_status_t rc =
        unpack(&in->file, in->plain, PLAIN_BYTES, &in->ahead, err);

    if (rc != SYM_OK || in->keeps_tar || !sym_tar_is(in->plain, in->ahead)) {
        return rc;
    }

    start_layer(in, &in->tar);
    source_start_from(&in->tar.source, unpack, &in->file, in->plain, in->ahead);
    in->ahead = 0;
    in->top = &in->tar;
    return open_layer(in->top, &unpack_tar, err);
}


static sym_status_t
start(input_t *in, sym_error_t *err)
{
    source_t *s = &in->file.source;
    sym_status_t rc = source_fill(s, SNIFF_BYTES, err);
    const unpack_t *kind;

    if (rc != SYM_OK) {
        return rc;
    }

    in->is_started = true;
    kind = sniff(s->pos, s->left);
    if (kind == NULL || (kind == &unpack_tar && in->keeps_tar)) {
        return SYM_OK;
    }

    rc = open_layer(in->top, kind, err);

    if (rc == SYM_OK && kind->name == NULL) {
        rc = look_into_stream(in, err);
    }

    kind = in->top->kind;
    if (rc == SYM_OK && kind->name != NULL) {
        snprintf(in->name, sizeof(in->name), "%s", kind->name(in->top->state));
    }

    return rc;
}


static sym_status_t
next_plain(source_t *s, const char **data, size_t *len, sym_error_t *err)
{
    sym_status_t rc = source_fill(s, 1, err);

    *data = s->pos;
    *len = s->left;
    source_take(s, s->left);
    return rc;
}


static sym_status_t
next_unpacked(input_t *in, const char **data, size_t *len, sym_error_t *err)
{
    *data = in->plain;
    *len = in->ahead;
    in->ahead = 0;
    return *len > 0 ? SYM_OK
                    : unpack(in->top, in->plain, PLAIN_BYTES, len, err);
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

    return in->top->kind != NULL ? next_unpacked(in, data, len, err)
                                 : next_plain(&in->file.source, data, len, err);
}


/* Gets start and end of the input in its file; false: it is a pipe. */
static bool
bounds_of(const source_t *s, uint64_t *start, uint64_t *end)
{
    off_t pos = lseek(s->fd, 0, SEEK_CUR), size = lseek(s->fd, 0, SEEK_END);

    /* moves the position to the end, as if it had been read */
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

    if (!in->is_started || in->file.kind != NULL
        || !bounds_of(&in->file.source, &start, &end))
    {
        return SYM_NOT_FOUND;
    }

    skip = start % PAGE_BYTES;
    map = mmap(NULL, (size_t) (end - start + skip), PROT_READ, MAP_PRIVATE,
               in->file.source.fd, (off_t) (start - skip));

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


void
input_release(const input_t *in, sym_str_t bytes)
{
    const uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    const uintptr_t map = (uintptr_t) in->map;
    const uintptr_t begin = (uintptr_t) bytes.data;
    const uintptr_t first = (begin + page - 1) & -page;
    const uintptr_t end = (begin + bytes.len) & -page;

    if (in->map != NULL && begin >= map
        && begin + bytes.len <= map + in->map_len && first < end)
    {
        (void) madvise((uint8_t *) in->map + (first - map), end - first,
                       MADV_DONTNEED);
    }
}
