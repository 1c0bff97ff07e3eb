#include "api/upload/assembly.h"

#include "base/sha1.h"
#include "json/raw.h"
#include "protocol/message.h"

/* Most of a request that is read in one turn; of an answer, bytes that are written. */
#define FILES_A_TURN 1000
#define BYTES_A_TURN ((size_t) 256 << 10)

/* Bytes of an answer for a file, besides its chunks and text. */
#define FILE_BYTES 128

static sym_str_t
copy(sym_arena_t *arena, const char *text)
{
    return text != NULL ? sym_arena_copy(arena, sym_cstr(text)) : SYM_STR("");
}


/* name NULL: it has none. */
static sym_status_t
read_file(sym_arena_t *arena, const char *checksum, const char *name,
          const json_t *value, sym_assembly_file_t *file, const char **why)
{
    const json_t *chunks = json_object_get(value, "chunks");
    const char *debug_id =
        json_string_value(json_object_get(value, "debug_id"));
    size_t n = json_array_size(chunks);
    bool is_too_long = n > SYM_RPC_CHUNKS_MAX;
    uint8_t *digests;

    if (checksum == NULL || name == NULL || !json_is_array(chunks)) {
        *why = "a file without its name or its chunks";
        return SYM_MALFORMED;
    }

    n = is_too_long ? 0 : n;
    digests = sym_arena_alloc(arena, SYM_RPC_CHUNK_BYTES * (1 + n));
    if (digests == NULL) {
        return SYM_NOMEM;
    }

    *why = "a checksum that is no SHA-1 in lower case";
    if (!sym_sha1_read(checksum, digests)) {
        return SYM_MALFORMED;
    }

    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(chunks, i));

        if (text == NULL
            || !sym_sha1_read(text, digests + SYM_RPC_CHUNK_BYTES * (i + 1)))
        {
            return SYM_MALFORMED;
        }
    }

    *file = (sym_assembly_file_t){
        .checksum = copy(arena, checksum),
        .name = copy(arena, name),
        .debug_id = copy(arena, debug_id),
        .digests =
            sym_str((const char *) digests, SYM_RPC_CHUNK_BYTES * (1 + n)),
        .state = is_too_long ? SYM_ASSEMBLY_ERROR : SYM_ASSEMBLY_CREATED,
        .text = SYM_STR("File exceeds maximum size"),
    };
    return file->checksum.data != NULL && file->name.data != NULL
                   && file->debug_id.data != NULL
               ? SYM_OK
               : SYM_NOMEM;
}


/* Any names of projects are accepted. */
static bool
has_projects(const json_t *root)
{
    const json_t *projects = json_object_get(root, "projects");
    size_t i = 0, n = json_array_size(projects);

    while (i < n
           && (json_is_string(json_array_get(projects, i))
               || json_is_integer(json_array_get(projects, i))))
    {
        i++;
    }

    return n != 0 && i == n;
}


static bool
has_text(const json_t *root, const char *key)
{
    return json_string_length(json_object_get(root, key)) != 0;
}


/* A request for the only file.  Its release and dist are in the bundle, too. */
static sym_status_t
read_bundle(sym_arena_t *arena, const json_t *root, sym_assembly_t *assembly,
            const char **why)
{
    const json_t *checksum = json_object_get(root, "checksum");

    /* requests that name a release in their path have no projects */
    if (json_object_get(root, "projects") != NULL && !has_projects(root)) {
        *why = "You need to specify at least one project";
        return SYM_MALFORMED;
    }

    if (has_text(root, "dist") && !has_text(root, "version")) {
        *why = "You need to specify a release together with a dist";
        return SYM_MALFORMED;
    }

    assembly->n = 1;
    return read_file(arena, json_string_value(checksum), "", root,
                     assembly->files, why);
}


/* --- several files --- */

