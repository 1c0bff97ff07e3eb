/*
 * env.h - declarations shared inside core/store; other folders must not include
 * it.  Declarations for writing: write/writer.h.
 */
#ifndef SYM_STORE_ENV_H
#define SYM_STORE_ENV_H

#include <limits.h>
#include <signal.h>
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

#define STORE_PAGE 4096 /* of LMDB */

#define SOURCE_MAX 1024

struct sym_snapshot_s {
    sym_store_t *store;
    MDB_txn *txn;
    sym_snapshot_t *next; /* list of idle snapshots */
    sym_snapshot_t *all;  /* list of all snapshots */

    /* Cursors are kept because opening one allocates.  A cursor stays at the
     * key of the last lookup; the next key is often on the same page. */
    MDB_cursor *objects, *paths;
    bool has_objects, has_paths; /* opened or renewed in this transaction */
};

/* A kept cursor, for lookups that call no other store function. */
int sym_snapshot_objects_cursor(sym_snapshot_t *s, MDB_cursor **cursor);
int sym_snapshot_paths_cursor(sym_snapshot_t *s, MDB_cursor **cursor);

/* 512 KiB: enough for extents of up to 4 GiB. */
#define SOUND_EXTENTS ((size_t) 1 << 16)
#define SOUND_PERIOD_S 600
#define UNSOUND_MAX 64

/* Shares of a quota: docs/formats/store.md, section 4. */
typedef struct {
    uint64_t temp_bytes;     /* room for temporary files */
    uint64_t file_bytes;     /* maximum size of data.mdb */
    uint64_t live_pages;     /* share of the file for modules */
    uint64_t negative_bytes; /* share of that for negatives */
    uint64_t batch_bytes;
} sym_budget_t;

struct sym_store_s {
    MDB_env *env;
    MDB_dbi meta, extents, paths, objects, names;
    char *path;
    dev_t dev;
    ino_t ino;
    sym_clock_t clock;

    sym_snapshot_t *idle, *all;
    unsigned n_active;
    bool is_damaged; /* a guarded call faulted */

    uint64_t *sound; /* SOUND_EXTENTS keys of verified extents, by hash; NULL:
                        not allocated yet */
    uint64_t unsound[UNSOUND_MAX]; /* keys of the latest damaged extents, one
                                      for each module; 0: free */
    unsigned n_unsound;            /* number of damaged extents added so far */
    uint32_t sound_period;

    /* fields of a writer */
    bool is_writer;
    int lock_fd;
    MDB_txn *txn;          /* the current batch, or NULL */
    uint64_t batch;        /* number of the batch, from 1 */
    size_t batch_bytes;    /* bytes written to the batch, in full pages */
    uint64_t room;         /* free pages for the rest of the batch */
    uint64_t room_run;     /* longest run of consecutive free pages */
    uint64_t stuck_reader; /* a snapshot whose reader did not end in time */
    unsigned reader_wait_ms;
    bool never_blocks;      /* only sym_store_can_write() waits */
    int64_t waits_until_ms; /* end of the wait for a reader, in monotonic time;
                               0: not waiting */
    uint64_t next_id;       /* next module id; 0: this writer stored nothing
                               yet */
    struct sym_ingest_s *ingests;
    uint64_t quota;
    unsigned max_readers; /* desired size of lock.mdb; 0: unchanged */
    sym_budget_t budget;
    uint64_t live_pages;     /* pages of committed modules */
    uint64_t negatives;      /* bytes of negative records */
    int64_t batch_negatives; /* bytes of negatives that the batch added, less
                                those it removed */
    uint64_t lost_batches;
    uint64_t ingest_pages;     /* pages of current ingests */
    uint64_t stale_pages;      /* pages of ingests that could not be undone */
    sym_kind_counts_t removed; /* modules removed since the store was opened */
};

/* --- opening, both sides (env.c) --- */

#define READERS_DEFAULT 1024

/* The length of lock.mdb in LMDB: a header, and 64 bytes for each reader. */
#define SYM_LOCK_BYTES(readers) (128 + (uint64_t) (readers) *64)

void sym_env_file(char out[PATH_MAX], const char *path, const char *file);
sym_store_t *sym_env_new(const char *path, sym_error_t *err);
sym_status_t sym_env_open(sym_store_t *store, unsigned flags, size_t map,
                          sym_error_t *err);
/* Refuses a store of another version (SYM_VERSION); a new store has none
   yet. */
sym_status_t sym_env_databases(sym_store_t *store, unsigned flags, MDB_txn *txn,
                               sym_error_t *err);

sym_status_t sym_env_clock(sym_store_t *store, sym_error_t *err);

/* Opens a store under the guard.  On failure the store is freed, otherwise it
 * is in *out. */
sym_status_t sym_env_open_guarded(sym_store_t *store, void (*fn)(void *),
                                  void *arg, sym_store_t **out,
                                  sym_error_t *err);

