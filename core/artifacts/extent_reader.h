/*
 * extent_reader.h - resolves refs to bytes and records of an artifact.
 *
 * Readers of kinds embed a sym_extent_reader_t.  The extents belong to their
 * owner and must not move.  They are not trusted: each function returns NULL
 * for a ref to a byte outside of them.
 */
#ifndef SYM_ARTIFACTS_EXTENT_READER_H
#define SYM_ARTIFACTS_EXTENT_READER_H

#include "artifacts/extents.h"

typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    sym_extent_view_t *cache; /* n entries, zeroed at first; or NULL */
    uint32_t n;
} sym_extent_reader_t;

static inline bool
sym_extent_view(const sym_extent_reader_t *in, uint32_t number,
                sym_extent_view_t *view)
{
    if (number >= in->n) {
        return false;
    }

    if (in->cache != NULL && in->cache[number].data != NULL) {
        *view = in->cache[number];
        return true;
    }

    if (in->get(in->ctx, number, &view->data, &view->len) != SYM_OK) {
        return false;
    }

    if (in->cache != NULL) {
        in->cache[number] = *view;
    }

    return true;
}


/* The bytes from ref to the end of its extent: at least one. */
static inline const uint8_t *
sym_extent_rest(const sym_extent_reader_t *in, uint32_t ref, size_t *len)
{
    uint32_t pos = SYM_REF_POS(ref);
    sym_extent_view_t view;

    if (!sym_extent_view(in, SYM_REF_EXTENT(ref), &view) || pos >= view.len) {
        return NULL;
    }

    *len = view.len - pos;
    return view.data + pos;
}


/* The `size` bytes at ref. */
static inline const uint8_t *
sym_extent_bytes(const sym_extent_reader_t *in, uint32_t ref, size_t size)
{
    size_t len;
    const uint8_t *data = sym_extent_rest(in, ref, &len);

    return data != NULL && size <= len ? data : NULL;
}


/* Record number i of the table that begins at ref. */
static inline const uint8_t *
sym_extent_record(const sym_extent_reader_t *in, uint32_t ref, uint32_t i,
                  uint32_t size)
{
    return sym_table_ref(ref, i, size, &ref) ? sym_extent_bytes(in, ref, size)
                                             : NULL;
}


#endif
