/*
 * mozilla.c - POST /upload/ of Tecken, Mozilla's symbol server: a zip of files
 * A/HEX/B, with its statuses and texts.  And POST /upload/v2/: a list of files,
 * which are sent one by one (session.c).
 */
#include <stdio.h>

#include "api/upload/by_url.h"
#include "api/upload/upload.h"
#include "base/date.h"
#include "json/member.h"
#include "protocol/message.h"

/* A question about the token, which has no body. */
static bool
is_auth_info(const sym_upload_call_t *call)
{
    return sym_str_eq(call->path, SYM_STR("/auth_info/"))
           || sym_str_eq(call->path, SYM_STR("/upload/auth_info/"));
}


/* A list of files. */
static bool
is_v2(const sym_upload_call_t *call)
{
    return sym_str_eq(call->path, SYM_STR("/v2/"))
           || sym_str_eq(call->path, SYM_STR("/upload/v2/"));
}


static bool
takes(const sym_upload_call_t *call)
{
    static const sym_str_t paths[] = {
        { "", 0 }, { "/", 1 }, { "/upload", 7 }, { "/upload/", 8 }
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (sym_str_eq(call->path, paths[i])) {
            return call->header(call->ctx, "Auth-Token").data != NULL
                   || (call->needs_token && sym_upload_is_form(call)
                       && call->header(call->ctx, "Authorization").data
                              == NULL);
        }
    }

    return is_auth_info(call) || is_v2(call);
}


/* Returns the part before the first dash; the rest is a label for people. */
static sym_str_t
secret(const sym_upload_call_t *call)
{
    sym_str_t value = call->header(call->ctx, "Auth-Token");
    const char *dash =
        value.len != 0 ? memchr(value.data, '-', value.len) : NULL;

    if (dash != NULL) {
        value.len = (size_t) (dash - value.data);
    }

    return value;
}


static unsigned
flags(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_RPC_FORM | SYM_RPC_ARCHIVE | SYM_RPC_MOZILLA;
}


static sym_str_t
hint(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_STR("");
}


static void
refuse(const sym_upload_call_t *call, sym_upload_refusal_t why,
       sym_str_t reason, sym_upload_answer_t *answer, sym_out_t *out)
{
    static const struct {
        unsigned status;
        const char *text;
    } texts[] = {
        [SYM_UPLOAD_NO_TOKEN] = { 403, "This requires an Auth-Token to "
                                       "authenticate the request" },
        [SYM_UPLOAD_BAD_TOKEN] = { 403, "API Token not matched" },
        [SYM_UPLOAD_EXPIRED] = { 403, "API Token found but expired" },
        [SYM_UPLOAD_NO_RIGHT] = { 403, "Forbidden" },
        [SYM_UPLOAD_UNAVAILABLE] = { 503, NULL },
        [SYM_UPLOAD_MALFORMED] = { 400, NULL },
        [SYM_UPLOAD_REMOTE] = { 500, NULL },
    };
    char refused[64];
    bool is_ours =
        why < sizeof(texts) / sizeof(texts[0]) && texts[why].text != NULL;

    if (why == SYM_UPLOAD_NO_METHOD) {
        (void) snprintf(refused, sizeof(refused),
                        "Method Not Allowed (%s): /upload/%s",
                        call->method == SYM_UPLOAD_GET ? "GET" : "PUT",
                        is_auth_info(call) ? "auth_info/"
                        : is_v2(call)      ? "v2/"
                                           : "");
        reason = sym_cstr(refused);
    } else if (reason.len == 0) {
        reason = sym_cstr(is_ours ? texts[why].text : sym_upload_words(why));
    }

    sym_upload_error("error",
                     is_ours ? texts[why].status : sym_upload_status(why),
                     reason, answer, out);
}


/* Tecken's tokens always expire: the end of the year 9999. */
#define NEVER_S 253402300799u

