#include "elf/unpack.h"

#include <libdeflate.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "elf/file.h"

#define NO_MEMORY "no memory to unpack a section"
#define DAMAGED "packed bytes are damaged"
#define WRONG_SIZE "unpacks to another size than it announces"

/* xz(1) -9 needs 65 MiB; a stream may ask for 4 GiB. */
#define XZ_MEMORY_MAX ((uint64_t) 128 << 20)

/* .gnu_debugdata unpacks to about six times its size. */
#define XZ_FIRST_FACTOR 8
#define XZ_FIRST_MIN ((size_t) 4096)

/* zlib counts in unsigned int, sections may be larger. */
static uInt
part(size_t left)
{
    return left < UINT_MAX ? (uInt) left : UINT_MAX;
}


/* --- zlib --- */

static sym_status_t
inflate_all(z_stream *z, const uint8_t *in_end, const uint8_t *out_end)
{
    int rc;

    do {
        z->avail_in = part((size_t) (in_end - z->next_in));
        z->avail_out = part((size_t) (out_end - z->next_out));
        rc = inflate(z, Z_NO_FLUSH);
    } while (rc == Z_OK);

    switch (rc) {
    case Z_STREAM_END:
        return SYM_OK;
    case Z_MEM_ERROR:
        return SYM_NOMEM;
    case Z_BUF_ERROR:
        /* neither side could go on: which of them is at its end? */
        return z->next_in == in_end ? SYM_TRUNCATED : SYM_LIMIT;
    default:
        return SYM_MALFORMED;
    }
}


/* With the reason, if it cannot be unpacked. */
static sym_status_t
unpack_slowly(sym_str_t in, uint8_t *out, size_t size, const char *section,
              sym_error_t *err)
{
    const uint8_t *bytes = (const uint8_t *) in.data;
    z_stream z = { .next_in = (Bytef *) (uintptr_t) bytes, .next_out = out };
    sym_status_t rc;
    size_t taken, given;

    if (inflateInit(&z) != Z_OK) {
        return sym_fail(err, SYM_NOMEM, NO_MEMORY);
    }

    rc = inflate_all(&z, bytes + in.len, out + size);
    taken = (size_t) (z.next_in - bytes);
    given = (size_t) (z.next_out - out);
    (void) inflateEnd(&z);

    switch (rc) {
    case SYM_OK:
        if (given == size) {
            return SYM_OK;
        }
        return sym_elf_fail(err, SYM_MALFORMED, section, taken, WRONG_SIZE);
    case SYM_LIMIT:
        return sym_elf_fail(err, SYM_MALFORMED, section, taken, WRONG_SIZE);
    case SYM_TRUNCATED:
        return sym_elf_fail(err, SYM_TRUNCATED, section, taken,
                            "packed bytes end early");
    case SYM_NOMEM:
        return sym_fail(err, SYM_NOMEM, NO_MEMORY);
    default:
        return sym_elf_fail(err, SYM_MALFORMED, section, taken, DAMAGED);
    }
}


/* libdeflate is twice as fast, but says neither where nor why it stopped. */
static bool
unpack_fast(sym_str_t in, uint8_t *out, size_t size)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result rc;

    if (d == NULL) {
        return false;
    }

    rc = libdeflate_zlib_decompress(d, in.data, in.len, out, size, NULL);
    libdeflate_free_decompressor(d);
    return rc == LIBDEFLATE_SUCCESS;
}


sym_status_t
sym_elf_unpack_zlib(sym_str_t in, uint8_t *out, size_t size,
                    const char *section, sym_error_t *err)
{
    if (unpack_fast(in, out, size)) {
        return SYM_OK;
    }

    return unpack_slowly(in, out, size, section, err);
}


/* --- zstd --- */

