/*
 * convert.c - Sentry's source bundles as a row of the formats.
 *
 * A bundle begins with "SYSB" and usually a version.  A zip follows, whose
 * manifest.json has the object's id and the type of each file (symbolic,
 * "sourcebundle"; docs/formats/sources.md).  The version is ignored, as in
 * symbolic, because some tools write none.  Files of type `source` go into an
 * artifact of kind `sources`, by path and by URL.  The other types are for
 * JavaScript (minified sources, source maps, RAM bundles).  Their files are
 * counted and left out, unless the bundle was fetched as one of JavaScript
 * (text.h).
 */
#include <stdlib.h>

#include "artifacts/sources/bundle_name.h"
#include "artifacts/sources/write/writer.h"
#include "base/path.h"
#include "formats/sourcebundle/text.h"
#include "formats/packed/inflate.h"
#include "formats/sourcebundle/zip.h"
#include "json/load.h"

#define MAGIC "SYSB"
#define MAGIC_BYTES 4

#define MANIFEST "manifest.json"

/* Limit on the total unpacked size, as a multiple of the bundle's. */
#define EXPANSION_MAX 1000

/* Limit on the size of one source file, as in Symbolicator. */
#define SOURCE_BYTES_MAX ((uint64_t) 1 << 30)

typedef struct {
    const sym_format_file_t *file;
    sym_zip_t zip;
    json_t *manifest, *files; /* part of the tree */
    uint64_t unpacked;        /* total size of the files so far */
    char *text;               /* text of the current file */
    size_t text_cap;
    bool is_of_artifacts; /* the bundle is one of JavaScript */
} bundle_t;


static bool
probe(const uint8_t *data, size_t len)
{
    return len >= MAGIC_BYTES && memcmp(data, MAGIC, MAGIC_BYTES) == 0;
}


static bool
is_wanted(const uint8_t *head, size_t len)
{
    (void) head;
    (void) len;
    return true; /* bundles have only one type */
}


static void
prepare(void)
{
    json_object_seed(0); /* reads random bytes */
}


/* --- the zip --- */

/* Unpacks a file of the zip to b->text, within all limits. */
static sym_status_t
unpack(bundle_t *b, const sym_zip_entry_t *entry, sym_error_t *err)
{
    if (entry->size > SOURCE_BYTES_MAX
        || entry->size > b->file->services->unpacked_max - b->unpacked)
    {
        return sym_fail(err, SYM_LIMIT,
                        "the files in it are larger than --max-expanded");
    }

    if (entry->size > EXPANSION_MAX * b->file->data.len - b->unpacked) {
        return sym_fail(err, SYM_LIMIT,
                        "the files in it are more than 1,000 times as large "
                        "as it is");
    }

    if (entry->size / SYM_INFLATE_RATIO_MAX > entry->packed) {
        return sym_fail(err, SYM_MALFORMED, SYM_UNPACK_SIZE);
    }

    b->unpacked += entry->size;

    if (b->text_cap < entry->size || b->text == NULL) {
        free(b->text);
        b->text_cap = (size_t) entry->size + 1;
        b->text = malloc(b->text_cap);

        if (b->text == NULL) {
            b->text_cap = 0;
            return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
        }
    }

    return sym_zip_read(&b->zip, entry, b->text, err);
}


static sym_status_t
find_manifest(bundle_t *b, sym_zip_entry_t *entry, sym_error_t *err)
{
    sym_status_t rc;

    do {
        rc = sym_zip_next(&b->zip, entry, err);
    } while (rc == SYM_OK && !sym_str_eq(entry->name, SYM_STR(MANIFEST)));

    sym_zip_rewind(&b->zip);
    return rc == SYM_NOT_FOUND
               ? sym_fail(err, SYM_MALFORMED,
                          "there is no manifest.json in the source bundle")
               : rc;
}


/* --- the manifest --- */

static sym_str_t
text_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_string(value)
               ? sym_str(json_string_value(value), json_string_length(value))
               : SYM_STR("");
}


