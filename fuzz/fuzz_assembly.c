/*
 * Any bytes as a request to assemble files, read in turns.  Each file that is
 * accepted has digests of a whole number of chunks, and the answer is JSON with
 * as many members as the request has different files.
 */
#include "check.h"
#include "api/upload/assembly.h"
#include "protocol/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_answer(const sym_assembly_t *assembly)
{
    sym_error_t err = { 0 };
    sym_json_t json;
    size_t room = 4096 + assembly->n * 65536, next = 0;
    char *text = malloc(room);
    sym_out_t out = sym_out_fixed(text, room);

    check(text != NULL);
    while (!sym_assembly_write(assembly, &next, &out)) {
        check(next < assembly->n && !out.failed);
    }
    check(!out.failed);
    check(sym_json_load(&json, sym_str(text, (size_t) (out.pos - text)),
                        (size_t) 64 << 20, 0, "not JSON", &err)
          == SYM_OK);
    check(assembly->form == SYM_UPLOAD_SCRIPTS
          || json_object_size(json.root) <= assembly->n);
    sym_json_drop(&json);
    free(text);
}


static void
read_as(sym_str_t body, sym_upload_made_t form)
{
    sym_assembly_t assembly = { .form = form };
    const char *why = NULL;
    sym_account_t account = { 0 };
    sym_arena_t arena;
    sym_status_t rc;

    sym_arena_init(&arena, (size_t) 16 << 20);
    do {
        rc = sym_assembly_read(&arena, &account, body, &assembly, &why);
    } while (rc == SYM_AGAIN);

    check(rc == SYM_OK || why != NULL);
    if (rc == SYM_OK) {
        for (size_t i = 0; i < assembly.n; i++) {
            check(assembly.files[i].digests.len >= SYM_RPC_CHUNK_BYTES
                  && assembly.files[i].digests.len % SYM_RPC_CHUNK_BYTES == 0);
        }
        check_answer(&assembly);
    }

    sym_arena_drop(&arena);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sym_str_t body = sym_str((const char *) data, size);

    read_as(body, SYM_UPLOAD_FILES);
    read_as(body, SYM_UPLOAD_SCRIPTS);
    return 0;
}