/* Makes room for another file; old arrays stay in the arena. */
static sym_status_t
make_room(sym_arena_t *arena, sym_assembly_t *a, const char **why)
{
    size_t size = a->size != 0 ? 2 * a->size : 64;
    sym_assembly_file_t *files;

    if (a->n == SYM_ASSEMBLY_FILES_MAX) {
        *why = "more than 30000 files in one request";
        return SYM_LIMIT;
    }

    if (a->n < a->size) {
        return SYM_OK;
    }

    files = sym_arena_calloc(arena, size, sizeof(*files));
    if (files == NULL) {
        return SYM_NOMEM;
    }

    if (a->n != 0) {
        memcpy(files, a->files, a->n * sizeof(*files));
    }
    a->files = files;
    a->size = size;
    return SYM_OK;
}


static sym_status_t
add_file(sym_arena_t *arena, const char *checksum, const json_t *value,
         sym_assembly_t *a, const char **why)
{
    const char *name = json_string_value(json_object_get(value, "name"));
    sym_status_t rc = make_room(arena, a, why);

    rc = rc == SYM_OK
             ? read_file(arena, checksum, name, value, &a->files[a->n], why)
             : rc;
    a->n += rc == SYM_OK;
    return rc;
}


static sym_status_t
load(sym_json_t *json, sym_account_t *account, sym_str_t text)
{
    sym_error_t err = { 0 };

    return sym_json_load_charged(json, account, text, 0, "", &err);
}


static sym_status_t
read_member(sym_arena_t *arena, sym_account_t *account, sym_str_t key,
            sym_str_t text, sym_assembly_t *a, const char **why)
{
    char checksum[SYM_SHA1_TEXT];
    sym_json_t json;
    sym_status_t rc = load(&json, account, text);

    *why = "Invalid json body";
    if (rc == SYM_OK && key.len >= sizeof(checksum)) {
        *why = "a checksum that is no SHA-1 in lower case";
        rc = SYM_MALFORMED;
    }

    if (rc == SYM_OK) {
        memcpy(checksum, key.data, key.len);
        checksum[key.len] = '\0';
        rc = add_file(arena, checksum, json.root, a, why);
    }

    sym_json_drop(&json);
    return rc;
}


/* Finds the next member; *p is then after it, or at the closing brace.  False:
 * the text is not read this way. */
static bool
next_member(const char **p, const char *end, sym_str_t *key, sym_str_t *value)
{
    sym_raw_string_t string;
    const char *at = sym_raw_string(*p, end, &string);
    const char *last;

    at = at != NULL && !string.has_escapes ? sym_raw_space(at, end) : NULL;
    if (at == NULL || at == end || *at != ':') {
        return false;
    }

    at = sym_raw_space(at + 1, end);
    last = sym_raw_value(at, end);
    if (last == NULL) {
        return false;
    }

    *key = string.text;
    *value = sym_str(at, (size_t) (last - at));
    at = sym_raw_space(last, end);
    if (at == end || (*at != ',' && *at != '}')) {
        return false;
    }

    *p = *at == ',' ? sym_raw_space(at + 1, end) : at;
    return *at == '}' || *p == end || **p != '}';
}


static sym_status_t
read_members(sym_arena_t *arena, sym_account_t *account, sym_str_t body,
             sym_assembly_t *a, const char **why)
{
    const char *end = body.data + body.len, *p = a->at;
    const char *stop =
        (size_t) (end - p) > BYTES_A_TURN ? p + BYTES_A_TURN : end;
    sym_status_t rc = SYM_OK;

    for (unsigned n = 0; rc == SYM_OK && p < end && *p != '}'; n++) {
        sym_str_t key, value;

        if (p >= stop || n == FILES_A_TURN) {
            a->at = p;
            return SYM_AGAIN;
        }

        *why = "Invalid json body";
        rc = next_member(&p, end, &key, &value)
                 ? read_member(arena, account, key, value, a, why)
                 : SYM_MALFORMED;
    }

    return rc == SYM_OK && (p == end || sym_raw_space(p + 1, end) != end)
               ? SYM_MALFORMED
               : rc;
}


