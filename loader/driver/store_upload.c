#include "driver/store_upload.h"

#include <stdio.h>
#include <string.h>


static sym_str_t
copy(char *to, sym_str_t from)
{
    if (from.len != 0) {
        memcpy(to, from.data, from.len);
    }

    return sym_str(to, from.len);
}


void
store_upload_set_key(store_upload_t *in, const sym_module_key_t *key)
{
    in->key.scope = copy(in->scope, key->scope);
    in->key.name = copy(in->name, key->name);
    in->key.id = sym_str(in->id, sym_debug_id_canonical(key->id, in->id));
    in->key.code_id = copy(in->asked_code_id, key->code_id);
}


/* Cuts the last component off path. */
static sym_str_t
cut_component(sym_str_t *path)
{
    size_t end = path->len, begin;

    while (end > 0 && path->data[end - 1] == '/') {
        end--;
    }

    begin = end;

    while (begin > 0 && path->data[begin - 1] != '/') {
        begin--;
    }

    path->len = begin;
    return sym_str(path->data + begin, end - begin);
}


bool
store_upload_layout(const char *path, sym_str_t *name, sym_str_t *id)
{
    sym_str_t rest = sym_cstr(path);
    char canonical[SYM_ID_MAX];

    (void) cut_component(&rest);
    *id = cut_component(&rest);
    *name = cut_component(&rest);

    return sym_debug_id_canonical(*id, canonical) != 0
           && sym_module_name_ok(*name);
}


/* By the debug id, or by the code id, as for PE files. */
static bool
is_id_of(const store_upload_t *in, sym_str_t id)
{
    char canonical[SYM_ID_MAX], reading[SYM_ID_MAX];
    sym_str_t is = { canonical, sym_debug_id_canonical(id, canonical) };

    if (sym_str_eq(is, in->key.id)
        || sym_str_eq(
            is, sym_str(reading, sym_debug_id_canonical(in->code_id, reading))))
    {
        return true;
    }

    return sym_debug_id_has_any_age(is) && in->key.id.len > SYM_UUID_DIGITS
           && memcmp(is.data, in->key.id.data, SYM_UUID_DIGITS) == 0;
}


bool
store_upload_folder_name(const store_upload_t *in, const char *path,
                         sym_str_t *name)
{
    sym_str_t id;

    return store_upload_layout(path, name, &id) && is_id_of(in, id);
}


static sym_str_t
without_ending(sym_str_t name, const char *const *endings)
{
    for (; *endings != NULL; endings++) {
        size_t len = strlen(*endings);

        if (name.len > len
            && memcmp(name.data + name.len - len, *endings, len) == 0) {
            name.len -= len;
            break;
        }
    }

    return name;
}


/* Name of the file in the folder, or in the archive. */
static sym_str_t
file_name(sym_str_t path)
{
    static const char *const of_symbols[] = { ".debug", ".dbg", NULL };
    const char *slash = memrchr(path.data, '/', path.len);
    size_t folders = slash != NULL ? (size_t) (slash + 1 - path.data) : 0;

    return without_ending(sym_str(path.data + folders, path.len - folders),
                          of_symbols);
}


/* Name of a file on disk, without the ending of its compression.  A pointer has
 * its folder's name. */
static sym_str_t
plain_name(const char *path)
{
    static const char *const of_packers[] = { ".gz", ".zst", ".xz", NULL };
    sym_str_t whole = sym_cstr(path), name, id;

    if (sym_str_ends_nocase(whole, SYM_STR("/file.ptr"))
        && store_upload_layout(path, &name, &id))
    {
        return name;
    }

    return file_name(without_ending(whole, of_packers));
}


static void
note_ids(store_upload_t *in, const pool_module_t *module)
{
    size_t len = module->code_id.len;

    in->kind = module->kind;
    in->is_native = module->is_nameless;
    in->code_id =
        copy(in->code_id_text,
             sym_str(module->code_id.data, len <= SYM_CODE_ID_MAX ? len : 0));
}


/* Whether a .sym file without a code id has the debug id of the build id. */
static bool
is_of_build(const pool_module_t *module, sym_str_t id, sym_str_t build_id)
{
    sym_code_id_t begin;

    return !module->is_nameless && module->code_id.len == 0
           && sym_code_id_read_debug_id(id, &begin)
           && sym_str_starts(build_id, sym_str(begin.text, begin.len));
}


static bool
has_code_id(const pool_module_t *module, sym_str_t id,
            const sym_module_key_t *key)
{
    char reading[SYM_ID_MAX];
    sym_code_id_t code_id;

    if (is_of_build(module, id, key->code_id)) {
        return true;
    }

    if (key->code_id.len != 0) {
        return sym_code_id_read(module->code_id, &code_id)
               && sym_str_eq(sym_str(code_id.text, code_id.len), key->code_id);
    }

    return sym_str_eq(
        sym_str(reading, sym_debug_id_canonical(module->code_id, reading)),
        key->id);
}


bool
store_upload_is_module(store_upload_t *in, const pool_module_t *module)
{
    char id[SYM_ID_MAX];
    size_t len = sym_debug_id_canonical(module->id, id);

    if (len == 0
        || (!sym_str_eq(sym_str(id, len), in->key.id)
            && !has_code_id(module, sym_str(id, len), &in->key)))
    {
        return false;
    }

    in->key.id = copy(in->id, sym_str(id, len));
    note_ids(in, module);
    return true;
}


