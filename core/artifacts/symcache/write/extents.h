/*
 * extents.h - lays records out in extents and hands full ones to the sink.
 *
 * Records are placed in order; none straddles an extent, and one that asks for
 * it does not straddle a page either.  Extent 0 is kept back until the end, for
 * the header is only known then.
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

/* Two kinds of records are made at once and each kind fills extents of its own,
 * after both have shared extent 0: small modules stay small. */
typedef enum { SYM_LANE_MAIN, SYM_LANE_NODES, SYM_LANES } sym_lane_t;

typedef struct {
    sym_extent_put_pt put;
    void *ctx;
    sym_error_t *err;

    sym_extent_t first;              /* extent 0 */
    sym_extent_t filling[SYM_LANES]; /* data NULL: still in extent 0 */
    uint32_t next_number;
    uint64_t bytes; /* of extents handed over */
} sym_extents_t;

typedef enum { SYM_PLACE_ANY, SYM_PLACE_PAGE } sym_place_t;

/* Reserves header_bytes at the start of extent 0. */
sym_status_t sym_extents_begin(sym_extents_t *x, sym_extent_put_pt put,
                               void *ctx, size_t header_bytes,
                               sym_error_t *err);

/*
 * Room for size bytes (zeroed, aligned to 4 when `place` is SYM_PLACE_PAGE);
 * NULL on failure.  Valid until the next call for the same lane.
 * SYM_PLACE_PAGE: size <= SYM_BLOCK_MAX.
 */
uint8_t *sym_extents_alloc(sym_extents_t *x, sym_lane_t lane, size_t size,
                           sym_place_t place, uint32_t *ref);

/* Gives what lies after end_ref back if the record at ref, of `size` bytes, is
 * still the newest of its extent. */
void sym_extents_trim(sym_extents_t *x, uint32_t ref, size_t size, size_t used);

/* Hands over what is left; extent 0 last, with this header. */
sym_status_t sym_extents_end(sym_extents_t *x, sym_header_t *header);

void sym_extents_free(sym_extents_t *x);

#endif
