/*
 * env.h - what the files of this room share; nobody outside includes it.
 */
#ifndef SYM_STORE_ENV_H
#define SYM_STORE_ENV_H

#include <limits.h>
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
#define ATTEMPTS_MAX 2048

struct sym_snapshot_s {
    sym_store_t *store;
    MDB_txn *txn;
    sym_snapshot_t *next; /* in the store's list of idle ones */
    sym_snapshot_t *all;  /* in the store's list of all */
};

/* What a module takes besides its bytes. */
typedef struct {
    uint64_t pages;
    uint32_t slot; /* in the use clock */
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
    sym_place_t place;     /* of its own, when it is put */
    sym_place_t old;       /* of the module that it replaces */
    sym_error_t lost;      /* what ended it, when another's failure did */
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
};

/* --- opening, both sides (env.c) --- */

#define READERS_DEFAULT 1024

void sym_env_file(char out[PATH_MAX], const char *path, const char *file);
sym_store_t *sym_env_new(const char *path, sym_error_t *err);
sym_status_t sym_env_open(sym_store_t *store, unsigned flags, size_t map,
                          unsigned readers, sym_error_t *err);
sym_status_t sym_env_databases(sym_store_t *store, unsigned flags, MDB_txn *txn,
                               sym_error_t *err);
sym_status_t sym_env_version(sym_store_t *store, MDB_txn *txn,
                             sym_error_t *err);

sym_status_t sym_env_clock(sym_store_t *store, sym_error_t *err);

/* Runs the opening of a store under the guard; the store is gone if it fails,
 * and in *out if not. */
sym_status_t sym_env_open_guarded(sym_store_t *store, void (*fn)(void *),
                                  void *arg, sym_store_t **out,
                                  sym_error_t *err);

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

#define RECORD_BYTES_MAX (80 + SOURCE_MAX + REASON_MAX + ATTEMPTS_MAX)
size_t sym_record_write(const MDB_val *key, const sym_module_record_t *record,
                        uint8_t out[RECORD_BYTES_MAX]);

/*
 * SYM_NOT_FOUND: of a version we do not know, but module_id, slot, extents,
 * bytes and pages are set all the same; SYM_DAMAGED.  The checksum is not
 * looked at.
 */
sym_status_t sym_record_read(const MDB_val *val, sym_module_record_t *record);

/* The same, with the checksum: for whoever acts on a record. */
sym_status_t sym_record_check(const MDB_val *key, const MDB_val *val,
                              sym_module_record_t *record);

/*
 * Calls fn for every record of the directory, whatever sym_record_check() says
 * of it, until fn gives something else than SYM_OK.
 */
typedef sym_status_t (*sym_record_pt)(void *ctx, const MDB_val *key,
                                      sym_status_t status,
                                      sym_module_record_t *record);
sym_status_t sym_directory_walk(sym_store_t *store, MDB_txn *txn,
                                sym_record_pt fn, void *ctx, sym_error_t *err);

/* Pages that an extent's value takes. */
uint64_t sym_value_pages(size_t len);

/* And a module in the tree: its record, and where its extents are noted. */
uint64_t sym_tree_pages(uint32_t extents);

/* CRC-32 over a key and what follows it; and where it is kept, 4 bytes. */
uint32_t sym_crc(const void *key, size_t key_len, const void *data, size_t len);
void sym_crc_put(uint8_t *p, uint32_t crc);
uint32_t sym_crc_get(const uint8_t *p);

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

/*
 * Drops records whose checksum is wrong and extents that belong to no module.
 * A store is a cache: what is lost so is loaded again.
 */
sym_status_t sym_store_repair(sym_store_t *store, sym_error_t *err);

/* Ids of modules, to ask for by value. */
typedef struct {
    uint64_t *ids;
    size_t n, size;
} sym_ids_t;

bool sym_ids_add(sym_ids_t *set, uint64_t id); /* false: out of memory */
void sym_ids_sort(sym_ids_t *set);
bool sym_ids_has(const sym_ids_t *set, uint64_t id); /* after the sort */

/* Evicts so that `pages` more fit the quota; SYM_FULL: they never will. */
sym_status_t sym_make_room(sym_store_t *store, uint64_t pages,
                           sym_error_t *err);

#endif
