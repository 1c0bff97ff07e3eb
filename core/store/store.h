/*
 * store.h - artifacts of many objects in one LMDB environment: reading.
 *
 * A record belongs to a source (its scope), an object (name and debug id), a
 * kind of artifact and a version of that kind.  Only the kind knows the meaning
 * of the artifact's bytes (artifacts/kinds.h).  Writing: store/write.h.
 *
 * This is the only folder that uses LMDB.  Layout on disk:
 * docs/formats/store.md.  One process writes (the loader, enforced by a lock),
 * and any number of processes read.  Readers never block and never wait for the
 * writer.  A process must open the store after fork, and only once: if it opens
 * a second handle, LMDB assumes that no other process uses the store, and
 * resets its table of readers.
 *
 * A store is a folder: data.mdb, lock.mdb (LMDB), clock (use times, mapped
 * writable by readers), writer.lock.
 *
 * Views returned by a snapshot are valid until the snapshot ends.
 */
#ifndef SYM_STORE_STORE_H
#define SYM_STORE_STORE_H

#include <stdio.h>

#include "artifacts/kinds.h"
#include "base/error.h"
#include "object/object_ref.h"
#include "base/str.h"

#define SYM_STORE_VERSION 7

typedef struct sym_store_s sym_store_t;
typedef struct sym_snapshot_s sym_snapshot_t;

typedef enum {
    SYM_MODULE_READY = 1,
    SYM_MODULE_ABSENT,   /* no source has the file */
    SYM_MODULE_FAILED,   /* the file could not be fetched this time */
    SYM_MODULE_MALFORMED /* the file was fetched, but is unreadable */
} sym_module_state_t;

/* "ready", "absent", ...: the word used in logs and JSON. */
const char *sym_module_state_name(sym_module_state_t state);

typedef struct {
    sym_object_type_t type;
    bool is_nameless; /* its ids alone identify it */
    bool has_file_id, has_digest;
    sym_debug_id_t debug_id;
    sym_code_id_t code_id;
    uint8_t file_id[SYM_FILE_ID_BYTES];
    uint8_t digest[SYM_REF_DIGEST_BYTES]; /* digest of a URL, release and
                                             dist */
    sym_str_t name;                       /* name of the debug file; or "" */
} sym_object_key_t;

/* An artifact, or the reason why it is missing. */
typedef struct {
    sym_object_key_t object;
    uint64_t module_id;       /* key of its extents; never reused */
    sym_module_state_t state; /* READY; or MALFORMED until it expires: a damaged
                                 artifact that was loaded by hand was removed */
    sym_kind_t kind;
    uint32_t kind_version;
    uint8_t quality; /* rank among artifacts of this kind; its meaning depends
                        on the kind */
    uint16_t place;  /* position of the artifact's file in the plan that found
                        it; 0: loaded by hand */
    uint32_t slot;   /* index in the use clock */
    uint32_t extents;
    uint64_t bytes; /* total of all extents */
    uint64_t pages; /* 4 KiB pages that the values take in the file */
    uint64_t source_bytes;
    int64_t stored_at;   /* seconds since 1970 */
    uint32_t used_at;    /* seconds since 1970, from the use clock; 0: never
                            used */
    uint32_t expires_at; /* for records that are not READY; 0: never */
    bool has_path;       /* the table of paths has a record of the artifact's
                            file */
    sym_str_t path;      /* path of the file, as in its key; or the name of a
                            file that was loaded by hand */
    sym_str_t reason;    /* why the record is not READY; or which files were
                            missing, if the artifact is incomplete */
} sym_object_record_t;

/* The id to display: the debug id in its canonical form, else the code id. */
sym_str_t sym_object_shown_id(const sym_object_key_t *object,
                              char text[SYM_CODE_ID_MAX]);

/* Number of records of each kind. */
typedef struct {
    uint64_t n[SYM_KIND_MAX + 1];
} sym_kind_counts_t;

/* Maximum length of a reason; longer ones are truncated. */
#define SYM_REASON_MAX 512

/* The clock counts as set back if a time is more than this many seconds in the
 * future. */
#define SYM_CLOCK_SLACK_S 2

/* Whether a record's expiry time has passed; 0: it never does. */
static inline bool
sym_is_past(uint32_t expires_at, int64_t now_s)
{
    return expires_at != 0 && expires_at <= now_s;
}

/* Whether a record has expired.  This includes records stored in the future:
 * the clock was set back, and they would live too long. */
static inline bool
sym_has_expired(uint32_t expires_at, int64_t stored_at, int64_t now_s)
{
    return sym_is_past(expires_at, now_s)
           || stored_at - SYM_CLOCK_SLACK_S > now_s;
}

/* Whether a record that is not READY has expired. */
bool sym_module_expired(const sym_object_record_t *record, int64_t now_s);

/* Time of the last request for a module, or when it was stored if there was
 * none. */
int64_t sym_module_last_s(const sym_object_record_t *record);

/* Weight of a state when no source has the module: failure (3) wins, then a
 * malformed file, then absence (1). */
unsigned sym_module_state_weight(sym_module_state_t state);

typedef struct {
    uint64_t quota, live_bytes, file_bytes, map_bytes, free_bytes;
    uint64_t temp_limit, file_limit, live_limit; /* usage and shares of the
                                                    quota */
    uint64_t modules, extents;
    uint64_t ready, absent, failed, malformed; /* ready: modules; the others:
                                                  paths */
    uint64_t paths;                            /* number of path records */
    uint64_t evicted; /* modules evicted since the store was created */
    unsigned readers; /* used slots in the table of readers */
    unsigned reading; /* slots with an open snapshot */
    unsigned max_readers;
    uint64_t last_txn;
} sym_store_stat_t;

