#include "api/upload/assembly.h"

#include "base/sha1.h"
#include "protocol/message.h"

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
        .checksum = sym_str(checksum, SYM_SHA1_TEXT - 1),
        .name = sym_cstr(name),
        .debug_id = sym_cstr(debug_id != NULL ? debug_id : ""),
        .digests =
            sym_str((const char *) digests, SYM_RPC_CHUNK_BYTES * (1 + n)),
        .state = is_too_long ? SYM_ASSEMBLY_ERROR : SYM_ASSEMBLY_CREATED,
        .text = SYM_STR("File exceeds maximum size"),
    };
    return SYM_OK;
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


sym_status_t
sym_assembly_read(sym_arena_t *arena, const json_t *root,
                  sym_assembly_t *assembly, const char **why)
{
    size_t n = json_object_size(root);
    const char *checksum;
    json_t *value;

    *why = "Invalid json body";
    if (!json_is_object(root)) {
        return SYM_MALFORMED;
    }

    assembly->files = sym_arena_calloc(arena, n + 1, sizeof(*assembly->files));
    if (assembly->files == NULL) {
        return SYM_NOMEM;
    }

    if (assembly->is_bundle) {
        return read_bundle(arena, root, assembly, why);
    }

    json_object_foreach((json_t *) root, checksum, value)
    {
        const char *name = json_string_value(json_object_get(value, "name"));
        sym_status_t rc = read_file(arena, checksum, name, value,
                                    &assembly->files[assembly->n], why);

        if (rc != SYM_OK) {
            return rc;
        }
        assembly->n++;
    }

    return SYM_OK;
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


void
sym_assembly_write(const sym_assembly_t *assembly, sym_out_t *out)
{
    if (assembly->is_bundle) {
        put_state(out, assembly->files, false);
        return;
    }

    sym_out_raw(out, SYM_STR("{"));
    for (size_t i = 0; i < assembly->n; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("") : SYM_STR(", "));
        sym_out_string(out, assembly->files[i].checksum);
        sym_out_raw(out, SYM_STR(": "));
        put_state(out, &assembly->files[i], true);
    }
    sym_out_raw(out, SYM_STR("}"));
}
