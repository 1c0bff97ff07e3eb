/*
 * store.h - artifacts of many objects in one LMDB environment: reading.
 *
 * A record belongs to a source (its scope), an object (name and debug id), a kind
 * of artifact and a version of that kind.  Only the kind knows the meaning of the
 * artifact's bytes (artifacts/kinds.h).  Writing: store/write.h.
 *
 * This is the only folder that uses LMDB.  Layout on disk:
 * docs/formats/store.md. One process writes (the loader, enforced by a lock),
 * any number reads; readers never block and never wait for the writer.  Every
 * process opens the store after fork, and only once: with a second handle LMDB
 * would take the process for the only one, and reset its table of readers.
 *
 * A store is a folder: data.mdb, lock.mdb (LMDB), clock (use times, mapped
 * writable by readers), writer.lock.
 *
 * Views given by a snapshot live until the snapshot ends.
 */
#ifndef SYM_STORE_STORE_H
#define SYM_STORE_STORE_H

#include <stdio.h>

#include "artifacts/kinds.h"
#include "base/error.h"
#include "object/module_key.h"
#include "object/object_ref.h"
#include "object/variant.h"
#include "base/str.h"

#define SYM_STORE_VERSION 5

typedef struct sym_store_s sym_store_t;
typedef struct sym_snapshot_s sym_snapshot_t;

typedef enum {
    SYM_MODULE_READY = 1,
    SYM_MODULE_ABSENT,   /* no source has the file */
    SYM_MODULE_FAILED,   /* it could not be fetched this time */
    SYM_MODULE_MALFORMED /* it was fetched, and cannot be read */
} sym_module_state_t;

/* "ready", "absent", ...: the word used in logs and JSON. */
const char *sym_module_state_name(sym_module_state_t state);

typedef struct {
    uint64_t module_id; /* of its extents; never used twice */
    sym_module_state_t state;
    sym_kind_t kind;
    uint32_t
        kind_version; /* of the writer; of what is not READY: of the program
                              that could not read it */
    uint8_t quality;  /* a number of the kind's own */
    uint32_t slot;    /* in the use clock */
    uint32_t extents;
    uint64_t bytes; /* of all extents */
    uint64_t pages; /* of 4 KiB that its values take in the file */
    uint64_t source_bytes;
    int64_t stored_at;   /* seconds since 1970 */
    uint32_t used_at;    /* seconds since 1970, 0: not since it was stored; from
                            the clock */
    sym_str_t source;    /* where it came from: a path or URL; of a variant's
                            record the debug id */
    sym_str_t reason;    /* why it is not READY; of what is: which files were
                            missing when it was made; or "" */
    uint32_t expires_at; /* seconds since 1970 when a state that is not READY
                            ceases to count; 0: never */
    sym_str_t
        attempts; /* what was tried to get it: docs/formats/store.md, section 2 */
    bool
        is_native; /* from a debug file, which tells no name: its debug id alone
                    * finds it */
    sym_str_t code_id; /* of READY ones as the file has it, also a .sym file's
                          INFO CODE_ID; of others the one in the request:
                          lower-case hex digits, or "" */
} sym_module_record_t;

/* Records, by kind. */
typedef struct {
    uint64_t n[SYM_KIND_MAX + 1];
} sym_kind_counts_t;

/* Bytes of a reason; the rest is cut off. */
#define SYM_REASON_MAX 512

/* A clock set back by more than this many seconds is noticed. */
#define SYM_CLOCK_SLACK_S 2

/* Whether a negative record has expired.  One from the future has, too, because
 * it would otherwise live too long. */
bool sym_module_expired(const sym_module_record_t *record, int64_t now_s);

/* When a module was last of use: when it was asked for, or stored if nobody has
 * asked for it since. */
int64_t sym_module_last_s(const sym_module_record_t *record);

/* False: a negative record for another code id, which is too long to be part of
 * the key. */
bool sym_module_record_is_of(const sym_module_record_t *record,
                             const sym_module_key_t *key);

/*
 * False: a negative record of a question that had another code id, or that alone
 * had one, unless it reads as the debug id.  Sources have places by code ids, and a
 * client may say any: what it did not get there says nothing to others.
 */
bool sym_module_record_counts(const sym_module_record_t *record,
                              const sym_module_key_t *key);

/* The precedence of states when no source has the module: a failure (3), then a
 * malformed file, then absence (1). */
unsigned sym_module_state_weight(sym_module_state_t state);

/* Whether another source may have a better artifact. */
bool sym_module_is_poor(const sym_module_record_t *record);

typedef struct {
    uint64_t quota, live_bytes, file_bytes, map_bytes, free_bytes;
    uint64_t temp_limit, file_limit, live_limit; /* shares of the quota */
    uint64_t modules, extents;
    uint64_t ready, absent, failed, malformed;
    uint64_t paths;   /* records of paths */
    uint64_t evicted; /* modules, since the store was made */
    unsigned readers; /* slots taken in the table of readers */
    unsigned reading; /* those with an open snapshot */
    unsigned max_readers;
    uint64_t last_txn;
} sym_store_stat_t;

