/*
 * writer.h - declarations shared by the files of core/store/write only.
 */
#ifndef SYM_STORE_WRITE_WRITER_H
#define SYM_STORE_WRITE_WRITER_H

#include "store/env.h"
#include "store/write.h"

/* The resources of a module other than its bytes. */
typedef struct {
    uint64_t pages;
    uint32_t slot; /* index in the use clock */
} sym_space_t;

struct sym_ingest_s {
    sym_store_t *store;
    sym_ingest_t *next; /* in the store's list of running ingests */
    uint64_t module_id;
    uint64_t bytes, pages;
    uint32_t extents, end; /* count, and highest number + 1 */
    uint64_t batch;        /* the last batch that it wrote to; 0: none */
    bool is_committed;     /* some of its data is on disk */
    bool is_put;           /* its record is in the batch */
    sym_kind_t kind;
    sym_space_t space; /* what the module itself takes, once it is put */
    sym_space_t old;   /* what the replaced module took */
    sym_error_t lost;  /* the failure of another ingest that aborted this one */
};

/* --- modules being written; dropped if their writer dies (pending.c) --- */
int sym_pending_put(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
int sym_pending_del(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
bool sym_pending_has(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
/* Drops pending modules that do not belong to an ingest of this writer. */
int sym_pending_drop(sym_store_t *store, MDB_txn *txn);

/* --- the batch of the writer (batch.c) --- */

/* Returns the open write transaction; begins one if necessary. */
sym_status_t sym_batch(sym_store_t *store, MDB_txn **txn, sym_error_t *err);
sym_status_t sym_batch_commit(sym_store_t *store, sym_error_t *err);

/* After an error of LMDB: drops the batch, and fails the ingests in it. */
sym_status_t sym_batch_failed(sym_store_t *store, const char *what, int rc,
                              sym_error_t *err);

/* Returns the batch, or a new one if the current one has no room for that many
 * pages. */
sym_status_t sym_batch_with_room(sym_store_t *store, uint64_t pages,
                                 MDB_txn **txn, sym_error_t *err);

/* Makes room for the next batch.  Waits for readers, a limited time, and once
 * for each snapshot.  SYM_FULL: there is no room even for `pages`.  No batch
 * may be open.  (room.c) */
sym_status_t sym_await_room(sym_store_t *store, uint64_t pages,
                            sym_error_t *err);

/* Updates the counts for an artifact in the batch, and its place (ingest.c). */
void sym_ingest_count_put(sym_ingest_t *ingest);

/* Fails an ingest because of another's failure (ingest.c). */
void sym_ingest_lose(sym_ingest_t *ingest, const sym_error_t *why);

/* Deletes all extents of a module. */
int sym_extents_delete(sym_store_t *store, MDB_txn *txn, uint64_t module_id);

/* Whether the store has all extents of a module. */
bool sym_extents_are_there(sym_store_t *store, MDB_txn *txn, uint64_t module_id,
                           uint32_t extents);

/*
 * Drops records whose checksum is wrong or that lack an extent, and extents
 * that belong to no module.  A store is a cache: a lost module is fetched
 * again.
 */
sym_status_t sym_store_repair(sym_store_t *store, sym_error_t *err);


/* A set of ids of modules. */
typedef struct {
    uint64_t *ids;
    size_t n, size;
} sym_ids_t;

bool sym_ids_add(sym_ids_t *set, uint64_t id); /* false: out of memory */
void sym_ids_sort(sym_ids_t *set);
bool sym_ids_has(const sym_ids_t *set, uint64_t id); /* call sym_ids_sort()
                                                        first */

/* --- removing modules (remove.c) --- */

/* An object, or the record of a path without artifacts (a negative). */
typedef struct {
    bool is_path, is_negative, is_expired;
    sym_kind_t kind;
    uint32_t slot;
    int64_t last_s; /* from sym_module_last_s() */
    uint64_t stored_at, module_id, pages;
    uint64_t negative; /* bytes of a negative */
    char *key;
    size_t key_len;
} sym_victim_t;

typedef struct {
    sym_victim_t *list;
    size_t n, size;
    uint64_t bytes; /* total of all victims */
} sym_victims_t;

uint64_t sym_victim_bytes(const sym_victim_t *victim);

/* Adds a victim with a copy of the key; false: out of memory. */
bool sym_victims_add(sym_victims_t *v, const sym_victim_t *victim,
                     const MDB_val *key);
void sym_victims_free(sym_victims_t *v);

/* Removes all victims in several transactions.  *removed is their number, even
 * if it fails halfway.  No batch may be open. */
sym_status_t sym_victims_remove(sym_store_t *store, const sym_victims_t *v,
                                bool are_evicted, uint64_t *removed,
                                sym_error_t *err);

/* Evicts until `pages` more fit the quota; SYM_FULL: they never fit. */
sym_status_t sym_make_room(sym_store_t *store, uint64_t pages,
                           sym_error_t *err);

/* Evicts the oldest negatives until one of `bytes` more fits. */
sym_status_t sym_make_negative_room(sym_store_t *store, uint64_t bytes,
                                    sym_error_t *err);

/* Evicts all that exceeds the quota. */
sym_status_t sym_keep_quota(sym_store_t *store, sym_error_t *err);

#endif