sym_status_t
sym_assembly_read(sym_arena_t *arena, sym_account_t *account, sym_str_t body,
                  sym_assembly_t *assembly, const char **why)
{
    const char *end = body.data + body.len;
    sym_json_t json = { .root = NULL };
    sym_status_t rc;

    *why = "Invalid json body";
    if (assembly->at != NULL) {
        return read_members(arena, account, body, assembly, why);
    }

    if (assembly->form != SYM_UPLOAD_SCRIPTS) {
        const char *p = body.len != 0 ? sym_raw_space(body.data, end) : end;

        if (p == end || *p != '{') {
            return SYM_MALFORMED;
        }
        assembly->at = sym_raw_space(p + 1, end);
        return SYM_AGAIN;
    }

    rc = make_room(arena, assembly, why);
    rc = rc == SYM_OK ? load(&json, account, body) : rc;
    if (rc == SYM_OK) {
        rc = json_is_object(json.root)
                 ? read_bundle(arena, json.root, assembly, why)
                 : SYM_MALFORMED;
    }

    sym_json_drop(&json);
    return rc;
}


static void
put_digest(sym_out_t *out, const char *bytes)
{
    char text[SYM_SHA1_TEXT];

    sym_sha1_write((const uint8_t *) bytes, text);
    sym_out_string(out, sym_cstr(text));
}


static void
put_missing(sym_out_t *out, const sym_assembly_file_t *f)
{
    size_t n = f->digests.len / SYM_RPC_CHUNK_BYTES - 1;
    bool is_first = true;

    for (size_t i = 0; i < n && i < f->text.len; i++) {
        if (f->text.data[i] == '1') {
            sym_out_raw(out, is_first ? SYM_STR("") : SYM_STR(", "));
            put_digest(out, f->digests.data + SYM_RPC_CHUNK_BYTES * (i + 1));
            is_first = false;
        }
    }
}


static void
put_state(sym_out_t *out, const sym_assembly_file_t *f, bool has_object)
{
    static const char *const states[] = { "created", "not_found", "assembling",
                                          "ok", "error" };

    sym_out_printf(out, "{\"state\": \"%s\", \"detail\": ", states[f->state]);
    if (f->state == SYM_ASSEMBLY_ERROR) {
        sym_out_string(out, f->text);
    } else {
        sym_out_raw(out, SYM_STR("null"));
    }

    sym_out_raw(out, SYM_STR(", \"missingChunks\": ["));
    if (f->state == SYM_ASSEMBLY_NOT_FOUND) {
        put_missing(out, f);
    }
    sym_out_raw(out, SYM_STR("]"));
    if (f->state == SYM_ASSEMBLY_OK && has_object) {
        sym_out_raw(out, SYM_STR(", \"dif\": "));
        sym_out_raw(out, f->text);
    }
    sym_out_raw(out, SYM_STR("}"));
}


bool
sym_assembly_write(const sym_assembly_t *assembly, size_t *next, sym_out_t *out)
{
    size_t cost = 0;

    if (assembly->form == SYM_UPLOAD_SCRIPTS) {
        put_state(out, assembly->files, false);
        return true;
    }

    if (*next == 0) {
        sym_out_raw(out, SYM_STR("{"));
    }

    for (; *next < assembly->n; ++*next) {
        const sym_assembly_file_t *f = &assembly->files[*next];

        if (cost > BYTES_A_TURN || (out->is_full && cost != 0)) {
            return false;
        }

        cost += FILE_BYTES + f->text.len + 2 * f->digests.len;
        sym_out_raw(out, *next == 0 ? SYM_STR("") : SYM_STR(", "));
        sym_out_string(out, f->checksum);
        sym_out_raw(out, SYM_STR(": "));
        put_state(out, f, true);
    }

    sym_out_raw(out, SYM_STR("}"));
    return true;
}
