/*
 * extents.h - places records in extents and passes full ones to the sink.
 *
 * Records are placed in order.  No record crosses the end of an extent.  A
 * record with SYM_PLACE_PAGE does not cross the end of a page.  Extent 0 is
 * kept until the end, because the header is complete only then.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_EXTENTS_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_EXTENTS_H

#include "artifacts/symcache/format.h"
#include "artifacts/symcache/write/writer.h"

typedef struct {
    uint8_t *data;
    size_t len;
    uint32_t number;
} sym_extent_t;

/* Tables continue in the next extent, so all records of an artifact are in one
 * lane. */
typedef enum { SYM_LANE_MAIN, SYM_LANES } sym_lane_t;

typedef struct {
    sym_extent_put_pt put;
    void *ctx;
    sym_error_t *err;

    sym_extent_t first;              /* extent 0 */
    sym_extent_t filling[SYM_LANES]; /* data NULL: the lane is still in
                                        extent 0 */
    uint32_t next_number;
    uint64_t bytes; /* size of the extents passed to the sink */
} sym_extents_t;

typedef enum { SYM_PLACE_ANY, SYM_PLACE_PAGE } sym_place_t;

/* Reserves header_bytes at the start of extent 0. */
sym_status_t sym_extents_begin(sym_extents_t *x, sym_extent_put_pt put,
                               void *ctx, size_t header_bytes,
                               sym_error_t *err);

/*
 * Reserves size bytes (zeroed; aligned to 4 if `place` is SYM_PLACE_PAGE).
 * NULL on failure.  Valid until the next call for the same lane.
 * SYM_PLACE_PAGE: size <= SYM_BLOCK_MAX.
 */
uint8_t *sym_extents_alloc(sym_extents_t *x, sym_lane_t lane, size_t size,
                           sym_place_t place, uint32_t *ref);

/* Position in extent 0 at which records from elsewhere can begin; 0: none. */
uint32_t sym_extents_start(const sym_extents_t *x);

/*
 * Places records that were made elsewhere: extents at distances of 64 KiB, up
 * to the ref `end`, counted from number 0.  If start is not 0, the first extent
 * continues extent 0 at that position. start must then be the result of
 * sym_extents_start(), and nothing may have been placed since.  *number is the
 * number of the first extent; the others follow.
 */
sym_status_t sym_extents_add(sym_extents_t *x, const uint8_t *data,
                             uint32_t end, uint32_t start, uint32_t *number);

/* Passes on the remaining extents except extent 0.  Nothing may be placed
   afterwards. */
sym_status_t sym_extents_flush(sym_extents_t *x);

/* Afterwards x->next_number is the number of extents, and their bytes are
 * final. */
uint64_t sym_extents_bytes(const sym_extents_t *x);

/* Passes on extent 0 with this header. */
sym_status_t sym_extents_end(sym_extents_t *x, const void *header,
                             size_t header_bytes);

void sym_extents_free(sym_extents_t *x);

#endif
