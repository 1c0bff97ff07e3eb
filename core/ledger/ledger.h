/*
 * ledger.h - modules that requests did not get: reading.
 *
 * The loader keeps the ledger in memory (write/table.h) and writes it
 * completely to a file in the store's folder, which workers and commands read:
 * docs/formats/store.md, section 8.  A record has a module and the sources that
 * could have had it: a module that one location misses may exist for another.
 *
 * Views point into the bytes that are read.
 */
#ifndef SYM_LEDGER_LEDGER_H
#define SYM_LEDGER_LEDGER_H

#include "base/cursor.h"
#include "object/object_id.h"
#include "store/store.h"

#define SYM_LEDGER_FILE "missing"

/* Limits of a ledger. */
#define SYM_LEDGER_ENTRIES_MAX 4096
#define SYM_LEDGER_BYTES_MAX ((size_t) 2 << 20)

/* Limits of a record's texts; a reason is cut, further sources are left out. */
#define SYM_LEDGER_REASON_MAX 160
#define SYM_LEDGER_SOURCES_MAX 512

/* State of the webhook for a module that has arrived. */
typedef enum {
    SYM_LEDGER_UNTOLD,   /* it has not arrived, or there is no webhook */
    SYM_LEDGER_DUE,      /* due */
    SYM_LEDGER_TOLD,     /* delivered */
    SYM_LEDGER_GIVEN_UP, /* failed for too long */
    SYM_LEDGER_TELLING   /* DUE, and being sent: never in a file */
} sym_ledger_told_t;

typedef struct {
    sym_module_key_t key; /* without a scope */
    sym_object_type_t type;
    sym_kind_t kind;
    sym_module_state_t state; /* state at its last request; 0: not known in
                                 time */
    sym_str_t reason;
    sym_str_t sources; /* sources of the location, a line each; modules loaded
                          by hand are visible everywhere */
    uint64_t requests, frames;
    int64_t first_s, last_s; /* requested: seconds since 1970 */
    int64_t came_s;          /* 0: it is missing */
    sym_str_t from;          /* the source that has it */
    sym_ledger_told_t told;
    bool is_known; /* it was requested again (write/table.h) */
} sym_ledger_entry_t;

/* Totals since the ledger was made. */
typedef struct {
    uint64_t requests; /* requests with a missing module, counted for each
                          module */
    uint64_t frames;
    uint64_t refused; /* requests for modules without a slot */
    uint64_t evicted; /* modules that lost their slot */
    uint64_t came;
    uint64_t told;         /* requests to the webhook */
    uint64_t told_failed;  /* its requests that failed */
    uint64_t told_dropped; /* modules that were never delivered to it */
} sym_ledger_totals_t;

#define SYM_LEDGER_TOTALS 8

typedef struct {
    sym_cursor_t cursor;
    uint32_t n; /* records, at most SYM_LEDGER_ENTRIES_MAX */
    uint32_t at;
    int64_t written_s;
    sym_ledger_totals_t totals;
} sym_ledger_reader_t;

/* SYM_VERSION; SYM_DAMAGED: not bytes that a loader wrote. */
sym_status_t sym_ledger_open(const void *data, size_t len,
                             sym_ledger_reader_t *reader, sym_error_t *err);

/* The next record.  SYM_NOT_FOUND: no more; SYM_DAMAGED. */
sym_status_t sym_ledger_next(sym_ledger_reader_t *reader,
                             sym_ledger_entry_t *entry, sym_error_t *err);

/*
 * The ledger's file in a store's folder, in memory that the caller frees; empty
 * if the file does not exist.  SYM_IO, SYM_NOMEM, SYM_DAMAGED: it is longer
 * than a loader ever writes.
 */
sym_status_t sym_ledger_load(const char *store, uint8_t **data, size_t *len,
                             sym_error_t *err);

/* --- for both sides --- */

/* Sizes of the file's header and records: docs/formats/store.md, section 8. */
#define SYM_LEDGER_MAGIC SYM_STR("symmiss\n")
#define SYM_LEDGER_VERSION 1
#define SYM_LEDGER_HEAD (8 + 4 + 4 + 4 + 8 + 8 * SYM_LEDGER_TOTALS)
#define SYM_LEDGER_RECORD_MIN (4 + 5 * 8 + 6 * 2)
#define SYM_LEDGER_RECORD_MAX                                                  \
    (SYM_LEDGER_RECORD_MIN + SYM_NAME_MAX + SYM_ID_MAX + SYM_CODE_ID_MAX       \
     + SYM_LEDGER_REASON_MAX + SYM_LEDGER_SOURCES_MAX + SYM_SCOPE_MAX)

/* Checksum of all bytes after it. */
uint32_t sym_ledger_crc(const uint8_t *data, size_t len);

/* The next line of `sources`; false: no more. */
bool sym_ledger_source(sym_str_t *sources, sym_str_t *source);

#endif
