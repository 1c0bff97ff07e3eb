/*
 * sentry.c - chunk uploads of Sentry's clients (sentry-cli): options, chunks,
 * and assembling of debug files and of bundles of scripts.  The names of organizations and projects are ignored: the
 * token determines the rights.
 */
#include "api/upload/upload.h"
#include "json/member.h"
#include "object/object_id.h"
#include "protocol/message.h"

#define REQUEST_BYTES 33554432

#define API SYM_STR("/api/0")

/* Returns the path after "/api/0", which is in the location or in the rest of
 * the path; data NULL: it is missing. */
static sym_str_t
below(const sym_upload_call_t *call)
{
    sym_str_t base = call->base, path = call->path;

    if (base.len >= API.len
        && memcmp(base.data + base.len - API.len, API.data, API.len) == 0)
    {
        return path;
    }

    return sym_str_starts(path, SYM_STR("/api/0/"))
               ? sym_str(path.data + API.len, path.len - API.len)
               : sym_str(NULL, 0);
}


static bool
takes(const sym_upload_call_t *call)
{
    return below(call).data != NULL;
}


static sym_str_t
secret(const sym_upload_call_t *call)
{
    return sym_upload_bearer(call, "Bearer");
}


static bool
ends(const sym_upload_call_t *call, const char *end)
{
    size_t len = strlen(end);

    return call->path.len >= len
           && memcmp(call->path.data + call->path.len - len, end, len) == 0;
}


static bool
is_chunks(const sym_upload_call_t *call)
{
    return sym_str_starts(below(call), SYM_STR("/organizations/"))
           && ends(call, "/chunk-upload/");
}


/* A zip of files, in the form of upload-proguard. */
static bool
is_archive(const sym_upload_call_t *call)
{
    return sym_str_starts(below(call), SYM_STR("/projects/"))
           && ends(call, "/files/dsyms/");
}


static void
refuse(const sym_upload_call_t *call, sym_upload_refusal_t why,
       sym_str_t reason, sym_upload_answer_t *answer, sym_out_t *out)
{
    (void) call;
    sym_upload_refuse("detail", why, reason, answer, out);
}


static void
put_options(const sym_upload_call_t *call, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("{\"url\": \""));
    sym_out_escaped(out, call->base);
    sym_out_escaped(out, call->path);
    sym_out_printf(out,
                   "\", \"chunkSize\": %d, \"chunksPerRequest\": 64, "
                   "\"maxFileSize\": %lld, \"maxRequestSize\": %d, "
                   "\"concurrency\": 4, \"hashAlgorithm\": \"sha1\", "
                   "\"compression\": [\"gzip\"], \"maxWait\": 300, ",
                   SYM_RPC_CHUNK_LENGTH_MAX,
                   (long long) SYM_RPC_FILE_LENGTH_MAX, REQUEST_BYTES);
    sym_out_raw(out, SYM_STR("\"accept\": [\"debug_files\", \"pdbs\", "
                             "\"portablepdbs\", \"sources\", \"bcsymbolmaps\", "
                             "\"il2cpp\", \"proguard\", "
                             "\"release_files\", \"artifact_bundles\", "
                             "\"artifact_bundles_v2\"]}"));
}


static bool
reply(const sym_upload_call_t *call, sym_upload_answer_t *answer,
      sym_out_t *out)
{
    if (call->method == SYM_UPLOAD_POST
        && (is_chunks(call) || is_archive(call))) {
        return false;
    }

    *answer = (sym_upload_answer_t){ 200, "application/json" };
    if (is_chunks(call)) {
        put_options(call, out);
    } else if (sym_str_eq(below(call), SYM_STR("/"))) {
        sym_out_raw(out, SYM_STR("{\"version\": \"0\", \"auth\": {\"scopes\": "
                                 "[\"project:write\"]}, \"user\": null}"));
    } else {
        refuse(call, SYM_UPLOAD_NO_PATH, SYM_STR(""), answer, out);
    }

    return true;
}