/* Early bundles have no types: all their files are source files. */
static bool
is_source(json_t *file)
{
    sym_str_t type = text_of(file, "type");

    return type.len == 0 || sym_str_eq(type, SYM_STR("source"));
}


/* The file's entry in the manifest, or NULL. */
static json_t *
described(const bundle_t *b, sym_str_t name)
{
    json_t *file = json_object_getn(b->files, name.data, name.len);

    return json_is_object(file) ? file : NULL;
}


/* The value of a header, whose name is case-insensitive.  "": none. */
static sym_str_t
header_of(json_t *file, const char *name)
{
    json_t *value;
    const char *key;

    json_object_foreach(json_object_get(file, "headers"), key, value)
    {
        if (strcasecmp(key, name) == 0 && json_is_string(value)) {
            return sym_str(json_string_value(value), json_string_length(value));
        }
    }

    return SYM_STR("");
}


/* --- the artifact --- */

/* The URL of a script's map, from its headers. */
static sym_status_t
add_reference(sym_sources_writer_t *w, sym_str_t name, sym_str_t reference,
              sym_error_t *err)
{
    char text[SYM_SOURCES_PATH_MAX];

    if (name.len == 0 || reference.len == 0) {
        return SYM_OK;
    }

    text[0] = SYM_BUNDLE_REFERENCE;
    memcpy(text + 1, name.data, name.len);
    return sym_sources_add(w, sym_str(text, name.len + 1), SYM_STR(""),
                           reference, err);
}


static sym_status_t
add_artifact(bundle_t *b, sym_sources_writer_t *w, const sym_zip_entry_t *entry,
             sym_error_t *err)
{
    json_t *file = described(b, entry->name);
    char text[SYM_BUNDLE_NAME_MAX];
    sym_str_t url, name = SYM_STR(""), reference;
    sym_debug_id_t id;

    if (file == NULL) {
        return SYM_OK;
    }

    url = text_of(file, "url");
    reference = header_of(file, "sourcemap");
    reference = reference.len != 0 ? reference : header_of(file, "x-sourcemap");

    if (sym_debug_id_read_sentry(header_of(file, "debug-id"), &id)) {
        name = sym_bundle_name(text_of(file, "type"), &id, text);
    }

    if (name.len + url.len == 0 || url.len >= SYM_SOURCES_PATH_MAX) {
        sym_sources_leave_out(w);
        return SYM_OK;
    }

    if (unpack(b, entry, err) != SYM_OK
        || sym_sources_add(w, name, url, sym_str(b->text, (size_t) entry->size),
                           err)
               != SYM_OK)
    {
        return err->status;
    }

    return add_reference(w, name, reference, err) != SYM_OK
                   || add_reference(w, url, reference, err) != SYM_OK
               ? err->status
               : SYM_OK;
}


static sym_status_t
add_file(bundle_t *b, sym_sources_writer_t *w, const sym_zip_entry_t *entry,
         sym_error_t *err)
{
    json_t *file = described(b, entry->name);
    sym_str_t path, url;

    if (file == NULL) {
        return SYM_OK; /* the manifest itself, or a file without an entry */
    }

    path = text_of(file, "path");
    url = text_of(file, "url");

    if (!is_source(file) || path.len + url.len == 0
        || path.len > SYM_SOURCES_PATH_MAX || url.len > SYM_SOURCES_PATH_MAX)
    {
        sym_sources_leave_out(w);
        return SYM_OK;
    }

    return unpack(b, entry, err) != SYM_OK
               ? err->status
               : sym_sources_add(w, path, url,
                                 sym_str(b->text, (size_t) entry->size), err);
}