sym_status_t
store_upload_name(store_upload_t *in, const char *path,
                  const pool_module_t *module, sym_error_t *err)
{
    sym_str_t name = module->name;

    note_ids(in, module);
    in->key.scope = SYM_STR("");
    in->key.id = sym_str(in->id, sym_debug_id_canonical(module->id, in->id));

    if (in->key.id.len == 0) {
        return sym_fail(err, SYM_MALFORMED,
                        "invalid debug id in the MODULE line");
    }

    if (module->is_nameless && !store_upload_folder_name(in, path, &name)) {
        name =
            module->name.len != 0 ? file_name(module->name) : plain_name(path);
    }

    if (!sym_module_name_ok(name) && !store_upload_folder_name(in, path, &name))
    {
        return sym_fail(err, SYM_MALFORMED,
                        "invalid name in the MODULE line (1 to 255 bytes, no "
                        "slash), and no folder that names the module");
    }

    in->key.name = copy(in->name, name);
    return SYM_OK;
}


sym_status_t
store_upload_begin(store_upload_t *in, sym_store_t *store, sym_error_t *err)
{
    sym_status_t rc =
        sym_ingest_begin(store, &in->key, in->kind, &in->ingest, err);

    in->is_store_error = rc != SYM_OK;

    if (rc != SYM_OK) {
        in->ingest = NULL;
    }

    return rc;
}


sym_status_t
store_upload_extent(store_upload_t *in, uint32_t number, const uint8_t *data,
                    size_t len, sym_error_t *err)
{
    sym_status_t rc = sym_ingest_extent(in->ingest, number, data, len, err);

    in->is_store_error = rc != SYM_OK;
    return rc;
}


void
store_upload_note(store_upload_t *in, const char *text)
{
    int len =
        snprintf(in->notes + in->notes_len, sizeof(in->notes) - in->notes_len,
                 "%s%s", in->notes_len != 0 ? "; " : "", text);

    if (len > 0) {
        in->notes_len += (size_t) len;
    }

    if (in->notes_len >= sizeof(in->notes)) {
        in->notes_len = sizeof(in->notes) - 1; /* it was cut */
    }
}


/* Better ones are higher. */
static unsigned
rank(unsigned quality, bool is_incomplete)
{
    return 2 * quality + !is_incomplete;
}


/* The rank of the module in the store now; false: it has none. */
static bool
stored_rank(const store_upload_t *in, sym_store_t *store, unsigned *is,
            sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_module_record_t record;
    sym_status_t rc = sym_snapshot_begin(store, &snapshot, err);

    if (rc != SYM_OK) {
        return false;
    }

    rc = sym_snapshot_find(snapshot, &in->key, in->kind, &record, err);
    sym_snapshot_end(snapshot);

    if (rc == SYM_NOT_FOUND) {
        *err = (sym_error_t){ 0 };
    }

    *is = rank(record.quality, record.reason.len != 0);
    return rc == SYM_OK && record.state == SYM_MODULE_READY;
}


static store_upload_result_t
judge(const store_upload_t *in, sym_store_t *store,
      const converter_done_t *done, const store_upload_origin_t *origin,
      sym_error_t *err)
{
    unsigned is = rank(done->quality, done->is_incomplete != 0), stored = 0;

    if (origin->force) {
        return origin->is_late ? STORE_UPLOAD_KEPT_LATER : STORE_UPLOAD_STORED;
    }

    if (!stored_rank(in, store, &stored, err)) {
        return err->status == SYM_OK ? STORE_UPLOAD_STORED
                                     : STORE_UPLOAD_FAILED;
    }

    if (stored > is
        || (origin->is_rest
            && (stored >= rank(sym_kind_find(in->kind)->good, false)
                || is < rank(sym_kind_find(in->kind)->good, false))))
    {
        return STORE_UPLOAD_KEPT_BETTER;
    }

    return stored == is && origin->is_late ? STORE_UPLOAD_KEPT_LATER
                                           : STORE_UPLOAD_STORED;
}


store_upload_result_t
store_upload_put(store_upload_t *in, sym_store_t *store,
                 const converter_done_t *done,
                 const store_upload_origin_t *origin, sym_error_t *err)
{
    sym_module_record_t record = {
        .state = SYM_MODULE_READY,
        .kind_version = sym_kind_find(in->kind)->version,
        .quality = (uint8_t) done->quality,
        .source_bytes = done->source_bytes,
        .source = origin->source,
        .reason = sym_str(in->notes, done->is_incomplete ? in->notes_len : 0),
        .attempts = origin->attempts,
        .is_native = in->is_native,
        .code_id = in->code_id,
    };
    store_upload_result_t result = judge(in, store, done, origin, err);

    if (result != STORE_UPLOAD_STORED) {
        in->is_store_error = result == STORE_UPLOAD_FAILED;
        return result; /* store_upload_drop() drops the ingest */
    }

    if (sym_ingest_put(in->ingest, &record, err) != SYM_OK) {
        in->ingest = NULL;
        in->is_store_error = true;
        return STORE_UPLOAD_FAILED;
    }

    return STORE_UPLOAD_STORED;
}


void
store_upload_drop(store_upload_t *in)
{
    if (in->ingest != NULL) {
        sym_ingest_abort(in->ingest);
        in->ingest = NULL;
    }
}
