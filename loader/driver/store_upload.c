#include "driver/store_upload.h"

#include <stdio.h>
#include <string.h>

#include "object/file_id.h"

static sym_str_t
copy(char *to, sym_str_t from)
{
    if (from.len != 0) {
        memcpy(to, from.data, from.len);
    }

    return sym_str(to, from.len);
}


/* Copies only the ids. */
static void
expect(store_upload_t *in, const sym_object_ref_t *ref)
{
    in->is_named = sym_object_ref_name(ref).len != 0;
    in->ref = (sym_object_ref_t){ .is_either = ref->is_either,
                                  .has_file_id = ref->has_file_id,
                                  .has_digest = ref->has_digest,
                                  .debug_id = ref->debug_id,
                                  .code_id = ref->code_id,
                                  .role = ref->role };
    memcpy(in->ref.file_id, ref->file_id, sizeof(in->ref.file_id));
    memcpy(in->ref.digest, ref->digest, sizeof(in->ref.digest));

    if (ref->url.len != 0) {
        in->ref.has_digest = sym_object_ref_digest(ref, in->ref.digest);
    }
}


void
store_upload_set_key(store_upload_t *in, const sym_module_key_t *key,
                     const sym_object_ref_t *ref)
{
    sym_object_ref_t own;

    if (ref == NULL) {
        sym_object_ref_of_key(key, &own);
        ref = &own;
    }

    expect(in, ref);
    in->key.scope = copy(in->scope, key->scope);
    in->key.name = copy(in->name, key->name);
    in->key.id = sym_str(in->id, sym_debug_id_canonical(key->id, in->id));
}


