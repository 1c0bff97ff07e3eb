/*
 * write.h - artifacts of many objects in one LMDB environment: writing.
 *
 * For the one process that holds the store's lock: the loader, or a symloader
 * command while no loader runs.  Workers do not link these functions.  Reading:
 * store/store.h.
 */
#ifndef SYM_STORE_WRITE_H
#define SYM_STORE_WRITE_H

#include "store/store.h"

#define SYM_QUOTA_MIN ((uint64_t) 16 << 20)

typedef struct sym_ingest_s sym_ingest_t;

typedef struct {
    uint64_t quota;       /* maximum size on disk in bytes, with temporary
                             files; 0: the quota in the store, or 10 GiB for a
                             new one */
    unsigned max_readers; /* 0: the number in the store, or 1024 for a new one;
                             takes effect when no other process has the store
                             open */
    bool create;
    bool is_hasty; /* returns SYM_BUSY at once, instead of waiting a second for
                      the lock */
    bool has_gid;  /* group of the files; files to which readers must write
                      become group-writable */
    uint32_t gid;
    unsigned reader_wait_ms; /* maximum wait for a reader whose pages are
                                needed; 0: two seconds */
    bool never_blocks;       /* writes never wait for a reader; the caller asks
                                sym_store_can_write() before it writes */
} sym_store_options_t;

/*
 * SYM_BUSY: another process has the store open for writing; SYM_LIMIT: the
 * quota is below SYM_QUOTA_MIN, or too small for so many readers.  Drops
 * unfinished ingests of a killed writer, modules with damaged records, and
 * modules that exceed a lowered quota.  The file does not shrink.
 */
sym_status_t sym_store_open_write(const char *path,
                                  const sym_store_options_t *options,
                                  sym_store_t **store, sym_error_t *err);

/*
 * Stores one artifact: begin (sym_ingest_begin_object()), extents in any order,
 * put, finish.  Extents are written in batches to limit the use of memory.
 * When _finish() returns SYM_OK, the artifact is visible and durable; a
 * previous one with the same key and kind is gone.  The quota is kept by
 * evicting the least recently used modules.  SYM_LIMIT: the artifact is larger
 * than half of the space for modules.  SYM_FULL: the disk is full, or readers
 * hold all free pages; the store stays as it was.
 */
sym_status_t sym_ingest_extent(sym_ingest_t *ingest, uint32_t number,
                               const uint8_t *data, size_t len,
                               sym_error_t *err);
/*
 * Commits in two steps, so that several ingests share one transaction.  All
 * ingests that were put are committed when the first of them is finished, or
 * when another ingest commits.  Put frees the ingest if it fails, finish always
 * frees it.  Both fail if the transaction was lost.  After put an ingest cannot
 * be aborted.
 */
sym_status_t sym_ingest_finish(sym_ingest_t *ingest, sym_error_t *err);
void sym_ingest_abort(sym_ingest_t *ingest);

/*
 * For a store that never blocks: whether the beginning of a module, or an
 * extent, can be written now.  False: a reader holds the pages, and will
 * probably release them within reader_wait_ms; ask again in a few
 * milliseconds.  Commits or evicts if the batch has no room.
 */
bool sym_store_can_write(sym_store_t *store);

/* Drops least recently used artifacts until live bytes are at most `bytes`;
 * *evicted (may be NULL) is their number. */
sym_status_t sym_store_evict(sym_store_t *store, uint64_t bytes,
                             uint64_t *evicted, sym_error_t *err);

/* Removes all objects for which wants() returns true, in several transactions.
 * *dropped (may be NULL) is their number, even after a failure. */
typedef bool (*sym_drop_pt)(void *ctx, sym_str_t scope,
                            const sym_object_record_t *record);
sym_status_t sym_store_drop(sym_store_t *store, sym_drop_pt wants, void *ctx,
                            uint64_t *dropped, sym_error_t *err);

/* Number of artifacts removed, evicted and dropped since the store was
   opened. */
sym_kind_counts_t sym_store_removed(const sym_store_t *store);

/* The share of the quota for temporary files. */
uint64_t sym_store_temp_bytes(const sym_store_t *store);

/* Bytes by which the file exceeds a lowered quota, or 0. */
uint64_t sym_store_surplus(const sym_store_t *store);

/* Frees slots of dead readers; *dead (may be NULL) is the number of slots. */
sym_status_t sym_store_reader_check(sym_store_t *store, unsigned *dead,
                                    sym_error_t *err);

/* Checks every record and checksum, and calls report for each fault (static
 * text; kind SYM_KIND_ALL: not a fault of a record).  The store may be open for
 * reading or writing. */
typedef void (*sym_fault_pt)(void *ctx, const sym_module_key_t *key,
                             sym_kind_t kind, uint32_t extent,
                             const char *what);
sym_status_t sym_store_verify(sym_store_t *store, sym_fault_pt report,
                              void *ctx, uint64_t *faults, sym_error_t *err);

#endif
