/*
 * page.h - a ledger as JSON, CSV and text for Prometheus.
 *
 * docs/use/directives.md, symbolicate_missing, describes the three formats.
 */
#ifndef SYM_LEDGER_PAGE_H
#define SYM_LEDGER_PAGE_H

#include "json/out.h"
#include "ledger/ledger.h"

typedef enum {
    SYM_LEDGER_BY_REQUESTS, /* descending; only names are ascending */
    SYM_LEDGER_BY_FRAMES,
    SYM_LEDGER_BY_FIRST,
    SYM_LEDGER_BY_LAST,
    SYM_LEDGER_BY_NAME
} sym_ledger_order_t;

#define SYM_LEDGER_ORDERS (SYM_LEDGER_BY_NAME + 1)

/* "requests", "frames", "first", "last", "name". */
extern const sym_str_t sym_ledger_orders[SYM_LEDGER_ORDERS];

typedef enum {
    SYM_LEDGER_MISSING,
    SYM_LEDGER_CAME,
    SYM_LEDGER_ALL
} sym_ledger_show_t;

#define SYM_LEDGER_SHOWS (SYM_LEDGER_ALL + 1)

/* "missing", "arrived", "all". */
extern const sym_str_t sym_ledger_shows[SYM_LEDGER_SHOWS];

typedef struct {
    sym_ledger_show_t show;
    sym_ledger_order_t order;
    const sym_scopes_t *scopes; /* only modules that one of these sources may
                                   contain; NULL: all */
} sym_ledger_query_t;

/* Moves the requested entries to the front, in order; returns their number. */
uint32_t sym_ledger_select(sym_ledger_entry_t *entries, uint32_t n,
                           const sym_ledger_query_t *query);

/* Writes members of an object, without braces. */
void sym_ledger_write_entry(const sym_ledger_entry_t *entry, sym_out_t *out);
void sym_ledger_write_totals(const sym_ledger_totals_t *totals, sym_out_t *out);

/* Writes the webhook's object for a module, with braces. */
void sym_ledger_write_arrival(const sym_ledger_entry_t *entry, sym_out_t *out);

/*
 * Writes CSV (RFC 4180).  A field that a spreadsheet would treat as a formula
 * gets an apostrophe before it; control characters become spaces.
 */
void sym_ledger_csv_head(sym_out_t *out);
void sym_ledger_csv_row(const sym_ledger_entry_t *entry, sym_out_t *out);

/* Writes the first `n` entries with their names, and totals of the store.
 * missing, arrived: numbers of such modules. */
void sym_ledger_metrics(const sym_ledger_entry_t *entries, uint32_t n,
                        uint32_t missing, uint32_t arrived,
                        const sym_ledger_totals_t *totals, sym_out_t *out);

#endif