void
store_upload_set_site(store_upload_t *in, sym_str_t url)
{
    const sym_object_ref_t ref = { .url = url, .role = sym_text_role_of(url) };

    in->has_site = url.len != 0 && sym_object_ref_digest(&ref, in->site);
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


/* Whether the module matches by its debug id, or by its code id as for PE
 * files. */
static bool
is_id_of(const store_upload_t *in, sym_str_t id)
{
    const sym_code_id_t *code_id = &in->object.code_id;
    char canonical[SYM_ID_MAX], reading[SYM_ID_MAX];
    sym_str_t is = { canonical, sym_debug_id_canonical(id, canonical) };

    if (sym_str_eq(is, in->key.id)
        || sym_str_eq(
            is, sym_str(reading,
                        sym_debug_id_canonical(
                            sym_str(code_id->text, code_id->len), reading))))
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


/* Returns the name of the file in the folder, or in the archive. */
static sym_str_t
file_name(sym_str_t path)
{
    static const char *const of_symbols[] = { ".debug", ".dbg", ".symbfile",
                                              NULL };
    const char *slash = memrchr(path.data, '/', path.len);
    size_t folders = slash != NULL ? (size_t) (slash + 1 - path.data) : 0;

    return without_ending(sym_str(path.data + folders, path.len - folders),
                          of_symbols);
}


/* Returns the name of a file on disk without the ending of its compression.
 * For a pointer it is the name of the folder. */
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


/* Returns the length of the id of a file that contains none (0: none): its name
 * is FILEID.ENDING, or its folder is NAME/FILEID. */
static size_t
id_of_path(const char *path, char id[SYM_ID_TEXT_MAX])
{
    sym_str_t rest = sym_cstr(path), name = cut_component(&rest), folder;
    const char *dot = memchr(name.data, '.', name.len);
    uint8_t file_id[SYM_FILE_ID_BYTES];
    sym_debug_id_t debug_id;

    name.len = dot != NULL ? (size_t) (dot - name.data) : name.len;
    folder = cut_component(&rest);

    if (sym_file_id_read(name, file_id) || sym_file_id_read(folder, file_id)) {
        debug_id = sym_file_id_debug_id(file_id);
    } else if (!sym_debug_id_read_breakpad(folder, &debug_id)) {
        return 0;
    }

    return sym_debug_id_write_breakpad(&debug_id, id);
}


/* The ids of the file. */
static void
note_ids(store_upload_t *in, const pool_module_t *module)
{
    char id[SYM_ID_MAX];
    sym_str_t canonical = { id, sym_debug_id_canonical(module->id, id) };

    in->kind = module->kind;
    in->object = (sym_object_key_t){ .is_nameless = module->is_nameless };
    in->key.id = copy(in->id, canonical);
    (void) sym_code_id_read(module->code_id, &in->object.code_id);

    if (in->ref.has_digest || in->has_site) {
        in->object.has_digest = true;
        memcpy(in->object.digest,
               in->ref.has_digest ? in->ref.digest : in->site,
               sizeof(in->object.digest));
    }

    if (!in->ref.has_digest) {
        (void) sym_debug_id_read_breakpad(canonical, &in->object.debug_id);
    }
}


/* Whether a .sym file without a code id has the debug id of the build id. */
static bool
is_of_build(const store_upload_t *in)
{
    const sym_object_key_t *is = &in->object;
    const sym_code_id_t *code_id = &in->ref.code_id;
    sym_code_id_t begin;

    return !is->is_nameless && is->code_id.len == 0
           && sym_code_id_read_debug_id(in->key.id, &begin)
           && sym_str_starts(sym_str(code_id->text, code_id->len),
                             sym_str(begin.text, begin.len));
}


bool
store_upload_is_module(store_upload_t *in, const pool_module_t *module)
{
    sym_str_t asked = in->key.id, name = module->name;
    char text[SYM_ID_MAX];
    sym_file_ids_t ids;

    asked = copy(text, asked);
    note_ids(in, module);
    ids = (sym_file_ids_t){ in->object.debug_id, in->object.code_id };

    if (in->key.id.len == 0
        || !(in->ref.has_digest
                 ? sym_str_eq(in->key.id, asked)
                 : sym_object_ref_matches(&in->ref, &ids) || is_of_build(in)))
    {
        in->key.id = copy(in->id, asked);
        return false;
    }

    /* the requested name is used: files are often found under several names */
    if (!in->is_named && !in->ref.has_digest && !module->is_nameless
        && sym_module_name_ok(name))
    {
        in->key.name = copy(in->name, name);
    }

    return true;
}


sym_status_t
store_upload_name(store_upload_t *in, const char *path,
                  const pool_module_t *file, sym_error_t *err)
{
    pool_module_t named = *file;
    const pool_module_t *module = &named;
    sym_str_t name = module->name;
    char id[SYM_ID_TEXT_MAX];

    if (named.is_nameless && named.id.len == 0) {
        named.id = sym_str(id, id_of_path(path, id));
    }

    note_ids(in, module);
    if (module->digest.len != 0 && !in->object.has_digest) {
        in->object.has_digest = true;
        memcpy(in->object.digest, module->digest.data, module->digest.len);
    }
    in->key.scope = SYM_STR("");

    if (in->key.id.len == 0 && module->is_nameless) {
        return sym_fail(err, SYM_MALFORMED,
                        "the file does not contain the id of its executable; "
                        "name it FILEID.symbfile, or its folder NAME/FILEID");
    }

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
        sym_ingest_begin_object(store, in->kind, &in->ingest, err);

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


store_upload_result_t
store_upload_put(store_upload_t *in, const converter_done_t *done,
                 const store_upload_origin_t *origin, sym_error_t *err)
{
    sym_object_record_t record = {
        .object = in->object,
        .state = SYM_MODULE_READY,
        .kind_version = sym_kind_find(in->kind)->version,
        .quality = (uint8_t) done->quality,
        .place = origin->path != NULL ? origin->place : origin->is_late,
        .source_bytes = done->source_bytes,
        .path = origin->source,
        .reason = sym_str(in->notes, done->is_incomplete ? in->notes_len : 0),
    };
    const sym_object_put_t put = { .scope = in->key.scope,
                                   .record = &record,
                                   .path = origin->path,
                                   .file = origin->file,
                                   .is_forced = origin->force };
    bool is_kept;

    if (origin->force && origin->is_late) {
        store_upload_drop(in);
        return STORE_UPLOAD_KEPT_LATER;
    }

    record.object.name = in->key.name;
    if (sym_ingest_put_object(in->ingest, &put, &is_kept, err) != SYM_OK) {
        in->ingest = NULL;
        in->is_store_error = true;
        return STORE_UPLOAD_FAILED;
    }

    return is_kept           ? STORE_UPLOAD_STORED
           : origin->is_late ? STORE_UPLOAD_KEPT_LATER
                             : STORE_UPLOAD_KEPT_BETTER;
}


void
store_upload_drop(store_upload_t *in)
{
    if (in->ingest != NULL) {
        sym_ingest_abort(in->ingest);
        in->ingest = NULL;
    }
}