static sym_status_t
add_files(bundle_t *b, sym_sources_writer_t *w, sym_error_t *err)
{
    sym_zip_entry_t entry;
    sym_status_t rc = sym_zip_next(&b->zip, &entry, err);

    while (rc == SYM_OK) {
        rc = b->is_of_artifacts ? add_artifact(b, w, &entry, err)
                                : add_file(b, w, &entry, err);
        rc = rc != SYM_OK ? rc : sym_zip_next(&b->zip, &entry, err);
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* A finish() of a sym_format_output_t. */
static sym_status_t
finish(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
       void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    sym_sources_writer_t *w = sym_sources_writer_create(put, ctx, err);
    sym_status_t rc = w == NULL ? err->status : add_files(writer, w, err);

    (void) info; /* the store's record contains the name */
    rc = rc != SYM_OK ? rc : sym_sources_finish(w, stats, err);
    sym_sources_writer_free(w);
    return rc;
}


static sym_status_t
put_object(bundle_t *b, sym_error_t *err)
{
    char id[SYM_ID_MAX];
    size_t id_len = sym_uuid_canonical(text_of(b->manifest, "debug_id"), id);
    const sym_module_info_t info = {
        .debug_id = id_len != 0 ? sym_str(id, id_len) : b->file->asked_id,
        .debug_file = text_of(b->manifest, "object_name"),
        .code_id = text_of(b->manifest, "code_id"),
        .arch = text_of(b->manifest, "arch"),
        .source_bytes = b->file->data.len,
    };
    const sym_format_output_t output = {
        .kind = SYM_KIND_SOURCES, .info = &info, .writer = b, .finish = finish
    };

    if (info.debug_id.len == 0) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the source bundle names no object: manifest.json has "
                        "no debug_id");
    }

    return b->file->put(b->file->ctx, &output, err);
}


/* --- the file --- */

/* Symbolicator does not read bundles with any other attribute. */
static bool
has_texts(json_t *manifest)
{
    const char *key;
    json_t *value;

    json_object_foreach(manifest, key, value)
    {
        if (!json_is_string(value) && strcmp(key, "files") != 0) {
            return false;
        }
    }

    return true;
}


static sym_status_t
open_bundle(bundle_t *b, sym_json_t *json, sym_error_t *err)
{
    sym_zip_entry_t manifest;

    if (sym_zip_open(&b->zip, b->file->data, err) != SYM_OK
        || sym_zip_check(&b->zip, err) != SYM_OK
        || find_manifest(b, &manifest, err) != SYM_OK
        || unpack(b, &manifest, err) != SYM_OK
        || sym_json_load(json, sym_str(b->text, (size_t) manifest.size),
                         SYM_JSON_CONVERTER_MAX, 0, "manifest.json is not JSON",
                         err)
               != SYM_OK)
    {
        return err->status;
    }

    b->manifest = json->root;
    b->files = json_object_get(json->root, "files");

    if (b->is_of_artifacts && !has_texts(b->manifest)) {
        return sym_fail(err, SYM_MALFORMED,
                        "an attribute in manifest.json is not a string");
    }

    return json_is_object(b->files)
               ? SYM_OK
               : sym_fail(err, SYM_MALFORMED, "manifest.json has no files");
}


static sym_status_t
convert_bundle(bundle_t *b, sym_error_t *err)
{
    sym_json_t json = { 0 };
    sym_status_t rc = open_bundle(b, &json, err);

    rc = rc == SYM_OK ? put_object(b, err) : rc;
    sym_json_drop(&json);
    free(b->text);
    return rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    bundle_t b = { .file = f };

    (void) which; /* the file has one object */
    return convert_bundle(&b, err);
}


sym_status_t
sym_artifact_bundle_convert(const sym_format_file_t *f, sym_error_t *err)
{
    bundle_t b = { .file = f, .is_of_artifacts = true };

    return probe((const uint8_t *) f->data.data, f->data.len)
               ? convert_bundle(&b, err)
               : sym_fail(err, SYM_MALFORMED, "not a bundle of artifacts");
}


/* --- each file of a bundle of JavaScript --- */

/* A text that becomes part of a path; "" if it has control characters. */
static sym_str_t
path_of(json_t *object, const char *key)
{
    sym_str_t text = text_of(object, key);

    for (size_t i = 0; i < text.len; i++) {
        if ((uint8_t) text.data[i] < ' ' || text.data[i] == 0x7f) {
            return SYM_STR("");
        }
    }

    return text;
}


