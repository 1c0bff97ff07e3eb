#include "api/upload/assembly.h"

#include "base/sha1.h"
#include "protocol/message.h"

static sym_status_t
read_file(sym_arena_t *arena, const char *checksum, const json_t *value,
          sym_assembly_file_t *file, const char **why)
{
    const json_t *chunks = json_object_get(value, "chunks");
    const char *name = json_string_value(json_object_get(value, "name"));
    size_t n = json_array_size(chunks);
    uint8_t *digests;

    if (name == NULL || !json_is_array(chunks)) {
        *why = "a file without its name or its chunks";
        return SYM_MALFORMED;
    }

    if (n > SYM_RPC_CHUNKS_MAX) {
        *why = "File exceeds maximum size";
        return SYM_LIMIT;
    }

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
        .digests =
            sym_str((const char *) digests, SYM_RPC_CHUNK_BYTES * (1 + n)),
    };
    return SYM_OK;
}


sym_status_t
sym_assembly_read(sym_arena_t *arena, const json_t *root,
                  sym_assembly_t *assembly, const char **why)
{
    size_t n = json_object_size(root);
    const char *checksum;
    json_t *value;

    *assembly = (sym_assembly_t){ .n = 0 };
    *why = "Invalid json body";
    if (!json_is_object(root)) {
        return SYM_MALFORMED;
    }

    assembly->files = sym_arena_calloc(arena, n + 1, sizeof(*assembly->files));
    if (assembly->files == NULL) {
        return SYM_NOMEM;
    }

    json_object_foreach((json_t *) root, checksum, value)
    {
        sym_status_t rc = read_file(arena, checksum, value,
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
put_file(sym_out_t *out, const sym_assembly_file_t *f)
{
    static const char *const states[] = { "created", "not_found", "assembling",
                                          "ok", "error" };

    sym_out_string(out, f->checksum);
    sym_out_printf(out, ": {\"state\": \"%s\", \"detail\": ", states[f->state]);
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
    if (f->state == SYM_ASSEMBLY_OK) {
        sym_out_raw(out, SYM_STR(", \"dif\": "));
        sym_out_raw(out, f->text);
    }
    sym_out_raw(out, SYM_STR("}"));
}


void
sym_assembly_write(const sym_assembly_t *assembly, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("{"));
    for (size_t i = 0; i < assembly->n; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("") : SYM_STR(", "));
        put_file(out, &assembly->files[i]);
    }
    sym_out_raw(out, SYM_STR("}"));
}
