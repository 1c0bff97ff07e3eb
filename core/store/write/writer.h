/*
 * writer.h - declarations shared inside core/store/write; no other file
 * includes it.
 */
#ifndef SYM_STORE_WRITE_WRITER_H
#define SYM_STORE_WRITE_WRITER_H

#include "store/index.h"
#include "store/write.h"

/* What a module takes besides its bytes. */
typedef struct {
    uint64_t pages;
    uint64_t negative; /* bytes, of what is known not to be had */
    uint32_t slot;     /* in the use clock */
} sym_place_t;

struct sym_ingest_s {
    sym_store_t *store;
    sym_ingest_t *next; /* in the store's list of those under way */
    char *key;
    size_t key_len;
    uint64_t module_id;
    uint64_t bytes, pages;
    uint32_t extents, end; /* how many, and the highest number + 1 */
    uint64_t batch;        /* the last one that this ingest wrote to; 0: none */
    bool is_committed;     /* some of it is on disk */
    bool is_put;           /* its record is in the batch */
    sym_kind_t kind;
    sym_place_t place; /* of its own, when it is put */
    sym_place_t old;   /* of the module that it replaces */
    sym_error_t lost;  /* what ended it, when another's failure did */
};

/* --- modules under way (pending.c) ---
 *
 * What they wrote is dropped if their writer dies. */
int sym_pending_put(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
int sym_pending_del(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
bool sym_pending_has(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
/* Drops those that no ingest of this writer is at. */
int sym_pending_drop(sym_store_t *store, MDB_txn *txn);

/* --- the writer's batch (batch.c) --- */

/* The write transaction under way, begun if there is none. */
sym_status_t sym_batch(sym_store_t *store, MDB_txn **txn, sym_error_t *err);
sym_status_t sym_batch_commit(sym_store_t *store, sym_error_t *err);

/* LMDB refused: drops the batch, and tells the ingests that had part in it. */
sym_status_t sym_batch_failed(sym_store_t *store, const char *what, int rc,
                              sym_error_t *err);

/* Deletes all extents of a module. */
int sym_extents_delete(sym_store_t *store, MDB_txn *txn, uint64_t module_id);

/*
 * Drops records whose checksum is wrong and extents that belong to no module,
 * and rebuilds the index of ids.  A store is a cache: a lost module is fetched
 * again.
 */
sym_status_t sym_store_repair(sym_store_t *store, sym_error_t *err);

/* Makes a store of an older version one of this (upgrade.c). */
sym_status_t sym_store_upgrade(sym_store_t *store, sym_error_t *err);

/* Ids of modules, to ask for by value. */
typedef struct {
    uint64_t *ids;
    size_t n, size;
} sym_ids_t;

bool sym_ids_add(sym_ids_t *set, uint64_t id); /* false: out of memory */
void sym_ids_sort(sym_ids_t *set);
bool sym_ids_has(const sym_ids_t *set, uint64_t id); /* after the sort */

/* --- modules that go (remove.c) --- */

typedef struct {
    bool is_expired, is_negative;
    sym_kind_t kind;
    uint32_t used_at, slot;
    uint64_t stored_at, module_id, pages;
    uint64_t negative; /* bytes */
    char *key;
    size_t key_len;
} sym_victim_t;

typedef struct {
    sym_victim_t *list;
    size_t n, size;
    uint64_t bytes; /* that all of them take */
} sym_victims_t;

/* Without its key.  is_known: the record is of a version that we know. */
sym_victim_t sym_victim_of(const MDB_val *key,
                           const sym_module_record_t *record, bool is_known);
uint64_t sym_victim_bytes(const sym_victim_t *victim);

/* With a copy of the key; false: out of memory. */
bool sym_victims_add(sym_victims_t *v, const sym_victim_t *victim,
                     const MDB_val *key);
void sym_victims_free(sym_victims_t *v);

/* Removes all of them, some in a transaction; *removed counts those that are
 * gone, also when it ends early.  No batch may be under way. */
sym_status_t sym_victims_remove(sym_store_t *store, const sym_victims_t *v,
                                bool are_evicted, uint64_t *removed,
                                sym_error_t *err);

/* Evicts so that `pages` more fit the quota; SYM_FULL: they never will. */
sym_status_t sym_make_room(sym_store_t *store, uint64_t pages,
                           sym_error_t *err);

/* Evicts negatives, the oldest first, so that one of `bytes` more fits. */
sym_status_t sym_make_negative_room(sym_store_t *store, uint64_t bytes,
                                    sym_error_t *err);

/* Evicts what is more than the quota lets live. */
sym_status_t sym_keep_quota(sym_store_t *store, sym_error_t *err);

/* --- the index of ids (index.c) --- */

int sym_index_put(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                  const sym_module_record_t *record);
int sym_index_del(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                  const sym_module_record_t *record);

/* Rebuilds it from the directory. */
int sym_index_rebuild(sym_store_t *store, MDB_txn *txn);

#endif