/* SYM_NOT_FOUND: no store; SYM_VERSION: unreadable version; SYM_IO. */
sym_status_t sym_store_open_read(const char *path, sym_store_t **store,
                                 sym_error_t *err);
void sym_store_close(sym_store_t *store);

/* Whether the folder now contains another store, because the open one was
 * removed and created again. */
bool sym_store_is_stale(const sym_store_t *store);

/*
 * Begins a consistent view, which takes one LMDB reader slot until _end().
 * Ended snapshots are kept and reused, so nothing is allocated in the steady
 * state.
 */
sym_status_t sym_snapshot_begin(sym_store_t *store, sym_snapshot_t **snapshot,
                                sym_error_t *err);
void sym_snapshot_end(sym_snapshot_t *snapshot);

/* NULL: NULL */
sym_store_t *sym_snapshot_store(const sym_snapshot_t *snapshot);

/* The version of the store in the snapshot: never 0, different after each
   change. */
uint64_t sym_snapshot_version(const sym_snapshot_t *snapshot);

/* Calls fn for objects until it returns anything but SYM_OK.  Views are valid
 * during the call. */
typedef sym_status_t (*sym_object_each_pt)(void *ctx, sym_str_t scope,
                                           const sym_object_record_t *record);

/* After this time, a source is searched again for better symbols than those in
 * the store. */
#define SYM_BETTER_AGAIN_S 3600

/* Calls fn for every source with records, ordered by name, until it returns
 * anything but SYM_OK.  The view lives as long as the snapshot. */
typedef sym_status_t (*sym_scope_each_pt)(void *ctx, sym_str_t scope);
sym_status_t sym_snapshot_scopes(sym_snapshot_t *snapshot, sym_scope_each_pt fn,
                                 void *ctx, sym_error_t *err);

/* Returns the bytes of an extent without its checksum, which is not
 * verified. */
sym_status_t sym_snapshot_extent(sym_snapshot_t *snapshot, uint64_t module_id,
                                 uint32_t number, const uint8_t **data,
                                 size_t *len);

/* Same, but verifies the checksum (SYM_DAMAGED). */
sym_status_t sym_snapshot_extent_checked(sym_snapshot_t *snapshot,
                                         uint64_t module_id, uint32_t number,
                                         const uint8_t **data, size_t *len);

/*
 * Same, but verifies the checksum only once in ten minutes: a table remembers
 * verified and damaged extents.
 */
sym_status_t sym_snapshot_extent_sound(sym_snapshot_t *snapshot,
                                       uint64_t module_id, uint32_t number,
                                       const uint8_t **data, size_t *len);

/* Whether the table contains a damaged extent of the module.  Such a module
 * counts as missing (sym_snapshot_choose_object()). */
bool sym_snapshot_is_unsound(const sym_snapshot_t *snapshot,
                             uint64_t module_id);

/* Verifies all extents of a READY module. */
bool sym_snapshot_is_sound(sym_snapshot_t *snapshot,
                           const sym_object_record_t *record);

/* The reason to report for a damaged module. */
#define SYM_UNSOUND_REASON "the stored symbols are damaged"

/* Sets the current time; extents are verified again after ten minutes. */
void sym_store_tell_time(sym_store_t *store, uint32_t now_s);

/* Whether a known damaged extent is still in the store and still damaged. */
bool sym_snapshot_has_unsound(sym_snapshot_t *snapshot);

/* Marks a module as used now: one relaxed 32-bit store. */
void sym_store_touch(sym_store_t *store, uint32_t slot, uint32_t now_s);

/*
 * Runs fn(arg).  If a mapped page faults (SIGBUS in a short or unreadable file,
 * SIGSEGV or an LMDB assertion in a damaged tree), fn is aborted, SYM_DAMAGED
 * is returned, and the store can only be closed.  Any other fault ends the
 * process. fn must not own resources, because it may be aborted before it frees
 * them.  Guarded calls may be nested.
 */
sym_status_t sym_store_guarded(sym_store_t *store, void (*fn)(void *),
                               void *arg, sym_error_t *err);

/* Closes a store after a fault.  A writer that faulted during a write keeps its
 * resources and the lock until the process ends. */
void sym_store_abandon(sym_store_t *store);

/* Calls fn for every object, ordered by source, name and id.  SYM_DAMAGED: fn
 * was called for all undamaged records. */
sym_status_t sym_snapshot_each(sym_snapshot_t *snapshot, sym_object_each_pt fn,
                               void *ctx, sym_error_t *err);

/* Position of a walk over records; all zeros: the start. */
#define SYM_STORE_MARK_MAX 511
typedef struct {
    char key[SYM_STORE_MARK_MAX]; /* key of the last record */
    size_t len;
    unsigned table; /* index of the table, in a walk over several */
} sym_store_mark_t;

sym_status_t sym_store_stat(sym_store_t *store, sym_store_stat_t *stat,
                            sym_error_t *err);

/*
 * Same in slices, for callers that must not block: reads at most `records`
 * records.  SYM_AGAIN: there are more, call again with the same *mark and
 * *stat.  Each slice has its own snapshot, because the writer cannot reuse
 * freed pages while an old snapshot is open.  So each module counts with its
 * state when it is read; all other numbers are those of the last slice.
 */
sym_status_t sym_store_stat_part(sym_store_t *store, sym_store_mark_t *mark,
                                 uint64_t records, sym_store_stat_t *stat,
                                 sym_error_t *err);

#endif
