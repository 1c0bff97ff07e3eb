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


bool
sym_snapshot_shareable(sym_snapshot_t *s, const sym_path_key_t *path,
                       const sym_object_ref_t *ref, sym_kind_t kind,
                       sym_object_record_t *record)
{
    sym_error_t err = { 0 };

    return sym_snapshot_object(s, path->scope, ref, kind, record, &err)
               == SYM_OK
           && sym_object_is_shareable(record)
           && sym_object_is_from(record, path);
}


/* The contents of the file that it was made from; 0: unknown. */
static uint16_t
features(sym_snapshot_t *s, sym_str_t scope, const sym_object_record_t *record)
{
    sym_path_record_t file;

    return sym_object_file(s, scope, record, &file)
               ? file.features & SYM_FEATURES
               : 0;
}


size_t
sym_snapshot_artifact_head(sym_snapshot_t *s, sym_str_t scope,
                           const sym_object_record_t *record,
                           char out[SYM_ARTIFACT_HEAD_MAX])
{
    const sym_object_key_t *object = &record->object;
    char debug_id[SYM_ID_TEXT_MAX];
    const sym_artifact_file_t file = {
        .kind = sym_kind_find(record->kind),
        .kind_version = record->kind_version,
        .quality = record->quality,
        .features = features(s, scope, record),
        .is_nameless = object->is_nameless,
        .extents = record->extents,
        .source_bytes = record->source_bytes,
        .name = object->name,
        .debug_id = sym_str(
            debug_id, sym_debug_id_write_breakpad(&object->debug_id, debug_id)),
        .code_id = sym_str(object->code_id.text, object->code_id.len),
        .digest = sym_str((const char *) object->digest,
                          object->has_digest ? sizeof(object->digest) : 0),
        .reason = record->reason,
    };

    return sym_artifact_file_write(&file, out);
}
