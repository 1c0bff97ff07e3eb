/*
 * session.c - PUT of a file to the URL that Mozilla's upload v2 has given, by the
 * protocol of Google Cloud Storage's resumable uploads: the whole file, or ranges
 * of it (Content-Range).  308 says how many bytes are there.
 */
#include "api/upload/sessions.h"
#include "protocol/message.h"

static bool
takes(const sym_upload_call_t *call)
{
    sym_str_t key;

    return sym_session_path(call, &key);
}


static sym_upload_refusal_t
admit(const sym_upload_call_t *call, const sym_upload_tokens_t *tokens,
      const sym_upload_token_t **token)
{
    sym_session_t session = { .end = SYM_SESSION_QUERY };
    uint32_t id;
    sym_upload_refusal_t why = sym_session_check(call, &session, &id);

    if (why != SYM_UPLOAD_FINE || tokens == NULL) {
        return why;
    }

    *token = sym_upload_token_by_id(tokens, id);
    if (*token == NULL) {
        return SYM_UPLOAD_BAD_TOKEN;
    }

    (void) sym_session_range(call->header(call->ctx, "Content-Range"),
                             &session);
    return (*token)->bytes != 0 && session.to > (*token)->bytes
               ? SYM_UPLOAD_TOO_LARGE
               : SYM_UPLOAD_FINE;
}


static unsigned
flags(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_RPC_SESSION;
}


/* "": the range is malformed. */
static sym_str_t
hint(const sym_upload_call_t *call)
{
    sym_session_t session;
    uint32_t id;

    return sym_session_check(call, &session, &id) == SYM_UPLOAD_FINE
                   && sym_session_range(
                       call->header(call->ctx, "Content-Range"), &session)
               ? sym_str(call->room, sym_session_write(&session, call->room))
               : SYM_STR("");
}


static void
refuse(const sym_upload_call_t *call, sym_upload_refusal_t why,
       sym_str_t reason, sym_upload_answer_t *to, sym_out_t *out)
{
    (void) call;
    if (why == SYM_UPLOAD_BAD_TOKEN) {
        sym_upload_error("error", 404, SYM_STR("there is no such upload"), to,
                         out);
    } else if (why == SYM_UPLOAD_EXPIRED) {
        sym_upload_error("error", 410, SYM_STR("the upload has expired"), to,
                         out);
    } else {
        sym_upload_refuse("error", why, reason, to, out);
    }
}


static void
answer(const sym_upload_done_t *done, sym_upload_answer_t *to, sym_out_t *out)
{
    const sym_upload_counts_t *n = &done->counts;

    if (n->failed != 0) {
        refuse(done->call, SYM_UPLOAD_UNAVAILABLE, SYM_STR(""), to, out);
    } else if (n->stored + n->same + n->kept + n->refused != 0) {
        *to = (sym_upload_answer_t){ n->refused != 0 ? 400 : 200,
                                     "application/json" };
        sym_out_raw(out, done->report.len != 0 ? done->report : SYM_STR("{}"));
    } else {
        *to = (sym_upload_answer_t){ 308, "application/json" };
        sym_out_raw(out, SYM_STR("{}"));
    }
}


const sym_upload_protocol_t sym_upload_session = {
    .name = "mozilla v2",
    .takes = takes,
    .methods = SYM_UPLOAD_PUT,
    .admit = admit,
    .takes_try = true,
    .takes_empty = true,
    .flags = flags,
    .hint = hint,
    .answer = answer,
    .refuse = refuse,
};