sym_status_t
sym_elf_unpack_zstd(sym_str_t in, uint8_t *out, size_t size,
                    const char *section, sym_error_t *err)
{
    size_t rc = ZSTD_decompress(out, size, in.data, in.len);

    if (!ZSTD_isError(rc)) {
        if (rc == size) {
            return SYM_OK;
        }
        return sym_elf_fail(err, SYM_MALFORMED, section, 0, WRONG_SIZE);
    }

    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_memory_allocation:
        return sym_fail(err, SYM_NOMEM, NO_MEMORY);
    case ZSTD_error_dstSize_tooSmall:
        return sym_elf_fail(err, SYM_MALFORMED, section, 0, WRONG_SIZE);
    case ZSTD_error_srcSize_wrong:
        return sym_elf_fail(err, SYM_TRUNCATED, section, 0,
                            "packed bytes end early");
    default:
        return sym_elf_fail(err, SYM_MALFORMED, section, 0, DAMAGED);
    }
}


/* --- xz --- */

typedef struct {
    lzma_stream stream;
    uint8_t *out;
    size_t size, most;
} xz_t;


static bool
grow(xz_t *x)
{
    size_t had = x->size;
    size_t size = had > x->most / 2 ? x->most : had * 2;
    uint8_t *out = realloc(x->out, size);

    if (out == NULL) {
        return false;
    }

    x->out = out;
    x->size = size;
    x->stream.next_out = out + had;
    x->stream.avail_out = size - had;
    return true;
}


static sym_status_t
xz_fail(const xz_t *x, lzma_ret rc, const char *section, sym_error_t *err)
{
    switch (rc) {
    case LZMA_MEM_ERROR:
        return sym_fail(err, SYM_NOMEM, NO_MEMORY);
    case LZMA_MEMLIMIT_ERROR:
        return sym_elf_fail(err, SYM_LIMIT, section, 0,
                            "needs more than 128 MiB to unpack");
    case LZMA_BUF_ERROR:
        return sym_elf_fail(err, SYM_TRUNCATED, section, x->stream.total_in,
                            "packed bytes end early");
    default:
        return sym_elf_fail(err, SYM_MALFORMED, section, x->stream.total_in,
                            DAMAGED);
    }
}


static sym_status_t
unpack_xz(xz_t *x, const char *section, sym_error_t *err)
{
    for (;;) {
        lzma_ret rc = lzma_code(&x->stream, LZMA_FINISH);

        if (rc == LZMA_STREAM_END) {
            return SYM_OK;
        }

        if (rc != LZMA_OK && (rc != LZMA_BUF_ERROR || x->stream.avail_out != 0))
        {
            return xz_fail(x, rc, section, err);
        }

        if (x->stream.avail_out != 0) {
            continue;
        }

        if (x->size == x->most) {
            return sym_elf_fail(err, SYM_LIMIT, section, 0,
                                "unpacks to more than is allowed");
        }

        if (!grow(x)) {
            return sym_fail(err, SYM_NOMEM, NO_MEMORY);
        }
    }
}


sym_status_t
sym_elf_unpack_xz(sym_str_t in, uint64_t max, uint8_t **out, size_t *size,
                  const char *section, sym_error_t *err)
{
    xz_t x = { .stream = LZMA_STREAM_INIT };
    lzma_ret rc;

    x.most = max < SIZE_MAX ? (size_t) max : SIZE_MAX;
    x.size =
        in.len < x.most / XZ_FIRST_FACTOR ? in.len * XZ_FIRST_FACTOR : x.most;
    x.size =
        x.size < XZ_FIRST_MIN && XZ_FIRST_MIN < x.most ? XZ_FIRST_MIN : x.size;
    x.out = malloc(x.size + (x.size == 0));
    rc = lzma_stream_decoder(&x.stream, XZ_MEMORY_MAX, 0);

    if (x.out == NULL || rc != LZMA_OK) {
        (void) sym_fail(err, SYM_NOMEM, NO_MEMORY);
    } else {
        x.stream.next_in = (const uint8_t *) in.data;
        x.stream.avail_in = in.len;
        x.stream.next_out = x.out;
        x.stream.avail_out = x.size;
        (void) unpack_xz(&x, section, err);
    }

    *size = (size_t) x.stream.total_out;
    lzma_end(&x.stream);

    if (err->status != SYM_OK) {
        free(x.out);
        return err->status;
    }

    *out = x.out;
    return SYM_OK;
}