/* --- failures --- */

/* Converts an LMDB error to *err; returns err->status. */
sym_status_t sym_lmdb_fail(sym_error_t *err, const char *what, int rc);

/* --- shares of a quota (quota.c) --- */

sym_status_t sym_quota_too_small(sym_error_t *err);

/* SYM_LIMIT: the quota is too small. lock_bytes: desired size of lock.mdb, if
 * larger than the current size. */
sym_status_t sym_budget(const char *path, uint64_t quota, uint64_t lock_bytes,
                        sym_budget_t *budget, sym_error_t *err);

/*
 * Allocates disk space for a file before it is mapped for writing, if the file
 * system supports that.  Otherwise a write to a mapped page could raise SIGBUS
 * on a full disk.
 */
void sym_reserve_file(int fd, uint64_t bytes);

/* --- faults (guard.c) --- */

/* Handles LMDB's assertions. */
void sym_guard_store(sym_store_t *store);

/*
 * Whether this thread is in an LMDB call that reads pages.  Any fault in such a
 * call counts as a fault of the pages, whatever its address.  The default
 * access model of thread-local variables would be slow compared with mdb_get().
 */
#define SYM_LMDB_TLS _Thread_local __attribute__((tls_model("initial-exec")))
extern SYM_LMDB_TLS volatile sig_atomic_t sym_lmdb_calls;

static inline int
sym_lmdb_left(int rc)
{
    sym_lmdb_calls--;
    return rc;
}


#define SYM_LMDB(call) sym_lmdb_left((sym_lmdb_calls++, (call)))
#define SYM_LMDB_VOID(call) ((void) SYM_LMDB(((call), 0)))

/* clang-format off */
#define mdb_cursor_close(...) SYM_LMDB_VOID(mdb_cursor_close(__VA_ARGS__))
#define mdb_cursor_del(...) SYM_LMDB(mdb_cursor_del(__VA_ARGS__))
#define mdb_cursor_get(...) SYM_LMDB(mdb_cursor_get(__VA_ARGS__))
#define mdb_cursor_put(...) SYM_LMDB(mdb_cursor_put(__VA_ARGS__))
#define mdb_cursor_renew(...) SYM_LMDB(mdb_cursor_renew(__VA_ARGS__))
#define mdb_cursor_open(...) SYM_LMDB(mdb_cursor_open(__VA_ARGS__))
#define mdb_dbi_open(...) SYM_LMDB(mdb_dbi_open(__VA_ARGS__))
#define mdb_del(...) SYM_LMDB(mdb_del(__VA_ARGS__))
#define mdb_drop(...) SYM_LMDB(mdb_drop(__VA_ARGS__))
#define mdb_env_close(...) SYM_LMDB_VOID(mdb_env_close(__VA_ARGS__))
#define mdb_env_open(...) SYM_LMDB(mdb_env_open(__VA_ARGS__))
#define mdb_env_set_mapsize(...) SYM_LMDB(mdb_env_set_mapsize(__VA_ARGS__))
#define mdb_get(...) SYM_LMDB(mdb_get(__VA_ARGS__))
#define mdb_put(...) SYM_LMDB(mdb_put(__VA_ARGS__))
#define mdb_reader_check(...) SYM_LMDB(mdb_reader_check(__VA_ARGS__))
#define mdb_reader_list(...) SYM_LMDB(mdb_reader_list(__VA_ARGS__))
#define mdb_stat(...) SYM_LMDB(mdb_stat(__VA_ARGS__))
#define mdb_txn_abort(...) SYM_LMDB_VOID(mdb_txn_abort(__VA_ARGS__))
#define mdb_txn_begin(...) SYM_LMDB(mdb_txn_begin(__VA_ARGS__))
#define mdb_txn_commit(...) SYM_LMDB(mdb_txn_commit(__VA_ARGS__))
#define mdb_txn_renew(...) SYM_LMDB(mdb_txn_renew(__VA_ARGS__))
#define mdb_txn_reset(...) SYM_LMDB_VOID(mdb_txn_reset(__VA_ARGS__))
/* clang-format on */

/* --- records (record.c) --- */

/* Number of pages that an extent's value takes. */
uint64_t sym_value_pages(size_t len);

/* Pages that a module takes in the trees: its record, and the keys of its
 * extents. */
uint64_t sym_tree_pages(uint32_t extents);

/* Computes the CRC-32 of a key and the data after it; it takes 4 bytes. */
uint32_t sym_crc(const void *key, size_t key_len, const void *data, size_t len);
void sym_crc_put(uint8_t *p, uint32_t crc);
uint32_t sym_crc_get(const uint8_t *p);

/* --- meta (meta.c) --- */

int sym_meta_get(sym_store_t *store, MDB_txn *txn, const char *name,
                 uint64_t *value);
int sym_meta_put(sym_store_t *store, MDB_txn *txn, const char *name,
                 uint64_t value);


#endif
