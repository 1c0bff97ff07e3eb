/*
 * env.h - declarations shared inside core/store; no file outside includes it.
 * write/writer.h has those of the writing side.
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
#define ATTEMPTS_MAX 2048

struct sym_snapshot_s {
    sym_store_t *store;
    MDB_txn *txn;
    sym_snapshot_t *next; /* in the store's list of idle ones */
    sym_snapshot_t *all;  /* in the store's list of all */

    /* kept, as opening one allocates; at the end they are where the last lookup
     * was, and the next key is often on the same page */
    MDB_cursor *objects, *paths;
    bool has_objects, has_paths; /* they are of this transaction */
};

/* A kept cursor: for lookups that call no other function of the store. */
int sym_snapshot_objects_cursor(sym_snapshot_t *s, MDB_cursor **cursor);
int sym_snapshot_paths_cursor(sym_snapshot_t *s, MDB_cursor **cursor);

/* 512 KiB, for extents of up to 4 GiB. */
#define SOUND_EXTENTS ((size_t) 1 << 16)
#define SOUND_PERIOD_S 600
#define UNSOUND_MAX 64

/* What a quota is spent on: docs/formats/store.md, section 4. */
typedef struct {
    uint64_t temp_bytes;     /* room for temporary files */
    uint64_t file_bytes;     /* data.mdb at most */
    uint64_t live_pages;     /* of it what modules may take */
    uint64_t negative_bytes; /* of that what negatives may take */
    uint64_t batch_bytes;
} sym_budget_t;

struct sym_store_s {
    MDB_env *env;
    MDB_dbi meta, directory, extents, ids;
    MDB_dbi paths, objects, names;
    char *path;
    dev_t dev;
    ino_t ino;
    sym_clock_t clock;

    sym_snapshot_t *idle, *all;
    unsigned n_active;
    bool is_damaged; /* a guarded call met a fault */

    uint64_t *sound; /* SOUND_EXTENTS keys of extents, by hash; NULL: not yet */
    uint64_t unsound[UNSOUND_MAX]; /* keys of those met last, one a module;
                                      0: none */
    unsigned n_unsound;            /* so many were */
    uint32_t sound_period;

    /* the writer's */
    bool is_writer;
    int lock_fd;
    MDB_txn *txn;          /* the batch under way, or NULL */
    uint64_t batch;        /* its number, from 1 */
    size_t batch_bytes;    /* put into it, in whole pages */
    uint64_t room;         /* pages that it may still take, */
    uint64_t room_run;     /* so many of them in a row at most */
    uint64_t stuck_reader; /* a snapshot that was waited for in vain */
    unsigned reader_wait_ms;
    uint64_t next_id; /* no module of this writer had it; 0: none began */
    struct sym_ingest_s *ingests;
    uint64_t quota;
    unsigned max_readers; /* that lock.mdb is to have room for; 0: as it is */
    sym_budget_t budget;
    uint64_t live_pages;     /* of committed modules */
    uint64_t negatives;      /* bytes of negative records */
    int64_t batch_negatives; /* of them put in the batch, less those removed */
    uint64_t lost_batches;
    uint64_t ingest_pages;     /* of ingests under way */
    uint64_t stale_pages;      /* of ingests that could not be taken back */
    sym_kind_counts_t removed; /* since it was opened */
};

/* --- opening, both sides (env.c) --- */

#define READERS_DEFAULT 1024

/* lock.mdb as long as LMDB makes it: its head, and 64 bytes for each reader. */
#define SYM_LOCK_BYTES(readers) (128 + (uint64_t) (readers) *64)

void sym_env_file(char out[PATH_MAX], const char *path, const char *file);
sym_store_t *sym_env_new(const char *path, sym_error_t *err);
sym_status_t sym_env_open(sym_store_t *store, unsigned flags, size_t map,
                          sym_error_t *err);
/* Refuses a store of another version (SYM_VERSION); a new one has none. */
sym_status_t sym_env_databases(sym_store_t *store, unsigned flags, MDB_txn *txn,
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

/* --- what a quota is spent on (quota.c) --- */

sym_status_t sym_quota_too_small(sym_error_t *err);

/* SYM_LIMIT: the quota is too small.  lock_bytes: what lock.mdb is to have, if
 * that is more than it has. */
sym_status_t sym_budget(const char *path, uint64_t quota, uint64_t lock_bytes,
                        sym_budget_t *budget, sym_error_t *err);

/*
 * Takes the room for a file that is mapped for writing before it is mapped: a
 * write to a page that the disk has no room for would be a SIGBUS.  As far as
 * the file system lets it.
 */
void sym_reserve_file(int fd, uint64_t bytes);

/* --- faults (guard.c) --- */

/* Takes LMDB's assertions over. */
void sym_guard_store(sym_store_t *store);

/*
 * Whether this thread is in a call of LMDB that looks at pages: what such a
 * call faults at is the pages' fault, wherever it points.  Beside mdb_get()
 * the usual way to find a thread's variable would be felt.
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

/* Key of a record in the directory; 0: the key does not fit.  SYM_KIND_ALL:
 * what the keys of all kinds of the object begin with, which is a symcache's. */
#define RECORD_KEY_MAX SYM_STORE_KEY_MAX
size_t sym_record_key(const sym_module_key_t *key, sym_kind_t kind,
                      char out[RECORD_KEY_MAX]);
bool sym_record_key_read(const MDB_val *val, sym_module_key_t *key,
                         sym_kind_t *kind);

/* What follows the scope and its NUL. */
bool sym_record_key_rest(sym_str_t rest, sym_module_key_t *key,
                         sym_kind_t *kind);

/* A NUL and the kind, behind the id of all but symcaches. */
#define RECORD_KIND_BYTES 2

#define RECORD_BYTES_MAX                                                       \
    (80 + SOURCE_MAX + SYM_REASON_MAX + ATTEMPTS_MAX + SYM_CODE_ID_MAX)
size_t sym_record_write(const MDB_val *key, const sym_module_record_t *record,
                        uint8_t out[RECORD_BYTES_MAX]);

/*
 * SYM_NOT_FOUND: of a version we do not know, but module_id, slot, extents,
 * bytes and pages are set all the same; SYM_DAMAGED.  The checksum is not
 * looked at, and the kind, which stands in the key, is the caller's to set.
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

/* The same for at most `records` of those behind *mark, which is moved on.
 * SYM_AGAIN: there are more. */
sym_status_t sym_directory_part(sym_store_t *store, MDB_txn *txn,
                                sym_store_mark_t *mark, uint64_t records,
                                sym_record_pt fn, void *ctx, sym_error_t *err);

/* Pages that an extent's value takes. */
uint64_t sym_value_pages(size_t len);

/* And a module in the tree: its record, and where its extents are noted. */
uint64_t sym_tree_pages(uint32_t extents);

/* Bytes of a negative record, which has no pages of its own; 0: the record is
 * READY. */
uint64_t sym_negative_bytes(const MDB_val *key,
                            const sym_module_record_t *record);

/* CRC-32 over a key and what follows it; and where it is kept, 4 bytes. */
uint32_t sym_crc(const void *key, size_t key_len, const void *data, size_t len);
void sym_crc_put(uint8_t *p, uint32_t crc);
uint32_t sym_crc_get(const uint8_t *p);

/* --- meta (meta.c) --- */

int sym_meta_get(sym_store_t *store, MDB_txn *txn, const char *name,
                 uint64_t *value);
int sym_meta_put(sym_store_t *store, MDB_txn *txn, const char *name,
                 uint64_t value);


#endif
