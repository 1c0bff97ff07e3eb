/*
 * write.h - artifacts of many objects in one LMDB environment: writing.
 *
 * For the one process that has the store's lock: the loader, and symloader's
 * commands while no loader runs.  A worker does not link what is declared here.
 * Reading: store/store.h.
 */
#ifndef SYM_STORE_WRITE_H
#define SYM_STORE_WRITE_H

#include "store/store.h"

#define SYM_QUOTA_MIN ((uint64_t) 16 << 20)

typedef struct sym_ingest_s sym_ingest_t;

typedef struct {
    uint64_t quota;       /* bytes on disk, room for temporary files included;
                             0: keep the store's own, or 10 GiB for a new one */
    unsigned max_readers; /* 0: keep the store's own, or 1024 for a new one;
                             noted, and so as soon as it is opened for writing
                             when nobody else has it open */
    bool create;
    bool has_gid; /* give the files to this group, group-writable where
                             a reader must write */
    uint32_t gid;
} sym_store_options_t;

/*
 * SYM_BUSY: another process has the store open for writing; SYM_LIMIT: the
 * quota is below SYM_QUOTA_MIN, or has no room for so many readers.  Drops what
 * a killed writer left, modules whose records are damaged, and what a quota
 * that was lowered has no place for; the file does not shrink.
 */
sym_status_t sym_store_open_write(const char *path,
                                  const sym_store_options_t *options,
                                  sym_store_t **store, sym_error_t *err);

/*
 * Takes in one artifact: begin, extents in any order, commit.  Extents are
 * committed in batches on the way, so memory stays flat; nothing is visible
 * before _commit() returns SYM_OK, and then all of it is, on disk.  What a
 * killed writer left behind is dropped at the next open.  An artifact of the
 * same key and kind is replaced at the commit.  Evicts the least recently used
 * modules when the quota asks for it.  SYM_LIMIT: larger than half of what
 * modules may take together.  SYM_FULL: no room on the disk, or readers hold
 * all pages that are free; the store stays as it was, and takes modules again
 * when there is room again.
 */
sym_status_t sym_ingest_begin(sym_store_t *store, const sym_module_key_t *key,
                              sym_kind_t kind, sym_ingest_t **ingest,
                              sym_error_t *err);
sym_status_t sym_ingest_extent(sym_ingest_t *ingest, uint32_t number,
                               const uint8_t *data, size_t len,
                               sym_error_t *err);
/* Of *record these are read: state, kind_version, quality, source_bytes,
 * source, reason, expires_at, attempts, is_native, code_id.  Frees the ingest,
 * whatever it returns. */
sym_status_t sym_ingest_commit(sym_ingest_t *ingest,
                               const sym_module_record_t *record,
                               sym_error_t *err);

/*
 * The same in two steps, so that many share one transaction: what was put is
 * committed, all of it together, when the first of them is finished (or any
 * other ingest commits).  Put frees the ingest when it fails, finish in any
 * case; both say when the transaction was lost.  A module that is put cannot be
 * aborted.
 */
sym_status_t sym_ingest_put(sym_ingest_t *ingest,
                            const sym_module_record_t *record,
                            sym_error_t *err);
sym_status_t sym_ingest_finish(sym_ingest_t *ingest, sym_error_t *err);
void sym_ingest_abort(sym_ingest_t *ingest);

/* Removes the record of a kind; SYM_KIND_ALL: of each.  SYM_NOT_FOUND: nothing
 * to remove. */
sym_status_t sym_store_remove(sym_store_t *store, const sym_module_key_t *key,
                              sym_kind_t kind, sym_error_t *err);

/* The same, of every kind, for all modules that the id alone finds, and for all
 * negative records of the id. */
sym_status_t sym_store_remove_id(sym_store_t *store, sym_str_t scope,
                                 sym_str_t id, sym_error_t *err);

/* Negative records of a name and an id, of any spelling and kind. */
sym_status_t sym_store_remove_negatives(sym_store_t *store,
                                        const sym_module_key_t *key,
                                        sym_error_t *err);

/* Drops least recently used artifacts until live bytes are at most `bytes`;
 * *evicted (may be NULL) counts them. */
sym_status_t sym_store_evict(sym_store_t *store, uint64_t bytes,
                             uint64_t *evicted, sym_error_t *err);

/* Removes every record for which wants() says so, some in a transaction;
 * *dropped (may be NULL) counts those that are gone, also after a failure. */
typedef bool (*sym_drop_pt)(void *ctx, const sym_module_key_t *key,
                            const sym_module_record_t *record);
sym_status_t sym_store_drop(sym_store_t *store, sym_drop_pt wants, void *ctx,
                            uint64_t *dropped, sym_error_t *err);

/* What sym_store_remove..., _evict and _drop took, and what was evicted for others,
 * since the store was opened. */
sym_kind_counts_t sym_store_removed(const sym_store_t *store);

/* Of the quota: what temporary files may take at one time. */
uint64_t sym_store_temp_bytes(const sym_store_t *store);

/* Records that were dropped when it was opened, because it was made by a
 * version that did not note which source they came from. */
uint64_t sym_store_unowned(const sym_store_t *store);

/* It was of an older version when it was opened. */
bool sym_store_is_upgraded(const sym_store_t *store);

/* By how much the file is larger than the quota allows: one that was lowered;
 * 0: it is not. */
uint64_t sym_store_surplus(const sym_store_t *store);

/* Frees slots of readers that died; *dead (may be NULL) counts them. */
sym_status_t sym_store_reader_check(sym_store_t *store, unsigned *dead,
                                    sym_error_t *err);

/*
 * Walks every record and checks every checksum, on a store open either way.
 * Calls report for each fault (static text; kind SYM_KIND_ALL: no record's);
 * goes on to the end.
 */
typedef void (*sym_fault_pt)(void *ctx, const sym_module_key_t *key,
                             sym_kind_t kind, uint32_t extent,
                             const char *what);
sym_status_t sym_store_verify(sym_store_t *store, sym_fault_pt report,
                              void *ctx, uint64_t *faults, sym_error_t *err);

#endif
