/*
 * xz.c - xz: any number of streams, with padding between them.
 */
#include <lzma.h>
#include <stdlib.h>

#include "unpack/unpack.h"

/* Memory limit.  A stream declares the size of its dictionary; 64 MiB, as for
 * xz -9, take 65 MiB with other memory. */
#define MEMORY_MAX ((uint64_t) 128 << 20)

/* decoder of a stream; none in the padding between two */
#define FIRST_BYTE '\xfd'

typedef struct {
    source_t *source;
    lzma_stream x;
    bool in_stream, at_end; /* in_stream: a stream has begun, and has not
                               ended */
    bool has_ended;         /* at least one stream has ended */
} xz_t;


static void
close_xz(void *state)
{
    xz_t *p = state;

    lzma_end(&p->x);
    free(p);
}


static void *
open_xz(source_t *s, sym_error_t *err)
{
    xz_t *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        sym_fail(err, SYM_NOMEM, "no memory for liblzma");
        return NULL;
    }

    p->source = s;
    return p;
}


static sym_status_t
fail(const xz_t *p, sym_status_t status, const char *what, sym_error_t *err)
{
    return source_fail(p->source, unpack_xz.section, status, what, err);
}


static sym_status_t
fail_code(const xz_t *p, lzma_ret code, sym_error_t *err)
{
    switch (code) {
    case LZMA_BUF_ERROR:
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    case LZMA_MEM_ERROR:
        return fail(p, SYM_NOMEM, "no memory for liblzma", err);
    case LZMA_MEMLIMIT_ERROR:
        return fail(p, SYM_LIMIT,
                    "it needs more than 128 MiB to unpack (xz -9 is the most)",
                    err);
    case LZMA_OPTIONS_ERROR:
        return fail(p, SYM_UNSUPPORTED, "this compression method", err);
    default:
        return fail(p, SYM_MALFORMED, "damaged", err);
    }
}


/* After a stream comes another one, or padding of zeros. */
static sym_status_t
between_streams(xz_t *p, sym_error_t *err)
{
    source_t *s = p->source;
    lzma_ret rc;

    if (s->left == 0) {
        p->at_end = true;
        return SYM_OK;
    }

    if (p->has_ended && s->pos[0] == 0) {
        source_take(s, 1);
        return SYM_OK;
    }

    if (s->pos[0] != FIRST_BYTE) {
        return fail(p, SYM_MALFORMED, "more bytes after the end", err);
    }

    rc = lzma_stream_decoder(&p->x, MEMORY_MAX, 0);
    p->in_stream = rc == LZMA_OK;
    return p->in_stream ? SYM_OK : fail_code(p, rc, err);
}


static sym_status_t
unpack_some(xz_t *p, sym_error_t *err)
{
    source_t *s = p->source;
    size_t had = p->x.avail_out;
    lzma_ret rc;

    p->x.next_in = (const uint8_t *) s->pos;
    p->x.avail_in = s->left;
    rc = lzma_code(&p->x, LZMA_RUN);

    /* Even without input, it may have output. */
    if (rc == LZMA_OK && s->left == 0 && p->x.avail_out == had) {
        rc = LZMA_BUF_ERROR;
    }

    source_take(s, s->left - p->x.avail_in);
    p->in_stream = rc == LZMA_OK;
    p->has_ended = p->has_ended || rc == LZMA_STREAM_END;
    return rc == LZMA_OK || rc == LZMA_STREAM_END ? SYM_OK
                                                  : fail_code(p, rc, err);
}


static sym_status_t
next(void *state, char *out, size_t size, size_t *len, sym_error_t *err)
{
    xz_t *p = state;
    sym_status_t rc = SYM_OK;

    p->x.next_out = (uint8_t *) out;
    p->x.avail_out = size;

    while (p->x.avail_out > 0 && !p->at_end && rc == SYM_OK) {
        rc = source_fill(p->source, 1, err);

        if (rc == SYM_OK && !p->in_stream) {
            rc = between_streams(p, err);
        }

        if (rc == SYM_OK && p->in_stream) {
            rc = unpack_some(p, err);
        }
    }

    *len = size - p->x.avail_out;
    return rc;
}


const unpack_t unpack_xz = { "xz stream", open_xz, next, close_xz, NULL };
