#include "artifacts/symcache/write/extents.h"

#include <stdlib.h>

sym_status_t
sym_extents_begin(sym_extents_t *x, sym_extent_put_pt put, void *ctx,
                  size_t header_bytes, sym_error_t *err)
{
    *x = (sym_extents_t){ .put = put, .ctx = ctx, .err = err };

    x->first.data = calloc(1, SYM_EXTENT_MAX);
    if (x->first.data == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for an extent");
    }

    x->first.len = header_bytes;
    x->next_number = 1;
    return SYM_OK;
}


static sym_status_t
hand_over_bytes(sym_extents_t *x, uint32_t number, const uint8_t *data,
                size_t len)
{
    x->bytes += len;
    return x->put(x->ctx, number, data, len, x->err);
}


static sym_status_t
hand_over(sym_extents_t *x, const sym_extent_t *e)
{
    return hand_over_bytes(x, e->number, e->data, e->len);
}


/* False: the limit is reached. */
static bool
next_number(sym_extents_t *x, uint32_t *number)
{
    if (x->next_number == SYM_EXTENTS_LIMIT) {
        (void) sym_fail(x->err, SYM_LIMIT, "artifact would exceed 4 GiB");
        return false;
    }

    *number = x->next_number++;
    return true;
}


/* Begins the next extent of the lane, because the current one is full. */
static sym_status_t
next_extent(sym_extents_t *x, sym_extent_t *e)
{
    if (e->data == NULL) {
        e->data = malloc(SYM_EXTENT_MAX);
        if (e->data == NULL) {
            return sym_fail(x->err, SYM_NOMEM, "no memory for an extent");
        }

    } else if (hand_over(x, e) != SYM_OK) {
        return x->err->status;
    }

    if (!next_number(x, &e->number)) {
        return x->err->status;
    }

    memset(e->data, 0, SYM_EXTENT_MAX);
    e->len = 0;
    return SYM_OK;
}


static size_t
placed(size_t pos, size_t size, sym_place_t place)
{
    size_t in_page;

    if (place == SYM_PLACE_ANY) {
        return pos;
    }

    pos = (pos + 3) & ~(size_t) 3;
    in_page = (pos + SYM_PAGE_SHIFT) % SYM_PAGE;

    return in_page + size <= SYM_PAGE ? pos : pos + SYM_PAGE - in_page;
}


uint8_t *
sym_extents_alloc(sym_extents_t *x, sym_lane_t lane, size_t size,
                  sym_place_t place, uint32_t *ref)
{
    sym_extent_t *own = &x->filling[lane];
    sym_extent_t *e = own->data == NULL ? &x->first : own;
    size_t pos = placed(e->len, size, place);

    if (pos + size > SYM_EXTENT_MAX) {
        if (size > SYM_EXTENT_MAX) {
            (void) sym_fail(x->err, SYM_LIMIT, "record larger than an extent");
            return NULL;
        }

        if (next_extent(x, own) != SYM_OK) {
            return NULL;
        }
        e = own;
        pos = 0;
    }

    e->len = pos + size;
    *ref = SYM_REF(e->number, pos);
    return e->data + pos;
}


uint32_t
sym_extents_start(const sym_extents_t *x)
{
    return x->next_number == 1 ? (uint32_t) x->first.len : 0;
}


sym_status_t
sym_extents_add(sym_extents_t *x, const uint8_t *data, uint32_t end,
                uint32_t start, uint32_t *number)
{
    *number = start != 0 ? 0 : x->next_number;

    for (uint32_t i = 0; i <= SYM_REF_EXTENT(end); i++) {
        const uint8_t *from = data + SYM_REF(i, 0);
        uint32_t len =
            i < SYM_REF_EXTENT(end) ? SYM_EXTENT_MAX : SYM_REF_POS(end);
        uint32_t its_number;

        if (i == 0 && start != 0) {
            memcpy(x->first.data + start, from + start, len - start);
            x->first.len = len;
            continue;
        }

        if (len != 0
            && (!next_number(x, &its_number)
                || hand_over_bytes(x, its_number, from, len) != SYM_OK))
        {
            return x->err->status;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_extents_flush(sym_extents_t *x)
{
    for (unsigned i = 0; i < SYM_LANES; i++) {
        if (x->filling[i].data != NULL
            && hand_over(x, &x->filling[i]) != SYM_OK) {
            return x->err->status;
        }
    }

    return SYM_OK;
}


uint64_t
sym_extents_bytes(const sym_extents_t *x)
{
    return x->bytes + x->first.len;
}


sym_status_t
sym_extents_end(sym_extents_t *x, const void *header, size_t header_bytes)
{
    memcpy(x->first.data, header, header_bytes);
    return x->put(x->ctx, 0, x->first.data, x->first.len, x->err);
}


void
sym_extents_free(sym_extents_t *x)
{
    for (unsigned i = 0; i < SYM_LANES; i++) {
        free(x->filling[i].data);
        x->filling[i].data = NULL;
    }

    free(x->first.data);
    x->first.data = NULL;
}
