/*
 * extents.h - the interface through which readers of artifacts get extents.
 *
 * An artifact is a row of numbered extents.  Their owner is the store, a file,
 * or memory in tests.  A reader trusts none of their bytes.
 */
#ifndef SYM_ARTIFACTS_EXTENTS_H
#define SYM_ARTIFACTS_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Bytes of an extent, and how many an artifact has at most.  The store adds a
 * checksum of 4 bytes to each, which makes 65,520: 16 pages less LMDB's page
 * header (docs/design/README.md, 3).
 */
#define SYM_EXTENT_MAX 65516
#define SYM_EXTENTS_LIMIT 65536

/* A position in an artifact: the extent's number, and a byte of it. */
#define SYM_REF(extent, pos) ((uint32_t) (extent) << 16 | (uint32_t) (pos))
#define SYM_REF_EXTENT(ref) ((ref) >> 16)
#define SYM_REF_POS(ref) ((ref) &0xffff)

/*
 * Gives extent `number`; *len as it was written.  SYM_NOT_FOUND: no such
 * extent (for a reader that is damage: the header counted it).
 */
typedef sym_status_t (*sym_extent_get_pt)(void *ctx, uint32_t number,
                                          const uint8_t **data, size_t *len);

typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    uint32_t n;
} sym_extent_source_t;

/* An extent that was met, so that it is asked for once. */
typedef struct {
    const uint8_t *data;
    size_t len;
} sym_extent_view_t;

#endif