static bool
describe(const bundle_t *b, const sym_zip_entry_t *entry,
         sym_artifact_file_t *file)
{
    json_t *of = described(b, entry->name);

    if (of == NULL || entry->size == 0) {
        return false;
    }

    *file = (sym_artifact_file_t){ .release = path_of(b->manifest, "release"),
                                   .dist = path_of(b->manifest, "dist"),
                                   .type = text_of(of, "type"),
                                   .url = path_of(of, "url") };
    return sym_debug_id_read_sentry(header_of(of, "debug-id"), &file->debug_id)
           || file->url.len != 0;
}


sym_status_t
sym_artifact_bundle_each(const sym_format_file_t *f, uint64_t most,
                         sym_status_t (*put)(void *ctx,
                                             const sym_artifact_file_t *file,
                                             sym_error_t *err),
                         void *ctx, sym_error_t *err)
{
    bundle_t b = { .file = f, .is_of_artifacts = true };
    sym_json_t json = { 0 };
    sym_artifact_file_t file;
    sym_zip_entry_t entry;
    sym_status_t rc =
        probe((const uint8_t *) f->data.data, f->data.len)
            ? open_bundle(&b, &json, err)
            : sym_fail(err, SYM_MALFORMED, "not a bundle of artifacts");

    if (rc == SYM_OK && b.zip.n_entries > most) {
        rc = sym_fail(err, SYM_LIMIT, "the bundle has too many files");
    }

    while (rc == SYM_OK && (rc = sym_zip_next(&b.zip, &entry, err)) == SYM_OK) {
        if (describe(&b, &entry, &file)) {
            rc = unpack(&b, &entry, err);
            file.text = sym_str(b.text, (size_t) entry.size);
            rc = rc == SYM_OK ? put(ctx, &file, err) : rc;
        }
    }

    sym_json_drop(&json);
    free(b.text);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* --- one file --- */

/* Whether the entry is a source file with this path, in any spelling. */
static bool
has_path(const bundle_t *b, const sym_zip_entry_t *entry, sym_str_t path)
{
    char clean[SYM_SOURCES_PATH_MAX + 1];
    json_t *file = described(b, entry->name);
    sym_str_t spelt = file != NULL ? text_of(file, "path") : SYM_STR("");

    return spelt.len != 0 && spelt.len <= SYM_SOURCES_PATH_MAX
           && is_source(file)
           && (sym_str_eq(spelt, path)
               || sym_str_eq(sym_str(clean, sym_clean_path(spelt, clean)),
                             path));
}


sym_status_t
sym_source_bundle_find(const sym_format_file_t *f, sym_str_t path,
                       sym_status_t (*put)(void *ctx, sym_str_t text,
                                           sym_error_t *err),
                       void *ctx, sym_error_t *err)
{
    bundle_t b = { .file = f };
    sym_json_t json = { 0 };
    sym_zip_entry_t entry;
    sym_status_t rc = probe((const uint8_t *) f->data.data, f->data.len)
                          ? open_bundle(&b, &json, err)
                          : sym_fail(err, SYM_MALFORMED, "not a source bundle");

    while (rc == SYM_OK) {
        rc = sym_zip_next(&b.zip, &entry, err);
        if (rc == SYM_OK && has_path(&b, &entry, path)) {
            rc = unpack(&b, &entry, err);
            rc = rc == SYM_OK
                     ? put(ctx, sym_str(b.text, (size_t) entry.size), err)
                     : rc;
            break;
        }
    }

    sym_json_drop(&json);
    free(b.text);
    return rc == SYM_NOT_FOUND
               ? sym_fail(err, SYM_UNSUPPORTED, "the bundle has no such file")
               : rc;
}


const sym_format_t sym_format_sourcebundle = {
    .title = "source bundle",
    .probe = probe,
    .is_wanted = is_wanted,
    .prepare = prepare,
    .is_nameless = true,
    .convert = convert,
};