/* Clients that have both versions use the one that is said here. */
static bool
reply(const sym_upload_call_t *call, sym_upload_answer_t *answer,
      sym_out_t *out)
{
    const sym_upload_token_t *token = call->token;

    if (!is_auth_info(call)) {
        return false;
    }

    answer->status = 200;
    answer->type = "application/json";
    sym_out_raw(out, SYM_STR("{\"email\": "));
    sym_out_string(out, token != NULL ? token->name : SYM_STR(""));
    sym_out_printf(out,
                   ", \"user_id\": %u, \"try_symbols\": %s, "
                   "\"token_expires_at\": %llu, \"upload_api_version\": %u}",
                   sym_upload_token_id(token),
                   token == NULL || (token->rights & SYM_UPLOAD_MAY_TRY) != 0
                       ? "true"
                       : "false",
                   (unsigned long long) (token != NULL && token->expires_s != 0
                                             ? token->expires_s
                                             : NEVER_S),
                   token != NULL ? token->version : 1);
    return true;
}


/* Writes "2026-01-02T03:04:05.678Z". */
static void
put_time(sym_out_t *out, const char *key, double time_s)
{
    char text[SYM_ISO_DATE_LEN];
    uint64_t s = (uint64_t) time_s;

    if (sym_iso_date_write(s, text)) {
        sym_out_printf(out, "\"%s\": \"%.*s.%03uZ\", ", key,
                       SYM_ISO_DATE_LEN - 1, text,
                       (unsigned) ((time_s - (double) s) * 1000));
    }
}


/* A file in the loader's report. */
typedef struct {
    sym_str_t name, state, reason;
} row_t;


/* False: no row is left. */
static bool
next_row(sym_json_items_t *rows, sym_arena_t *arena, row_t *row)
{
    sym_str_t item;

    if (!sym_json_next(rows, &item)) {
        return false;
    }

    row->name = sym_json_text(arena, sym_json_member(item, "file"));
    row->state = sym_json_text(arena, sym_json_member(item, "state"));
    row->reason = sym_json_text(arena, sym_json_member(item, "reason"));
    return true;
}


/* Writes the names of the files that existed, as sent. */
static void
put_skipped(sym_out_t *out, sym_str_t files, sym_arena_t *arena)
{
    sym_json_items_t rows = sym_json_items(files);
    bool is_first = true;
    row_t row;

    while (next_row(&rows, arena, &row)) {
        if (sym_str_eq(row.state, SYM_STR("same"))
            || sym_str_eq(row.state, SYM_STR("kept")))
        {
            sym_out_raw(out, is_first ? SYM_STR("") : SYM_STR(", "));
            sym_out_string(out, row.name);
            is_first = false;
        }
        sym_arena_reset(arena);
    }
}


/* An extension of Tecken's answer: shows clients the reasons. */
static void
put_refused(sym_out_t *out, sym_str_t files, sym_arena_t *arena)
{
    sym_json_items_t rows = sym_json_items(files);
    bool is_first = true;
    row_t row;

    while (next_row(&rows, arena, &row)) {
        if (sym_str_eq(row.state, SYM_STR("refused"))) {
            sym_out_raw(out, is_first ? SYM_STR("{\"key\": ")
                                      : SYM_STR(", {\"key\": "));
            sym_out_string(out, row.name);
            sym_out_raw(out, SYM_STR(", \"reason\": "));
            sym_out_string(out, row.reason);
            sym_out_raw(out, SYM_STR("}"));
            is_first = false;
        }
        sym_arena_reset(arena);
    }
}


static void
put_redirects(sym_out_t *out, sym_str_t urls)
{
    const char *comma = "";

    sym_out_raw(out, SYM_STR(", \"redirect_urls\": ["));
    while (urls.len != 0) {
        sym_out_raw(out, sym_cstr(comma));
        sym_out_string(out, sym_str_cut(&urls, '\n'));
        comma = ", ";
    }
    sym_out_raw(out, SYM_STR("], "));
}


