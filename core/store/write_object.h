/*
 * write_object.h - objects and paths: writing.
 *
 * For the process that has the store open for writing (store/write.h).
 * Reading: store/object.h, store/path.h.
 */
#ifndef SYM_STORE_WRITE_OBJECT_H
#define SYM_STORE_WRITE_OBJECT_H

#include "store/object.h"
#include "store/write.h"

/* --- artifacts --- */

/* Begins to store an artifact; its extents follow (sym_ingest_extent()). */
sym_status_t sym_ingest_begin_object(sym_store_t *store, sym_kind_t kind,
                                     sym_ingest_t **ingest, sym_error_t *err);

typedef struct {
    sym_str_t scope;

    /* uses these fields: object, state, kind_version, quality, place,
     * source_bytes, expires_at, path (without `file`), reason */
    const sym_object_record_t *record;

    const sym_path_key_t *path; /* path of its file; NULL: loaded by hand */
    const sym_path_record_t *file;
    bool is_forced; /* replaces the stored artifact even if that has a higher
                       rank */
} sym_object_put_t;

/*
 * Puts its record and its file's record into the batch; sym_ingest_finish()
 * commits.  Frees the ingest if it fails.  *is_kept: false if the stored
 * artifact has a higher rank (sym_object_replaces()).  The file's record is
 * stored in any case.
 */
sym_status_t sym_ingest_put_object(sym_ingest_t *ingest,
                                   const sym_object_put_t *put, bool *is_kept,
                                   sym_error_t *err);

/* --- records of paths --- */

/* Whether the record is on disk. */
typedef struct {
    uint64_t batch, lost;
} sym_path_ticket_t;

/*
 * Puts a record into the batch.  If there is an artifact made from an earlier
 * file of the path, its ids stay in the record.  The oldest records without
 * artifacts are evicted to make room.
 */
sym_status_t sym_store_put_path(sym_store_t *store, const sym_path_key_t *key,
                                const sym_path_record_t *record,
                                sym_path_ticket_t *ticket, sym_error_t *err);

/* Commits the batch.  SYM_FULL and other errors: the ticket's record may be
 * lost. */
sym_status_t sym_store_flush_path(sym_store_t *store,
                                  const sym_path_ticket_t *ticket,
                                  sym_error_t *err);

/* --- removing --- */

/*
 * For a changed file of a source: removes the records of the path and of each
 * part of it after a slash, with any checksum, and the artifacts made from
 * these files.  *cleared is the number of records and artifacts.
 */
sym_status_t sym_store_clear_path(sym_store_t *store, sym_str_t scope,
                                  sym_str_t path, uint64_t *cleared,
                                  sym_error_t *err);

/* Same for all records that are stale. */
typedef bool (*sym_path_is_stale_pt)(void *ctx,
                                     const sym_path_record_t *record);
sym_status_t sym_store_clear_stale(sym_store_t *store,
                                   sym_path_is_stale_pt is_stale, void *ctx,
                                   uint64_t *cleared, sym_error_t *err);

/* Removes the objects that match a reference at one source (NULL: at all
 * sources), of one kind or of all kinds.  A reference without a name matches
 * all names.  SYM_NOT_FOUND: no object matched. */
sym_status_t sym_store_remove_objects(sym_store_t *store,
                                      const sym_str_t *scope,
                                      const sym_object_ref_t *ref,
                                      sym_kind_t kind, sym_error_t *err);

/*
 * Removes records of paths without artifacts whose file has one of the
 * reference's ids, or whose path contains one, in any spelling.  Reads at most
 * `records` of one source (NULL: of all).  SYM_AGAIN: there are more, call
 * again with the same *mark.  Adds to *removed.
 */
sym_status_t sym_store_forget_part(sym_store_t *store, const sym_str_t *scope,
                                   const sym_object_ref_t *ref,
                                   sym_store_mark_t *mark, uint64_t records,
                                   uint64_t *removed, sym_error_t *err);

#endif