static unsigned
flags(const sym_upload_call_t *call)
{
    return is_archive(call) ? SYM_RPC_FORM | SYM_RPC_ARCHIVE
                            : SYM_RPC_FORM | SYM_RPC_CHUNKED;
}


static sym_str_t
hint(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_STR("");
}


/* Writes an object in the form for Sentry's clients; false: the file has no
 * module. */
static bool
put_object(sym_str_t file, bool is_first, sym_arena_t *arena, sym_out_t *out)
{
    sym_json_items_t modules = sym_json_items(sym_json_member(file, "modules"));
    sym_str_t name = sym_json_text(arena, sym_json_member(file, "file"));
    sym_str_t module = SYM_STR(""), id, uuid;
    char text[SYM_ID_TEXT_MAX];
    sym_debug_id_t debug_id;

    (void) sym_json_next(&modules, &module);
    id = sym_json_text(arena, sym_json_member(module, "debug_id"));
    if (id.data == NULL || name.data == NULL
        || !sym_debug_id_read_breakpad(id, &debug_id))
    {
        return false;
    }

    uuid = sym_str(text, sym_debug_id_write_sentry(&debug_id, text));
    sym_out_raw(out,
                is_first ? SYM_STR("{\"uuid\": ") : SYM_STR(", {\"uuid\": "));
    sym_out_string(out, uuid);
    sym_out_raw(out, SYM_STR(", \"debugId\": "));
    sym_out_string(out, uuid);
    sym_out_raw(out, SYM_STR(", \"cpuName\": \"any\", \"objectName\": "));
    sym_out_string(out, name);
    sym_out_raw(out, SYM_STR(", \"sha1\": \"\", \"data\": {}}"));
    return true;
}


static void
answer_archive(const sym_upload_done_t *done, sym_out_t *out)
{
    sym_json_items_t files =
        sym_json_items(sym_json_member(done->report, "files"));
    sym_arena_t arena;
    bool is_first = true;
    sym_str_t file;

    sym_arena_init(&arena, 0);
    sym_out_raw(out, SYM_STR("["));
    while (sym_json_next(&files, &file)) {
        is_first = !put_object(file, is_first, &arena, out) && is_first;
        sym_arena_reset(&arena);
    }
    sym_out_raw(out, SYM_STR("]"));
    sym_arena_drop(&arena);
}


/* The answer to chunks: clients only read its status. */
static void
answer(const sym_upload_done_t *done, sym_upload_answer_t *to, sym_out_t *out)
{
    const sym_upload_counts_t *n = &done->counts;

    *to = (sym_upload_answer_t){ 200, "application/json" };
    if (n->failed != 0) {
        refuse(done->call, SYM_UPLOAD_UNAVAILABLE, SYM_STR(""), to, out);
    } else if (is_archive(done->call)) {
        answer_archive(done, out);
    } else if (n->refused != 0) {
        refuse(done->call, SYM_UPLOAD_MALFORMED,
               SYM_STR("a chunk that is empty, or has another SHA-1"), to, out);
    } else {
        sym_out_raw(out, SYM_STR("{}"));
    }
}


/* Clients before artifact bundles name the release in the path; their bundle
 * contains it, too. */
static bool
is_bundle(const sym_upload_call_t *call)
{
    return sym_str_starts(below(call), SYM_STR("/organizations/"))
           && ends(call, "/assemble/");
}


static sym_upload_made_t
assembles(const sym_upload_call_t *call)
{
    return call->method != SYM_UPLOAD_POST ? SYM_UPLOAD_NOTHING
           : is_bundle(call)               ? SYM_UPLOAD_SCRIPTS
           : sym_str_starts(below(call), SYM_STR("/projects/"))
                   && ends(call, "/files/difs/assemble/")
               ? SYM_UPLOAD_FILES
               : SYM_UPLOAD_NOTHING;
}


const sym_upload_protocol_t sym_upload_sentry = {
    .name = "sentry",
    .takes = takes,
    .methods = SYM_UPLOAD_GET | SYM_UPLOAD_POST,
    .secret = secret,
    .assembles = assembles,
    .reply = reply,
    .flags = flags,
    .hint = hint,
    .answer = answer,
    .refuse = refuse,
};
