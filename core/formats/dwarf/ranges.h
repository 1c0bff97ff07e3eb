/*
 * ranges.h - the addresses of an entry: low_pc and high_pc, range lists of
 * DWARF 3 and 4 (DWARF 4, 2.17.3) and of DWARF 5 (2.17.3).
 */
#ifndef SYM_FORMATS_DWARF_RANGES_H
#define SYM_FORMATS_DWARF_RANGES_H

#include "formats/dwarf/units.h"

typedef struct {
    uint64_t low, high; /* high is exclusive */
} sym_dw_range_t;

typedef struct {
    sym_dw_range_t *items;
    size_t n, size;
    uint64_t dropped; /* number of tombstones in all calls */
} sym_dw_ranges_t;

/* Fills *r with ranges that are not empty.  A broken list gives the ranges
 * before the error.  The status is SYM_OK, SYM_NOMEM or SYM_LIMIT. */
sym_status_t sym_dw_ranges_of(sym_dw_ranges_t *r, sym_dw_context_t *x,
                              const sym_dw_open_t *u, const sym_dw_die_t *die,
                              sym_error_t *err);
void sym_dw_ranges_free(sym_dw_ranges_t *r);

#endif
