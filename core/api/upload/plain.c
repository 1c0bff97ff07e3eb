/*
 * plain.c - PUT /NAME/ID/FILE, and POST of a file, an archive or a form of them.
 *
 * The answer is the loader's report.
 */
#include "api/upload/upload.h"
#include "protocol/message.h"

static bool
takes(const sym_upload_call_t *call)
{
    (void) call;
    return true;
}


static sym_str_t
secret(const sym_upload_call_t *call)
{
    sym_str_t own = call->header(call->ctx, "Auth-Token");

    return own.data != NULL ? own : sym_upload_bearer(call, "Bearer");
}


/* A PUT uploads one file, so a zip is not unpacked. */
static unsigned
flags(const sym_upload_call_t *call)
{
    return call->method == SYM_UPLOAD_PUT ? 0
           : sym_upload_is_form(call)     ? SYM_RPC_FORM | SYM_RPC_ARCHIVE
                                          : SYM_RPC_ARCHIVE;
}


static sym_str_t
hint(const sym_upload_call_t *call)
{
    return call->path.len > 1 ? sym_str(call->path.data + 1, call->path.len - 1)
                              : SYM_STR("");
}


static void
refuse(const sym_upload_call_t *call, sym_upload_refusal_t why,
       sym_str_t reason, sym_upload_answer_t *answer, sym_out_t *out)
{
    (void) call;
    sym_upload_refuse("error", why, reason, answer, out);
}


/* Returns one status for all files: the most severe one that a client can react
 * to. */
static void
answer(const sym_upload_done_t *done, sym_upload_answer_t *to, sym_out_t *out)
{
    const sym_upload_counts_t *n = &done->counts;

    to->status = n->failed != 0                              ? 503
                 : n->stored != 0                            ? 201
                 : n->refused != 0 && n->same + n->kept == 0 ? 400
                                                             : 200;
    to->type = "application/json";
    sym_out_raw(out, done->report);
}


const sym_upload_protocol_t sym_upload_plain = {
    .name = "plain",
    .takes = takes,
    .methods = SYM_UPLOAD_POST | SYM_UPLOAD_PUT,
    .secret = secret,
    .flags = flags,
    .hint = hint,
    .answer = answer,
    .refuse = refuse,
};
