#include "formats/packed/inflate.h"

#include <libdeflate.h>
#include <limits.h>
#include <zlib.h>

/* zlib counts in unsigned int, but sections may be larger. */
static uInt
part(size_t left)
{
    return left < UINT_MAX ? (uInt) left : UINT_MAX;
}


static sym_status_t
run(z_stream *z, const uint8_t *in_end, const uint8_t *out_end)
{
    int rc;

    do {
        z->avail_in = part((size_t) (in_end - z->next_in));
        z->avail_out = part((size_t) (out_end - z->next_out));
        rc = inflate(z, Z_NO_FLUSH);
    } while (rc == Z_OK);

    switch (rc) {
    case Z_STREAM_END:
        return z->next_out == out_end ? SYM_OK : SYM_LIMIT;
    case Z_MEM_ERROR:
        return SYM_NOMEM;
    case Z_BUF_ERROR:
        /* neither side can continue: find out which one is at its end */
        return z->next_in == in_end ? SYM_TRUNCATED : SYM_LIMIT;
    default:
        return SYM_MALFORMED;
    }
}


static sym_status_t
fail_at(sym_error_t *err, sym_status_t status, size_t offset, const char *what)
{
    if (err->status == SYM_OK) {
        err->offset = offset;
    }

    return sym_fail(err, status, what);
}


/* zlib.h, inflateInit2: negative for raw deflate. */
#define WINDOW_ZLIB 15
#define WINDOW_RAW (-15)

/* Sets the reason if the data cannot be unpacked. */
static sym_status_t
inflate_slowly(sym_str_t in, int window, uint8_t *out, size_t len,
               sym_error_t *err)
{
    const uint8_t *bytes = (const uint8_t *) in.data;
    z_stream z = { .next_in = (Bytef *) (uintptr_t) bytes, .next_out = out };
    sym_status_t rc;
    size_t taken;

    if (inflateInit2(&z, window) != Z_OK) {
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    }

    rc = run(&z, bytes + in.len, out + len);
    taken = (size_t) (z.next_in - bytes);
    (void) inflateEnd(&z);

    switch (rc) {
    case SYM_OK:
        return SYM_OK;
    case SYM_LIMIT:
        return fail_at(err, SYM_MALFORMED, taken, SYM_UNPACK_SIZE);
    case SYM_TRUNCATED:
        return fail_at(err, SYM_TRUNCATED, taken, SYM_UNPACK_SHORT);
    case SYM_NOMEM:
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    default:
        return fail_at(err, SYM_MALFORMED, taken, SYM_UNPACK_DAMAGED);
    }
}


typedef enum libdeflate_result (*fast_pt)(struct libdeflate_decompressor *d,
                                          const void *in, size_t in_len,
                                          void *out, size_t len, size_t *got);

/* libdeflate is twice as fast, but reports neither the position nor the reason
   of an error. */
static bool
inflate_fast(sym_str_t in, fast_pt inflate_with, uint8_t *out, size_t len)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result rc;

    if (d == NULL) {
        return false;
    }

    rc = inflate_with(d, in.data, in.len, out, len, NULL);
    libdeflate_free_decompressor(d);
    return rc == LIBDEFLATE_SUCCESS;
}


sym_status_t
sym_inflate(sym_str_t in, uint8_t *out, size_t len, sym_error_t *err)
{
    return inflate_fast(in, libdeflate_zlib_decompress, out, len)
               ? SYM_OK
               : inflate_slowly(in, WINDOW_ZLIB, out, len, err);
}


sym_status_t
sym_inflate_raw(sym_str_t in, uint8_t *out, size_t len, sym_error_t *err)
{
    return inflate_fast(in, libdeflate_deflate_decompress, out, len)
               ? SYM_OK
               : inflate_slowly(in, WINDOW_RAW, out, len, err);
}
