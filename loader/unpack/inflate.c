/*
 * inflate.c - gzip (RFC 1952) and zlib (RFC 1950).
 */
#include <stdlib.h>
#include <zlib.h>

#include "unpack/unpack.h"

typedef struct {
    source_t *source;
    z_stream z;
    const char *section;
    bool is_gzip;
    bool in_member, at_end; /* in_member: a member has begun, and has not
                               ended */
    bool has_ended;         /* at least one member has ended */
} inflate_t;


static sym_status_t
fail(inflate_t *p, sym_status_t status, const char *what, sym_error_t *err)
{
    return source_fail(p->source, p->section, status, what, err);
}


/* bits: window size, and which header is expected (zlib.h). */
static inflate_t *
create(source_t *s, int bits, sym_error_t *err)
{
    inflate_t *p = calloc(1, sizeof(*p));

    if (p == NULL || inflateInit2(&p->z, bits) != Z_OK) {
        sym_fail(err, SYM_NOMEM, "no memory for zlib");
        free(p);
        return NULL;
    }

    p->source = s;
    return p;
}


static void *
open_gzip(source_t *s, sym_error_t *err)
{
    inflate_t *p = create(s, 15 + 16, err);

    if (p != NULL) {
        p->section = unpack_gzip.section;
        p->is_gzip = true;
    }

    return p;
}


static void *
open_zlib(source_t *s, sym_error_t *err)
{
    inflate_t *p = create(s, 15, err);

    if (p != NULL) {
        p->section = unpack_zlib.section;
    }

    return p;
}


static void
close_inflate(void *state)
{
    inflate_t *p = state;

    inflateEnd(&p->z);
    free(p);
}


static void
begin_member(inflate_t *p)
{
    inflateReset(&p->z);
    p->in_member = true;
}


/* After a gzip member comes another one, or padding that gzip(1) ignores;
 * nothing may follow a zlib stream. */
static sym_status_t
between_members(inflate_t *p, sym_error_t *err)
{
    const source_t *s = p->source;

    if (!p->has_ended || (p->is_gzip && s->left > 0 && s->pos[0] == 0x1f)) {
        begin_member(p);
        return SYM_OK;
    }

    p->at_end = true;

    if (s->left > 0 && !p->is_gzip) {
        return fail(p, SYM_MALFORMED, "more bytes after the end", err);
    }

    return SYM_OK;
}


static sym_status_t
inflate_some(inflate_t *p, sym_error_t *err)
{
    source_t *s = p->source;
    int rc;

    if (s->left == 0) {
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    }

    p->z.next_in = (z_const Bytef *) s->pos;
    p->z.avail_in = (uInt) s->left;
    rc = inflate(&p->z, Z_NO_FLUSH);
    source_take(s, s->left - p->z.avail_in);

    switch (rc) {
    case Z_STREAM_END:
        p->in_member = false;
        p->has_ended = true;
        return SYM_OK;
    case Z_OK:
    case Z_BUF_ERROR:
        return SYM_OK;
    case Z_MEM_ERROR:
        return fail(p, SYM_NOMEM, "no memory for zlib", err);
    case Z_NEED_DICT:
        return fail(p, SYM_UNSUPPORTED, "needs a dictionary", err);
    default:
        return fail(p, SYM_MALFORMED, "damaged", err);
    }
}


static sym_status_t
next(void *state, char *out, size_t size, size_t *len, sym_error_t *err)
{
    inflate_t *p = state;
    sym_status_t rc = SYM_OK;

    p->z.next_out = (Bytef *) out;
    p->z.avail_out = (uInt) size;

    while (p->z.avail_out > 0 && !p->at_end && rc == SYM_OK) {
        rc = source_fill(p->source, 1, err);

        if (rc == SYM_OK && !p->in_member) {
            rc = between_members(p, err);
        }

        if (rc == SYM_OK && p->in_member) {
            rc = inflate_some(p, err);
        }
    }

    *len = size - p->z.avail_out;
    return rc;
}


const unpack_t unpack_gzip = { "gzip stream", open_gzip, next, close_inflate,
                               NULL };
const unpack_t unpack_zlib = { "zlib stream", open_zlib, next, close_inflate,
                               NULL };
