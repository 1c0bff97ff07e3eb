/*
 * extents.h - the interface by which readers of artifacts get extents.
 *
 * An artifact is a series of numbered extents.  Their owner is the store, a
 * file, or memory in tests.  A reader trusts none of their bytes.
 */
#ifndef SYM_ARTIFACTS_EXTENTS_H
#define SYM_ARTIFACTS_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Limits on the bytes of an extent, and on the extents of an artifact.  The
 * store adds a checksum of 4 bytes to each extent, which makes 65,520: 16 pages
 * less LMDB's page header (docs/design/README.md, 4).
 */
#define SYM_EXTENT_MAX 65516
#define SYM_EXTENTS_LIMIT 65536

/* A position in an artifact: the number of an extent, and an offset in it. */
#define SYM_REF(extent, pos) ((uint32_t) (extent) << 16 | (uint32_t) (pos))
#define SYM_REF_EXTENT(ref) ((ref) >> 16)
#define SYM_REF_POS(ref) ((ref) &0xffff)

/*
 * Gets the position of a record of a table.  A table is an array of records of
 * one size.  It fills the rest of the extent in which it begins, then complete
 * extents.  False: the position is beyond the last possible extent.
 */
static inline bool
sym_table_ref(uint32_t table, uint32_t i, uint32_t record_bytes, uint32_t *ref)
{
    uint32_t pos = SYM_REF_POS(table), extent = SYM_REF_EXTENT(table);
    uint32_t here =
        pos < SYM_EXTENT_MAX ? (SYM_EXTENT_MAX - pos) / record_bytes : 0;
    uint32_t each = SYM_EXTENT_MAX / record_bytes;

    if (i >= here) {
        i -= here;
        extent += 1 + i / each;
        i %= each;
        pos = 0;
    }

    *ref = SYM_REF(extent, pos + i * record_bytes);
    return extent < SYM_EXTENTS_LIMIT;
}


/*
 * Gets extent `number`; *len is its length as written.  SYM_NOT_FOUND: there is
 * no such extent, which means damage, because the header counts them.
 */
typedef sym_status_t (*sym_extent_get_pt)(void *ctx, uint32_t number,
                                          const uint8_t **data, size_t *len);

typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    uint32_t n;
} sym_extent_source_t;

/* A cached extent.  The reader gets each extent only once. */
typedef struct {
    const uint8_t *data;
    size_t len;
} sym_extent_view_t;

#endif
