/*
 * zstd.c - zstd (RFC 8878): any number of frames, skippable ones among them.
 */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "unpack/unpack.h"

/* Maximum size of a frame's window, which the frame declares and which is
 * allocated; 128 MiB is also the default limit of zstd(1). */
#define WINDOW_LOG_MAX 27

/* Enough bytes to recognize a frame (RFC 8878, 3.1.1). */
#define MAGIC_BYTES 4

typedef struct {
    source_t *source;
    ZSTD_DCtx *dctx;
    size_t hint;    /* number of bytes that zstd wants next; 0: between two
                       frames */
    bool has_ended; /* at least one frame was read */
} zstd_t;


static void
close_zstd(void *state)
{
    zstd_t *p = state;

    ZSTD_freeDCtx(p->dctx);
    free(p);
}


static void *
open_zstd(source_t *s, sym_error_t *err)
{
    zstd_t *p = calloc(1, sizeof(*p));

    if (p != NULL) {
        p->source = s;
        p->dctx = ZSTD_createDCtx();
    }

    if (p == NULL || p->dctx == NULL
        || ZSTD_isError(ZSTD_DCtx_setParameter(p->dctx, ZSTD_d_windowLogMax,
                                               WINDOW_LOG_MAX)))
    {
        sym_fail(err, SYM_NOMEM, "no memory for zstd");

        if (p != NULL) {
            close_zstd(p);
        }

        return NULL;
    }

    return p;
}


static sym_status_t
fail(const zstd_t *p, sym_status_t status, const char *what, sym_error_t *err)
{
    return source_fail(p->source, unpack_zstd.section, status, what, err);
}


static sym_status_t
fail_code(const zstd_t *p, size_t code, sym_error_t *err)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return fail(p, SYM_LIMIT,
                    "it needs a window of more than 128 MiB (zstd --long=27 "
                    "is the most)",
                    err);
    case ZSTD_error_memory_allocation:
        return fail(p, SYM_NOMEM, "no memory for zstd", err);
    case ZSTD_error_dictionary_wrong:
        return fail(p, SYM_UNSUPPORTED, "needs a dictionary", err);
    case ZSTD_error_prefix_unknown:
        if (p->has_ended) {
            return fail(p, SYM_MALFORMED, "more bytes after the end", err);
        }
        return fail(p, SYM_MALFORMED, "damaged", err);
    default:
        return fail(p, SYM_MALFORMED, "damaged", err);
    }
}


/* Passes zstd at most as many bytes as it requests (a block), because after an
 * error it does not report its position. */
static sym_status_t
unpack_some(zstd_t *p, ZSTD_outBuffer *out, sym_error_t *err)
{
    source_t *s = p->source;
    size_t want = p->hint > 0 ? p->hint : MAGIC_BYTES;
    ZSTD_inBuffer in = { s->pos, s->left < want ? s->left : want, 0 };
    size_t had = out->pos;
    size_t rc = ZSTD_decompressStream(p->dctx, out, &in);

    if (ZSTD_isError(rc)) {
        return fail_code(p, rc, err);
    }

    source_take(s, in.pos);

    /* Even without input, it may have output. */
    if (rc > 0 && in.size == 0 && out->pos == had) {
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    }

    p->hint = rc;
    p->has_ended = p->has_ended || rc == 0;
    return SYM_OK;
}


static sym_status_t
next(void *state, char *out, size_t size, size_t *len, sym_error_t *err)
{
    zstd_t *p = state;
    ZSTD_outBuffer buffer = { out, size, 0 };
    sym_status_t rc = SYM_OK;

    while (buffer.pos < size && rc == SYM_OK) {
        rc = source_fill(p->source, 1, err);

        if (rc == SYM_OK && p->source->left == 0 && p->hint == 0) {
            break;
        }

        if (rc == SYM_OK) {
            rc = unpack_some(p, &buffer, err);
        }
    }

    *len = buffer.pos;
    return rc;
}


const unpack_t unpack_zstd = { "zstd stream", open_zstd, next, close_zstd,
                               NULL };
