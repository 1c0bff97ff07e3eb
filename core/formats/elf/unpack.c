#include "formats/elf/unpack.h"

#include <lzma.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "formats/packed/inflate.h"
#include "formats/elf/file.h"

/* xz(1) -9 needs 65 MiB; a stream may ask for 4 GiB. */
#define XZ_MEMORY_MAX ((uint64_t) 128 << 20)

/* .gnu_debugdata unpacks to about six times its size. */
#define XZ_FIRST_FACTOR 8
#define XZ_FIRST_MIN ((size_t) 4096)

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
        return sym_elf_fail(err, SYM_MALFORMED, section, 0, SYM_UNPACK_SIZE);
    }

    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_memory_allocation:
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    case ZSTD_error_dstSize_tooSmall:
        return sym_elf_fail(err, SYM_MALFORMED, section, 0, SYM_UNPACK_SIZE);
    case ZSTD_error_srcSize_wrong:
        return sym_elf_fail(err, SYM_TRUNCATED, section, 0, SYM_UNPACK_SHORT);
    default:
        return sym_elf_fail(err, SYM_MALFORMED, section, 0, SYM_UNPACK_DAMAGED);
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
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    case LZMA_MEMLIMIT_ERROR:
        return sym_elf_fail(err, SYM_LIMIT, section, 0,
                            "needs more than 128 MiB to unpack");
    case LZMA_BUF_ERROR:
        return sym_elf_fail(err, SYM_TRUNCATED, section, x->stream.total_in,
                            SYM_UNPACK_SHORT);
    default:
        return sym_elf_fail(err, SYM_MALFORMED, section, x->stream.total_in,
                            SYM_UNPACK_DAMAGED);
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
            return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
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
        (void) sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
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
