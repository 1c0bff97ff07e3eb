/*
 * loader.h - a loader's statistics, and their text form.
 *
 * The text of STATS consists of lines "name value"
 * (docs/formats/loader-protocol.md).  The loader writes it and nginx reads it
 * with the same table of names, so names from the socket never appear on the
 * metrics page.
 */
#ifndef SYM_METRICS_LOADER_H
#define SYM_METRICS_LOADER_H

#include "formats/list.h"
#include "json/out.h"
#include "metrics/histogram.h"
#include "store/store.h"

typedef enum {
    SYM_LOADER_FLIGHTS,
    SYM_LOADER_WAITING,
    SYM_LOADER_ELECTIONS,
    SYM_LOADER_RE_ELECTIONS,
    SYM_LOADER_JOINS,
    SYM_LOADER_FETCHES_RUNNING,
    SYM_LOADER_LEASE_BYTES,
    SYM_LOADER_TEMP_ROOM_BYTES,
    SYM_LOADER_CONVERSIONS_RUNNING,
    SYM_LOADER_CLIENTS,
    SYM_LOADER_INVALIDATIONS,
    SYM_LOADER_AGED,
    SYM_LOADER_SUPPLEMENT_FETCHES,
    SYM_LOADER_SUPPLEMENT_BYTES,
    SYM_LOADER_SWIFT_MANGLED,
    SYM_LOADER_UNUSABLE_SHARES,
    SYM_LOADER_SHARE_BYTES
} sym_loader_value_t;

#define SYM_LOADER_VALUES (SYM_LOADER_SHARE_BYTES + 1)

typedef struct {
    const char *name;        /* in STATS */
    const char *family;      /* name on the page, after "symbolicate_" */
    const char *type, *help; /* there */
} sym_loader_row_t;

const sym_loader_row_t *sym_loader_row(sym_loader_value_t value);

sym_str_t sym_conversion_format_word(sym_conversion_format_t format);

/* Results of conversions: ready, malformed, failed. */
#define SYM_CONVERSION_ENDS 3

sym_module_state_t sym_conversion_end(unsigned i);

typedef struct {
    uint64_t ended[SYM_CONVERSION_FORMATS][SYM_CONVERSION_ENDS];
    sym_histogram_t seconds;
} sym_conversions_t;

/* Counts a conversion; state: from sym_conversion_end(). */
void sym_conversions_count(sym_conversions_t *c, sym_conversion_format_t format,
                           sym_module_state_t state, uint64_t ns);

typedef struct {
    uint64_t values[SYM_LOADER_VALUES];
    sym_conversions_t conversions;

    /* fields that were present: other versions of the loader may send fewer */
    bool has_value[SYM_LOADER_VALUES];
    bool has_ended;
    bool has_seconds;
} sym_loader_stats_t;

void sym_loader_write(const sym_loader_stats_t *stats, sym_out_t *out);

/*
 * Parses statistics; unknown names are skipped.  False: invalid (a bad number,
 * a repeated name, a truncated last line, shrinking buckets); *stats is then
 * undefined.
 */
bool sym_loader_read(sym_str_t text, sym_loader_stats_t *stats);

#endif
