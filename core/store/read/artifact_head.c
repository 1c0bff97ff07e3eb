#include "store/artifact_head.h"

#include "store/tables.h"

bool
sym_object_can_travel(const sym_object_record_t *record)
{
    return record->state == SYM_MODULE_READY
           && sym_kind_reads(record->kind, record->kind_version)
           && record->object.debug_id.form != SYM_DEBUG_ID_NONE;
}


bool
sym_object_is_shareable(const sym_object_record_t *record)
{
    return sym_object_can_travel(record) && record->reason.len == 0;
}


/* Adds what the record of its file has. */
static void
add_record(sym_artifact_file_t *file, const sym_path_record_t *record)
{
    file->features = record->features & SYM_FEATURES;
    file->lacks = record->tried & ~record->given;
    file->reader = record->reader;
}


size_t
sym_snapshot_artifact_head(sym_snapshot_t *s, sym_str_t scope,
                           const sym_object_record_t *record,
                           char out[SYM_ARTIFACT_HEAD_MAX])
{
    const sym_object_key_t *object = &record->object;
    char debug_id[SYM_ID_TEXT_MAX];
    sym_path_record_t from = { .outcome = 0 };
    sym_artifact_file_t file = {
        .kind = sym_kind_find(record->kind),
        .kind_version = record->kind_version,
        .quality = record->quality,
        .is_nameless = object->is_nameless,
        .extents = record->extents,
        .bytes = record->bytes,
        .source_bytes = record->source_bytes,
        .name = object->name,
        .debug_id = sym_str(
            debug_id, sym_debug_id_write_breakpad(&object->debug_id, debug_id)),
        .code_id = sym_str(object->code_id.text, object->code_id.len),
        .digest = sym_str((const char *) object->digest,
                          object->has_digest ? sizeof(object->digest) : 0),
        .reason = record->reason,
    };

    if (sym_object_file(s, scope, record, &from)) {
        add_record(&file, &from);
    }

    return sym_artifact_file_write(&file, out);
}


/* Writes the head of a file that lacks the kind; returns its length. */
static size_t
lack(sym_snapshot_t *s, const sym_path_key_t *path, sym_kind_t kind,
     char out[SYM_ARTIFACT_HEAD_MAX])
{
    sym_path_record_t record;
    sym_artifact_file_t file = { .kind = NULL };
    sym_error_t err = { 0 };

    if (sym_snapshot_path(s, path, &record, &err) != SYM_OK
        || record.outcome != SYM_PATH_READ)
    {
        return 0;
    }

    add_record(&file, &record);
    return (file.lacks >> kind & 1) != 0 ? sym_artifact_file_write(&file, out)
                                         : 0;
}


bool
sym_snapshot_shared(sym_snapshot_t *s, const sym_path_key_t *path,
                    const sym_object_ref_t *ref, sym_kind_t kind,
                    sym_shared_artifact_t *shared)
{
    sym_object_record_t record;
    sym_error_t err = { 0 };

    if (sym_snapshot_object(s, path->scope, ref, kind, &record, &err) == SYM_OK
        && sym_object_is_shareable(&record)
        && sym_object_is_from(&record, path))
    {
        shared->module_id = record.module_id;
        shared->slot = record.slot;
        shared->extents = record.extents;
        shared->n_head =
            sym_snapshot_artifact_head(s, path->scope, &record, shared->head);
    } else {
        shared->extents = 0;
        shared->n_head = lack(s, path, kind, shared->head);
    }

    return shared->n_head != 0;
}