static void
put_upload(const sym_upload_done_t *done, sym_arena_t *arena, sym_out_t *out)
{
    sym_json_items_t archives =
        sym_json_items(sym_json_member(done->report, "archives"));
    sym_str_t files = sym_json_member(done->report, "files");
    sym_str_t archive = SYM_STR(""), name = SYM_STR(""), bytes = SYM_STR("0");

    if (sym_json_next(&archives, &archive)) {
        name = sym_json_text(arena, sym_json_member(archive, "field"));
        bytes = sym_json_member(archive, "bytes");
    }

    sym_out_printf(out, "{\"upload\": {\"id\": %llu, \"size\": ",
                   (unsigned long long) (done->now_s * 1000));
    sym_out_raw(out, bytes);
    sym_out_raw(out, SYM_STR(", \"filename\": "));
    sym_out_string(out, done->url.len != 0 ? sym_by_url_name(done->url) : name);
    sym_out_raw(out, SYM_STR(", \"bucket\": \"\", \"download_url\": "));
    if (done->url.len != 0) {
        sym_out_string(out, done->url);
    } else {
        sym_out_raw(out, SYM_STR("null"));
    }
    sym_out_raw(out, SYM_STR(", \"try_symbols\": "));
    sym_out_raw(out, sym_json_member(done->report, "try"));
    put_redirects(out, done->redirects);
    put_time(out, "completed_at", done->now_s);
    put_time(out, "created_at", done->started_s);
    sym_out_raw(out, SYM_STR("\"user\": "));
    sym_out_string(out, done->token != NULL ? done->token->name : SYM_STR(""));
    sym_out_raw(out, SYM_STR(", \"skipped_keys\": ["));
    put_skipped(out, files, arena);
    sym_out_raw(out, SYM_STR("], \"refused_keys\": ["));
    put_refused(out, files, arena);
    sym_out_raw(out, SYM_STR("]}}"));
}


static sym_str_t
first_reason(sym_str_t report, sym_arena_t *arena)
{
    sym_json_items_t rows = sym_json_items(sym_json_member(report, "files"));
    row_t row;

    return next_row(&rows, arena, &row) ? row.reason : SYM_STR("");
}


static void
answer(const sym_upload_done_t *done, sym_upload_answer_t *to, sym_out_t *out)
{
    const sym_upload_counts_t *n = &done->counts;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    if (n->failed != 0) {
        /* a client that retries skips files that exist */
        refuse(done->call, SYM_UPLOAD_UNAVAILABLE, SYM_STR(""), to, out);
    } else if (n->refused != 0 && n->stored + n->same + n->kept == 0) {
        refuse(done->call, SYM_UPLOAD_MALFORMED,
               first_reason(done->report, &arena), to, out);
    } else {
        to->status = 201;
        to->type = "application/json";
        put_upload(done, &arena, out);
    }

    sym_arena_drop(&arena);
}


/* Without a file, the form has a URL: the converter checks that. */
static size_t
url(const sym_upload_done_t *done, char to[SYM_UPLOAD_URL_MAX], bool *is_try)
{
    const sym_upload_counts_t *n = &done->counts;
    sym_json_items_t archives =
        sym_json_items(sym_json_member(done->report, "archives"));
    sym_str_t value, archive;
    sym_arena_t arena;

    if (n->stored + n->same + n->kept + n->refused + n->failed != 0
        || sym_json_next(&archives, &archive))
    {
        return 0;
    }

    sym_arena_init(&arena, 0);
    value = sym_json_text(
        &arena,
        sym_json_member(sym_json_member(done->report, "fields"), "url"));
    value.len = value.len < SYM_UPLOAD_URL_MAX ? value.len : 0;
    if (value.len != 0) {
        memcpy(to, value.data, value.len);
    }
    *is_try = sym_str_eq(sym_json_member(done->report, "try"), SYM_STR("true"));
    sym_arena_drop(&arena);
    return value.len;
}


static sym_upload_made_t
assembles(const sym_upload_call_t *call)
{
    return is_v2(call) ? SYM_UPLOAD_SESSIONS : SYM_UPLOAD_NOTHING;
}


const sym_upload_protocol_t sym_upload_mozilla = {
    .name = "mozilla",
    .takes = takes,
    .methods = SYM_UPLOAD_POST,
    .secret = secret,
    .takes_try = true,
    .assembles = assembles,
    .reply = reply,
    .flags = flags,
    .hint = hint,
    .answer = answer,
    .url = url,
    .refuse = refuse,
};