/* SYM_NOT_FOUND: no store; SYM_VERSION: a version we cannot read; SYM_IO. */
sym_status_t sym_store_open_read(const char *path, sym_store_t **store,
                                 sym_error_t *err);
void sym_store_close(sym_store_t *store);

/* Whether the folder now holds another store than the open one, because it was
 * removed and created again. */
bool sym_store_is_stale(const sym_store_t *store);

/*
 * Begins a consistent view; costs one LMDB reader slot until _end().  Ended
 * snapshots are kept and reused, so a steady state allocates nothing.
 */
sym_status_t sym_snapshot_begin(sym_store_t *store, sym_snapshot_t **snapshot,
                                sym_error_t *err);
void sym_snapshot_end(sym_snapshot_t *snapshot);

/* The version of the store that it shows: never 0, different after each change. */
uint64_t sym_snapshot_version(const sym_snapshot_t *snapshot);

/* The artifact of one kind.  SYM_NOT_FOUND also for a version of it that this
 * program cannot read. */
sym_status_t sym_snapshot_find(sym_snapshot_t *snapshot,
                               const sym_module_key_t *key, sym_kind_t kind,
                               sym_module_record_t *record, sym_error_t *err);

/*
 * The same, but what is not there under its name, or not READY, is looked for
 * by its ids alone: by the key's code id, then, among modules of debug files, by
 * the debug id, both whole; at last among .sym files without a code id by the
 * debug id that a build id leads to (docs/formats/store.md, section 2).  *found,
 * a view, is the key that the module has.  Of several the best, of equals the
 * first.
 */
sym_status_t sym_snapshot_find_any(sym_snapshot_t *snapshot,
                                   const sym_module_key_t *key, sym_kind_t kind,
                                   sym_module_key_t *found,
                                   sym_module_record_t *record,
                                   sym_error_t *err);

/* The same for a key of a client that may not send code ids: if it has none, the
 * debug id may be a code id's first digits, as a debug id reads
 * (sym_debug_id_canonical()). */
sym_status_t sym_snapshot_find_read(sym_snapshot_t *snapshot,
                                    const sym_module_key_t *key,
                                    sym_kind_t kind, sym_module_key_t *found,
                                    sym_module_record_t *record,
                                    sym_error_t *err);

/* As sym_snapshot_find_any(), but of records that are not READY the one of the
 * object's variant; of what was loaded by hand there are no variants.  object:
 * NULL: any. */
sym_status_t sym_snapshot_find_asked(
    sym_snapshot_t *snapshot, const sym_module_key_t *key, sym_kind_t kind,
    const sym_object_ref_t *object, sym_module_key_t *found,
    sym_module_record_t *record, sym_error_t *err);

/* Records of variants: their debug ids are in `source`.  The id to show. */
static inline sym_str_t
sym_module_shown_id(const sym_module_key_t *key,
                    const sym_module_record_t *record)
{
    size_t len = record->source.len;

    return sym_variant_is_in(key->id) ? sym_str(
               record->source.data, len < SYM_ID_MAX ? len : SYM_ID_MAX)
                                      : key->id;
}


/* Calls fn for the records of variants of a key's name and debug id, of one
 * scope and kind, until it gives something else than SYM_OK; but for at most
 * SYM_VARIANTS_MAX of them. */
#define SYM_VARIANTS_MAX 16
typedef sym_status_t (*sym_variant_each_pt)(void *ctx,
                                            const sym_module_key_t *key,
                                            const sym_module_record_t *record);
sym_status_t sym_snapshot_variants(sym_snapshot_t *snapshot,
                                   const sym_module_key_t *key, sym_kind_t kind,
                                   sym_variant_each_pt fn, void *ctx,
                                   sym_error_t *err);

/*
 * The module among those of several sources.  One that is READY and not poor
 * wins, of several the first source's; else the best of the poor ones; else
 * what all sources say together (a failure goes before a malformed file, that
 * before absence), if all of them have been asked and none of it has expired.
 * A source that was loaded by hand need not be asked.
 *
 * asked: records of absence count only if they are of the same way of asking;
 * NULL: by the canonical id.
 */
typedef struct {
    bool is_open;   /* a source that was not asked yet (or not in this way)
                       may have it, or a better one */
    uint32_t until; /* seconds since 1970 until which the result holds; 0: until
                       the store changes */
} sym_outlook_t;

/* The time after which a source that had none is asked again for better symbols
 * than those in the store. */
#define SYM_BETTER_AGAIN_S 3600

sym_status_t sym_snapshot_choose(sym_snapshot_t *snapshot,
                                 const sym_scopes_t *scopes,
                                 const sym_module_key_t *key, sym_kind_t kind,
                                 const sym_asked_t *asked, int64_t now_s,
                                 sym_module_key_t *found,
                                 sym_module_record_t *record,
                                 sym_outlook_t *outlook, sym_error_t *err);

