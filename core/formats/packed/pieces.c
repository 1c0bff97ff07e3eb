#include "formats/packed/pieces.h"

#include <string.h>

void
sym_pieces_start(sym_pieces_t *p, sym_pieces_more_pt more, void *ctx,
                 const char *section)
{
    *p = (sym_pieces_t){ .more = more, .ctx = ctx, .section = section };
}


sym_status_t
sym_pieces_fail(const sym_pieces_t *p, sym_status_t status, const char *what,
                sym_error_t *err)
{
    if (err->status == SYM_OK) {
        err->section = p->section;
        err->offset = p->offset;
    }

    return sym_fail(err, status, what);
}


sym_status_t
sym_pieces_take(sym_pieces_t *p, uint64_t most, const char **data, size_t *len,
                sym_error_t *err)
{
    if (p->left == 0 && p->more(p->ctx, &p->pos, &p->left, err) != SYM_OK) {
        return err->status;
    }

    *data = p->pos;
    *len = p->left < most ? p->left : (size_t) most;
    p->pos += *len;
    p->left -= *len;
    p->offset += *len;
    return SYM_OK;
}


static sym_status_t
ends_early(const sym_pieces_t *p, sym_error_t *err)
{
    return sym_pieces_fail(p, SYM_TRUNCATED, "the archive ends early", err);
}


/* to NULL: skips them. */
static sym_status_t
take_exactly(sym_pieces_t *p, char *to, uint64_t len, sym_error_t *err)
{
    const char *data = NULL;
    size_t n = 0;

    while (len != 0) {
        if (sym_pieces_take(p, len, &data, &n, err) != SYM_OK) {
            return err->status;
        }
        if (n == 0) {
            return ends_early(p, err);
        }
        if (to != NULL) {
            memcpy(to, data, n);
            to += n;
        }
        len -= n;
    }

    return SYM_OK;
}


sym_status_t
sym_pieces_read(sym_pieces_t *p, char *to, size_t len, sym_error_t *err)
{
    return take_exactly(p, to, len, err);
}


sym_status_t
sym_pieces_skip(sym_pieces_t *p, uint64_t len, sym_error_t *err)
{
    return take_exactly(p, NULL, len, err);
}


sym_status_t
sym_pieces_body(sym_pieces_t *p, const char **data, size_t *len,
                sym_error_t *err)
{
    *len = 0;
    if (p->body == 0) {
        return SYM_OK;
    }

    if (sym_pieces_take(p, p->body, data, len, err) != SYM_OK) {
        return err->status;
    }

    p->body -= *len;
    return *len != 0 ? SYM_OK : ends_early(p, err);
}


sym_status_t
sym_pieces_leave(sym_pieces_t *p, sym_error_t *err)
{
    uint64_t len = p->body + p->padding;

    p->body = 0;
    p->padding = 0;
    return sym_pieces_skip(p, len, err);
}


sym_str_t
sym_packed_name(sym_str_t name)
{
    while (sym_str_starts(name, SYM_STR("./"))) {
        name = sym_str(name.data + 2, name.len - 2);
    }

    return name;
}


sym_status_t
sym_pieces_drain(sym_pieces_t *p, sym_error_t *err)
{
    const char *data = NULL;
    size_t n = 0;

    do {
        if (sym_pieces_take(p, UINT64_MAX, &data, &n, err) != SYM_OK) {
            return err->status;
        }
    } while (n != 0);

    return SYM_OK;
}
