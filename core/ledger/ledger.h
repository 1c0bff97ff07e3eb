/*
 * ledger.h - modules that requests are missing: reading.
 *
 * The loader keeps the ledger in memory (write/table.h) and writes all of it to
 * a file in the store's folder.  Workers and commands read the file:
 * docs/formats/store.md, section 8.  A record contains a module and the sources
 * where it could be: a module that is missing for one location may exist for
 * another.
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

/* Limits of a record's texts; reasons are cut, and further sources are left
 * out. */
#define SYM_LEDGER_REASON_MAX 160
#define SYM_LEDGER_SOURCES_MAX 512

/* State of the webhook message about a module that has arrived. */
typedef enum {
    SYM_LEDGER_UNTOLD,   /* the module has not arrived, or there is no
                            webhook */
    SYM_LEDGER_DUE,      /* due */
    SYM_LEDGER_TOLD,     /* delivered */
    SYM_LEDGER_GIVEN_UP, /* delivery failed for too long */
    SYM_LEDGER_TELLING   /* due, and now being sent; never in a file */
} sym_ledger_told_t;

typedef struct {
    sym_module_key_t key; /* without a scope */
    sym_object_type_t type;
    sym_kind_t kind;
    sym_module_state_t state; /* state at the last request; 0: not known in
                                 time */
    sym_str_t reason;
    sym_str_t sources; /* sources of the location, one per line; modules loaded
                          by hand are visible everywhere */
    uint64_t requests, frames;
    int64_t first_s, last_s; /* times of requests, in seconds since 1970 */
    int64_t came_s;          /* time of arrival; 0: it is missing */
    sym_str_t from;          /* the source that now has it */
    sym_ledger_told_t told;
    bool is_known; /* it was requested more than once (write/table.h) */
} sym_ledger_entry_t;

/* Totals since the ledger was created. */
typedef struct {
    uint64_t requests; /* number of requests with a missing module, counted for
                          each module */
    uint64_t frames;
    uint64_t refused; /* number of requests for modules without a slot */
    uint64_t evicted; /* number of modules that lost their slot */
    uint64_t came;
    uint64_t told;         /* number of requests to the webhook */
    uint64_t told_failed;  /* number of these that failed */
    uint64_t told_dropped; /* number of modules that were never delivered */
} sym_ledger_totals_t;

#define SYM_LEDGER_TOTALS 8

typedef struct {
    sym_cursor_t cursor;
    uint32_t n; /* number of records, at most SYM_LEDGER_ENTRIES_MAX */
    uint32_t at;
    int64_t written_s;
    sym_ledger_totals_t totals;
} sym_ledger_reader_t;

/* SYM_VERSION; SYM_DAMAGED: the bytes were not written by a loader. */
sym_status_t sym_ledger_open(const void *data, size_t len,
                             sym_ledger_reader_t *reader, sym_error_t *err);

/* Reads the next record.  SYM_NOT_FOUND: no more; SYM_DAMAGED. */
sym_status_t sym_ledger_next(sym_ledger_reader_t *reader,
                             sym_ledger_entry_t *entry, sym_error_t *err);

/*
 * Reads the ledger's file in a store's folder into memory that the caller
 * frees; empty if the file does not exist.  SYM_IO, SYM_NOMEM, SYM_DAMAGED: it
 * is longer than any file of a loader.
 */
sym_status_t sym_ledger_load(const char *store, uint8_t **data, size_t *len,
                             sym_error_t *err);

/* --- reader and writer --- */

/* Sizes of the file's header and records: docs/formats/store.md, section 8. */
#define SYM_LEDGER_MAGIC SYM_STR("symmiss\n")
#define SYM_LEDGER_VERSION 1
#define SYM_LEDGER_HEAD (8 + 4 + 4 + 4 + 8 + 8 * SYM_LEDGER_TOTALS)
#define SYM_LEDGER_RECORD_MIN (4 + 5 * 8 + 6 * 2)
#define SYM_LEDGER_RECORD_MAX                                                  \
    (SYM_LEDGER_RECORD_MIN + SYM_NAME_MAX + SYM_ID_MAX + SYM_CODE_ID_MAX       \
     + SYM_LEDGER_REASON_MAX + SYM_LEDGER_SOURCES_MAX + SYM_SCOPE_MAX)

/* Checksum of all bytes after the checksum. */
uint32_t sym_ledger_crc(const uint8_t *data, size_t len);

/* Takes the next line of `sources`; false: no more. */
bool sym_ledger_source(sym_str_t *sources, sym_str_t *source);

#endif
