/*
 * breakpad.c - Breakpad's sym_upload: its protocol sym-upload-v1 is a form,
 * sym-upload-v2 has three or four requests.
 *
 * Clients of v2 search for "uploadUrl": "..." with a regular expression, so
 * JSON is written with one space after a colon, and with unescaped URLs.  An
 * upload is complete when its PUT is answered; `complete` only confirms it.  So
 * no request depends on state of another one, and workers need not share any.
 */
#include "api/upload/upload.h"
#include "base/form.h"
#include "base/hex.h"
#include "protocol/message.h"

/* In v1, sym_upload posts to the URL that its user specifies. */
static bool
takes1(const sym_upload_call_t *call)
{
    return sym_str_eq(call->path, SYM_STR("/sym_upload"));
}


static sym_str_t
key(const sym_upload_call_t *call)
{
    sym_str_t value = sym_form_raw(call->query, SYM_STR("key"));

    return value.data != NULL ? value : sym_upload_bearer(call, "Bearer");
}


static unsigned
flags1(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_RPC_FORM;
}


static sym_str_t
no_hint(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_STR("");
}


static void
refuse(const sym_upload_call_t *call, sym_upload_refusal_t why,
       sym_str_t reason, sym_upload_answer_t *answer, sym_out_t *out)
{
    (void) call;
    sym_upload_refuse("error", why, reason, answer, out);
}


/* The clients accept only status 200 as success. */
static void
answer(const sym_upload_done_t *done, sym_upload_answer_t *to, sym_out_t *out)
{
    const sym_upload_counts_t *n = &done->counts;

    to->status = n->failed != 0                       ? 503
                 : n->stored + n->same + n->kept != 0 ? 200
                                                      : 400;
    to->type = "application/json";
    sym_out_raw(out, done->report);
}


/* --- v2 --- */

/* The path after the version; clients send it, although their documentation
 * does not. */
static sym_str_t
below(const sym_upload_call_t *call)
{
    sym_str_t path = call->path;

    return sym_str_starts(path, SYM_STR("/v1/"))
               ? sym_str(path.data + 3, path.len - 3)
               : path;
}


static bool
ends(sym_str_t s, sym_str_t end)
{
    return s.len >= end.len
           && memcmp(s.data + s.len - end.len, end.data, end.len) == 0;
}


#define CREATE SYM_STR("/uploads:create")
#define COMPLETE SYM_STR(":complete")
#define CHECK SYM_STR(":checkStatus")
#define UPLOADS SYM_STR("/uploads/")
#define SYMBOLS SYM_STR("/symbols/")

static bool
takes2(const sym_upload_call_t *call)
{
    sym_str_t path = below(call);

    return sym_str_eq(path, CREATE)
           || (sym_str_starts(path, UPLOADS)
               && (call->method == SYM_UPLOAD_PUT || ends(path, COMPLETE)))
           || (sym_str_starts(path, SYMBOLS) && ends(path, CHECK));
}


static void
put_json(sym_upload_answer_t *answer, sym_str_t text, sym_out_t *out)
{
    answer->status = 200;
    answer->type = "application/json";
    sym_out_raw(out, text);
}


/* The key of the next request is not stored; it only has to differ. */
static void
create(const sym_upload_call_t *call, sym_upload_answer_t *answer,
       sym_out_t *out)
{
    sym_str_t secret = key(call);
    unsigned long long number = call->number;

    put_json(answer, SYM_STR("{\"uploadUrl\": \""), out);
    sym_out_raw(out, call->base);
    sym_out_printf(out, "/v1/uploads/%llx", number);
    if (secret.data != NULL) {
        sym_out_raw(out, SYM_STR("?key="));
        sym_out_raw(out, secret);
    }
    sym_out_printf(out, "\", \"uploadKey\": \"%llx\"}", number);
}


/* /symbols/NAME/ID:checkStatus */
static void
check(const sym_upload_call_t *call, sym_upload_answer_t *answer,
      sym_out_t *out)
{
    sym_str_t path = below(call), name, id;
    const char *slash;

    name = sym_str(path.data + SYMBOLS.len, path.len - SYMBOLS.len - CHECK.len);
    slash = name.len != 0 ? memrchr(name.data, '/', name.len) : NULL;
    if (slash == NULL) {
        sym_upload_error("error", 404, SYM_STR("no name and id in the path"),
                         answer, out);
        return;
    }

    id = sym_str(slash + 1, name.len - (size_t) (slash + 1 - name.data));
    name.len = (size_t) (slash - name.data);
    put_json(answer,
             call->has(call->ctx, name, id) ? SYM_STR("{\"status\": \"FOUND\"}")
                                            : SYM_STR("{\"status\": "
                                                      "\"MISSING\"}"),
             out);
}


static bool
reply2(const sym_upload_call_t *call, sym_upload_answer_t *answer,
       sym_out_t *out)
{
    sym_str_t path = below(call);

    if (sym_str_eq(path, CREATE)) {
        create(call, answer, out);
    } else if (ends(path, CHECK)) {
        check(call, answer, out);
    } else if (ends(path, COMPLETE)) {
        put_json(answer, SYM_STR("{\"result\": \"OK\"}"), out);
    } else {
        return false;
    }

    return true;
}


static unsigned
flags2(const sym_upload_call_t *call)
{
    (void) call;
    return 0;
}


const sym_upload_protocol_t sym_upload_breakpad1 = {
    .name = "breakpad v1",
    .takes = takes1,
    .methods = SYM_UPLOAD_POST,
    .secret = key,
    .flags = flags1,
    .hint = no_hint,
    .answer = answer,
    .refuse = refuse,
};

const sym_upload_protocol_t sym_upload_breakpad2 = {
    .name = "breakpad v2",
    .takes = takes2,
    .methods = SYM_UPLOAD_GET | SYM_UPLOAD_POST | SYM_UPLOAD_PUT,
    .secret = key,
    .reply = reply2,
    .flags = flags2,
    .hint = no_hint,
    .answer = answer,
    .refuse = refuse,
};
