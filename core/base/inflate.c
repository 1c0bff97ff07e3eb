#include "base/inflate.h"

#include <limits.h>
#include <zlib.h>

/* zlib counts in unsigned int. */
static uInt
piece_of(size_t left)
{
    return left > UINT_MAX ? UINT_MAX : (uInt) left;
}


/* Runs the stream until it ends, fails, or has nothing left to do. */
static int
run(z_stream *z, size_t *in_left, size_t *out_left)
{
    int rc;

    do {
        uInt in = piece_of(*in_left), out = piece_of(*out_left);

        z->avail_in = in;
        z->avail_out = out;
        rc = inflate(z, Z_NO_FLUSH);
        *in_left -= in - z->avail_in;
        *out_left -= out - z->avail_out;
    } while (rc == Z_OK);

    return rc;
}


sym_status_t
sym_inflate(sym_str_t in, uint8_t *out, size_t len, sym_error_t *err)
{
    size_t in_left = in.len, out_left = len;
    z_stream z = { .next_in = (Bytef *) (uintptr_t) in.data, .next_out = out };
    int rc = inflateInit(&z);

    if (rc != Z_OK) {
        return sym_fail(err, SYM_NOMEM, "no memory to unpack zlib data");
    }

    rc = run(&z, &in_left, &out_left);
    (void) inflateEnd(&z);

    if (rc == Z_STREAM_END && out_left == 0) {
        return SYM_OK;
    }

    if (err->status == SYM_OK) {
        err->offset = in.len - in_left;
    }

    if (rc == Z_MEM_ERROR) {
        return sym_fail(err, SYM_NOMEM, "no memory to unpack zlib data");
    }

    return sym_fail(err, SYM_MALFORMED,
                    rc == Z_STREAM_END || (rc == Z_BUF_ERROR && in_left != 0)
                        ? "zlib data are of another length than announced"
                        : "zlib data are damaged or cut short");
}