/* Calls fn for every source that has records, in the order of their names,
 * until it gives something else than SYM_OK.  The view lives as long as the
 * snapshot. */
typedef sym_status_t (*sym_scope_each_pt)(void *ctx, sym_str_t scope);
sym_status_t sym_snapshot_scopes(sym_snapshot_t *snapshot, sym_scope_each_pt fn,
                                 void *ctx, sym_error_t *err);

/* The bytes of an extent, without its checksum, which is not verified. */
sym_status_t sym_snapshot_extent(sym_snapshot_t *snapshot, uint64_t module_id,
                                 uint32_t number, const uint8_t **data,
                                 size_t *len);

/* Verifies the checksum, too (SYM_DAMAGED). */
sym_status_t sym_snapshot_extent_checked(sym_snapshot_t *snapshot,
                                         uint64_t module_id, uint32_t number,
                                         const uint8_t **data, size_t *len);

/*
 * Verifies the checksum at the first use in ten minutes only: a table remembers
 * verified extents, and damaged ones.
 */
sym_status_t sym_snapshot_extent_sound(sym_snapshot_t *snapshot,
                                       uint64_t module_id, uint32_t number,
                                       const uint8_t **data, size_t *len);

/* Whether the table has a damaged extent of the module, which then counts as
 * missing (sym_snapshot_choose()). */
bool sym_snapshot_is_unsound(const sym_snapshot_t *snapshot,
                             uint64_t module_id);

/* Verifies all extents of a module that is READY. */
bool sym_snapshot_is_sound(sym_snapshot_t *snapshot,
                           const sym_module_record_t *record);

/* The reason given for a damaged module. */
#define SYM_UNSOUND_REASON "the stored symbols are damaged"

/* Sets the time, by which extents are verified again after ten minutes. */
void sym_store_tell_time(sym_store_t *store, uint32_t now_s);

/* Whether a damaged extent is still in the store, and still damaged. */
bool sym_snapshot_has_unsound(sym_snapshot_t *snapshot);

/* Marks a module as used now: one relaxed 32-bit store. */
void sym_store_touch(sym_store_t *store, uint32_t slot, uint32_t now_s);

/*
 * Runs fn(arg).  A fault in the mapped pages (SIGBUS of a short or unreadable
 * file, SIGSEGV or an LMDB assertion over a damaged tree) ends fn and returns
 * SYM_DAMAGED; any other fault ends the process.  The store can then only be
 * closed.  fn must not own anything that only its end would free; it may make
 * guarded calls itself.
 */
sym_status_t sym_store_guarded(sym_store_t *store, void (*fn)(void *),
                               void *arg, sym_error_t *err);

/* Closes a store after a fault.  A writer that faulted while it wrote keeps its
 * resources and the lock until the process ends. */
void sym_store_abandon(sym_store_t *store);

/* Calls fn for every record in key order, the kinds of an object one after the
 * other, until it gives something else than SYM_OK.  Views live during the
 * call.  SYM_DAMAGED: the rest was shown. */
typedef sym_status_t (*sym_module_each_pt)(void *ctx,
                                           const sym_module_key_t *key,
                                           const sym_module_record_t *record);
sym_status_t sym_snapshot_each(sym_snapshot_t *snapshot, sym_module_each_pt fn,
                               void *ctx, sym_error_t *err);

/* Bytes of a key in the directory. */
#define SYM_STORE_KEY_MAX (SYM_SCOPE_MAX + SYM_NAME_MAX + SYM_ID_MAX + 4)

/* The position of a walk over records; all zero: the start. */
#define SYM_STORE_MARK_MAX 511
typedef struct {
    char key[SYM_STORE_MARK_MAX]; /* the last one that was shown */
    size_t len;
    unsigned table; /* of a walk over several tables: which one */
} sym_store_mark_t;

/*
 * The same for the records of one source behind *mark, which is moved on; len 0:
 * from the first.  Reads at most *records, and counts them down.  SYM_AGAIN:
 * there may be more; also if fn gives that.  Damaged records are not shown.
 */
sym_status_t sym_snapshot_part(sym_snapshot_t *snapshot, sym_str_t scope,
                               sym_store_mark_t *mark, uint64_t *records,
                               sym_module_each_pt fn, void *ctx,
                               sym_error_t *err);

sym_status_t sym_store_stat(sym_store_t *store, sym_store_stat_t *stat,
                            sym_error_t *err);

/*
 * The same in slices, for callers that must not block: reads at most `records`
 * records.  SYM_AGAIN: there are more, call again with the same *mark and
 * *stat. Each slice has a snapshot of its own, because the writer cannot reuse
 * freed pages while an old snapshot is open: a module counts with its state
 * when the walk reads it, everything else with its state at the end.
 */
sym_status_t sym_store_stat_part(sym_store_t *store, sym_store_mark_t *mark,
                                 uint64_t records, sym_store_stat_t *stat,
                                 sym_error_t *err);

#endif
