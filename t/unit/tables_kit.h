/*
 * tables_kit.h - shared by the tests of objects and paths: references, records,
 * and artifacts of a few bytes.
 */
#ifndef SYM_UNIT_TABLES_KIT_H
#define SYM_UNIT_TABLES_KIT_H

#include "store/write_object.h"
#include "store_kit.h"

#define ID_A "3BADD00D1111222233334444555566661"
#define ID_B "3BADD00D1111222233334444555577771"
#define UUID_A "3BADD00D111122223333444455556666"
#define BUILD_A "0dd0ad3b111122223333444455556666a1b2c3d4"

#define NOW 1700000000
#define SYMCACHE (1u << SYM_KIND_SYMCACHE)
#define SOURCES (1u << SYM_KIND_SOURCES)
#define PPDB (1u << SYM_KIND_PPDB)

/* Texts may be NULL. */
__attribute__((unused)) static sym_object_ref_t
ref_of(const char *name, const char *debug_id, const char *code_id)
{
    sym_object_ref_t ref = { .debug_file = sym_cstr(name != NULL ? name : "") };

    if (debug_id != NULL
        && !sym_debug_id_read_breakpad(sym_cstr(debug_id), &ref.debug_id))
    {
        ok(false, "a debug id: %s", debug_id);
    }
    if (code_id != NULL && !sym_code_id_read(sym_cstr(code_id), &ref.code_id)) {
        ok(false, "a code id: %s", code_id);
    }
    return ref;
}


__attribute__((unused)) static sym_object_key_t
object_of(const sym_object_ref_t *ref, bool is_nameless)
{
    return (sym_object_key_t){ .type = ref->type,
                               .is_nameless = is_nameless,
                               .debug_id = ref->debug_id,
                               .code_id = ref->code_id,
                               .name = ref->debug_file };
}


/* A record of a path, stored NOW, that expires after the given seconds. */
__attribute__((unused)) static sym_path_record_t
path_of(sym_path_outcome_t outcome, uint32_t ttl_s)
{
    return (sym_path_record_t){ .outcome = outcome,
                                .expires_at = ttl_s != 0 ? NOW + ttl_s : 0,
                                .stored_at = NOW,
                                .reader = sym_kinds_reader() };
}


/* A file that was read, with the reference's ids, the kinds tried and the kinds
 * found. */
__attribute__((unused)) static sym_path_record_t
file_of(const sym_object_ref_t *ref, uint32_t tried, uint32_t given)
{
    sym_path_record_t r = path_of(SYM_PATH_READ, 3600);
    sym_store_id_t ids[SYM_REF_IDS];

    r.n_ids = sym_store_ids_of_ref(ref, ids);
    memcpy(r.ids, ids, r.n_ids * sizeof(ids[0]));
    r.tried = tried;
    r.given = given;
    return r;
}


typedef struct {
    const char *scope, *path, *checksum; /* path NULL: loaded by hand */
    sym_kind_t kind;
    uint8_t quality;
    uint16_t place;
    const char *reason;
    uint32_t source_bytes;
    bool is_named;
} artifact_t;

/* Stores an artifact of `extents` small extents.  Its file is the given one, or
 * one in which only this kind was found. */
__attribute__((unused)) static sym_status_t
put_artifact(sym_store_t *w, const sym_object_ref_t *ref, const artifact_t *a,
             const sym_path_record_t *file, bool *is_kept)
{
    const sym_kind_row_t *row = sym_kind_find(a->kind);
    sym_path_record_t own = file_of(ref, 1u << a->kind, 1u << a->kind);
    sym_path_key_t path = { sym_cstr(a->scope),
                            sym_cstr(a->path != NULL ? a->path : ""),
                            sym_cstr(a->checksum != NULL ? a->checksum : "") };
    sym_object_record_t record = {
        .object = object_of(ref, !a->is_named),
        .state = SYM_MODULE_READY,
        .kind_version = row != NULL ? row->version : 1,
        .quality = a->quality,
        .place = a->place,
        .source_bytes = a->source_bytes,
        .path = SYM_STR("by/hand"),
        .reason = sym_cstr(a->reason != NULL ? a->reason : "")
    };
    sym_object_put_t put = { .scope = path.scope,
                             .record = &record,
                             .path = a->path != NULL ? &path : NULL,
                             .file = file != NULL ? file : &own };
    sym_ingest_t *ingest;
    bool unused;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin_object(w, a->kind, &ingest, &kit_err) != SYM_OK) {
        return kit_err.status;
    }
    if (sym_ingest_extent(ingest, 0, (const uint8_t *) "artifact", 8, &kit_err)
        != SYM_OK)
    {
        sym_ingest_abort(ingest);
        return kit_err.status;
    }
    if (sym_ingest_put_object(ingest, &put, is_kept != NULL ? is_kept : &unused,
                              &kit_err)
        != SYM_OK)
    {
        return kit_err.status;
    }
    return sym_ingest_finish(ingest, &kit_err);
}


__attribute__((unused)) static sym_status_t
put_path(sym_store_t *w, const char *scope, const char *path,
         const char *checksum, const sym_path_record_t *record)
{
    sym_path_key_t key = { sym_cstr(scope), sym_cstr(path),
                           sym_cstr(checksum) };
    sym_path_ticket_t ticket;

    kit_err = (sym_error_t){ 0 };
    return sym_store_put_path(w, &key, record, &ticket, &kit_err) == SYM_OK
               ? sym_store_flush_path(w, &ticket, &kit_err)
               : kit_err.status;
}


/* source_bytes of the artifact found for a reference; 0: none. */
__attribute__((unused)) static uint64_t
answer(sym_store_t *store, const char *scope, const sym_object_ref_t *ref,
       sym_kind_t kind)
{
    sym_object_record_t record;
    sym_snapshot_t *s;
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (sym_snapshot_begin(store, &s, &err) != SYM_OK) {
        return UINT64_MAX;
    }
    rc = sym_snapshot_object(s, sym_cstr(scope), ref, kind, &record, &err);
    sym_snapshot_end(s);
    return rc == SYM_OK ? record.source_bytes : 0;
}


/* The record of a path; outcome 0: none. */
__attribute__((unused)) static sym_path_record_t
path_in(sym_store_t *store, const char *scope, const char *path,
        const char *checksum)
{
    sym_path_key_t key = { sym_cstr(scope), sym_cstr(path),
                           sym_cstr(checksum) };
    sym_path_record_t record = { 0 };
    sym_snapshot_t *s;
    sym_error_t err = { 0 };

    if (sym_snapshot_begin(store, &s, &err) == SYM_OK) {
        if (sym_snapshot_path(s, &key, &record, &err) != SYM_OK) {
            record.outcome = 0;
        }
        sym_snapshot_end(s);
    }
    /* views are valid until the snapshot ends */
    record.word = record.reason = record.url = sym_str("", 0);
    return record;
}

#endif
