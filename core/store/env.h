/*
 * env.h - what the files of this room share; nobody outside includes it.
 */
#ifndef SYM_STORE_ENV_H
#define SYM_STORE_ENV_H

#include <sys/types.h>

#include <lmdb.h>

#include "store/clock.h"
#include "store/store.h"

#define DATA_FILE "data.mdb"
#define LOCK_FILE "lock.mdb"
#define CLOCK_FILE "clock"
#define WRITER_FILE "writer.lock"

/* Key of an extent: module id and number. */
#define EXTENT_BITS 24
#define EXTENT_KEY(module_id, number) ((module_id) << EXTENT_BITS | (number))
#define MODULE_OF(key) ((key) >> EXTENT_BITS)
#define CRC_BYTES 4

#define SOURCE_MAX 1024
#define REASON_MAX 512

struct sym_snapshot_s {
    sym_store_t *store;
    MDB_txn *txn;
    sym_snapshot_t *next; /* in the store's list of idle ones */
    sym_snapshot_t *all;  /* in the store's list of all */
};

struct sym_ingest_s {
    sym_store_t *store;
    sym_ingest_t *next; /* in the store's list of those under way */
    char *key;
    size_t key_len;
    uint64_t module_id;
    uint64_t bytes, pages;
    uint32_t extents;
    uint64_t batch;    /* the last one that this ingest wrote to; 0: none */
    bool is_committed; /* some of it is on disk */
    sym_error_t lost;  /* what ended it, when another's failure did */
};

struct sym_store_s {
    MDB_env *env;
    MDB_dbi meta, directory, extents;
    char *path;
    dev_t dev;
    ino_t ino;
    sym_clock_t clock;

    sym_snapshot_t *idle, *all;
    unsigned n_active;
    bool is_damaged; /* a guarded call met a fault */

    /* the writer's */
    bool is_writer;
    int lock_fd;
    MDB_txn *txn;       /* the batch under way, or NULL */
    uint64_t batch;     /* its number, from 1 */
    size_t batch_bytes; /* put into it */
    sym_ingest_t *ingests;
    uint64_t quota;
    uint64_t live_pages;   /* of committed modules */
    uint64_t ingest_pages; /* of ingests under way */
    uint64_t n_modules;
};

/* --- failures --- */

/* Says which of LMDB's failures is whose fault; returns err->status. */
sym_status_t sym_lmdb_fail(sym_error_t *err, const char *what, int rc);

/* --- faults (guard.c) --- */

/* Takes LMDB's assertions over. */
void sym_guard_store(sym_store_t *store);

/* --- records (record.c) --- */

/* Key of a module in the directory; 0: the key does not fit. */
#define RECORD_KEY_MAX (SYM_SCOPE_MAX + SYM_NAME_MAX + SYM_ID_MAX + 2)
size_t sym_record_key(const sym_module_key_t *key, char out[RECORD_KEY_MAX]);
bool sym_record_key_read(const MDB_val *val, sym_module_key_t *key);

#define RECORD_BYTES_MAX (80 + SOURCE_MAX + REASON_MAX)
size_t sym_record_write(const sym_module_record_t *record,
                        uint8_t out[RECORD_BYTES_MAX]);

/* SYM_NOT_FOUND: of a version we do not know; SYM_DAMAGED. */
sym_status_t sym_record_read(const MDB_val *val, sym_module_record_t *record);

/* Pages of 4 KiB that a value takes; and a module's entry in the directory. */
uint64_t sym_value_pages(size_t len);

/* --- meta (meta.c) --- */

int sym_meta_get(sym_store_t *store, MDB_txn *txn, const char *name,
                 uint64_t *value);
int sym_meta_put(sym_store_t *store, MDB_txn *txn, const char *name,
                 uint64_t value);

/* Modules under way: what they wrote is dropped if their writer dies. */
int sym_pending_put(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
int sym_pending_del(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
bool sym_pending_has(sym_store_t *store, MDB_txn *txn, uint64_t module_id);
int sym_pending_drop_all(sym_store_t *store, MDB_txn *txn);

/* --- the writer's batch (batch.c) --- */

/* The write transaction under way, begun if there is none. */
sym_status_t sym_batch(sym_store_t *store, MDB_txn **txn, sym_error_t *err);
sym_status_t sym_batch_commit(sym_store_t *store, sym_error_t *err);

/* LMDB refused: drops the batch, and tells the ingests that had part in it. */
sym_status_t sym_batch_failed(sym_store_t *store, const char *what, int rc,
                              sym_error_t *err);

/* Deletes all extents of a module. */
int sym_extents_delete(sym_store_t *store, MDB_txn *txn, uint64_t module_id);

/* Evicts so that `pages` more fit the quota; SYM_FULL: they never will. */
sym_status_t sym_make_room(sym_store_t *store, uint64_t pages,
                           sym_error_t *err);

#endif
