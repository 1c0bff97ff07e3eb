/*
 * upload.c - "symbolicate upload": the table of protocols.
 */
#include "api/upload/upload.h"

#include <string.h>
#include <strings.h>

#include "api/registry.h"

static const sym_upload_protocol_t *const protocols[] = {
    &sym_upload_session, &sym_upload_mozilla,   &sym_upload_sentry,
    &sym_upload_elastic, &sym_upload_breakpad2, &sym_upload_breakpad1,
    &sym_upload_plain,
};


const sym_upload_protocol_t *
sym_upload_protocol(const sym_upload_call_t *call)
{
    size_t i = 0;

    while (i + 1 < sizeof(protocols) / sizeof(protocols[0])
           && !protocols[i]->takes(call))
    {
        i++;
    }

    return protocols[i];
}


sym_str_t
sym_upload_bearer(const sym_upload_call_t *call, const char *scheme)
{
    sym_str_t value = call->header(call->ctx, "Authorization");
    size_t len = strlen(scheme);

    if (value.len <= len || strncasecmp(value.data, scheme, len) != 0
        || value.data[len] != ' ')
    {
        return sym_str(NULL, 0);
    }

    while (len < value.len && value.data[len] == ' ') {
        len++;
    }

    return sym_str(value.data + len, value.len - len);
}


bool
sym_upload_is_form(const sym_upload_call_t *call)
{
    static const char type[] = "multipart/form-data";
    sym_str_t value = call->header(call->ctx, "Content-Type");

    return value.len >= sizeof(type) - 1
           && strncasecmp(value.data, type, sizeof(type) - 1) == 0;
}


static const struct {
    unsigned status;
    const char *words;
} refusals[] = {
    [SYM_UPLOAD_NO_PATH] = { 404, "there is no such path" },
    [SYM_UPLOAD_NO_METHOD] = { 405, "the path does not have this method" },
    [SYM_UPLOAD_NO_TOKEN] = { 401, "a token is needed" },
    [SYM_UPLOAD_BAD_TOKEN] = { 401, "the token is unknown" },
    [SYM_UPLOAD_EXPIRED] = { 401, "the token has expired" },
    [SYM_UPLOAD_NO_RIGHT] = { 403, "the token may not upload this here" },
    [SYM_UPLOAD_TOO_LARGE] = { 413, "the upload is too large" },
    [SYM_UPLOAD_BUSY] = { 429, "too many uploads at once" },
    [SYM_UPLOAD_UNAVAILABLE] = { 503, "uploads cannot be stored now" },
    [SYM_UPLOAD_MALFORMED] = { 400, "the upload is malformed" },
    [SYM_UPLOAD_REMOTE] = { 500, "the file could not be fetched" },
};


unsigned
sym_upload_status(sym_upload_refusal_t why)
{
    return refusals[why].status;
}


const char *
sym_upload_words(sym_upload_refusal_t why)
{
    return refusals[why].words;
}


void
sym_upload_error(const char *key, unsigned status, sym_str_t reason,
                 sym_upload_answer_t *answer, sym_out_t *out)
{
    answer->status = status;
    answer->type = "application/json";
    sym_out_printf(out, "{\"%s\": ", key);
    sym_out_string(out, reason);
    sym_out_raw(out, SYM_STR("}"));
}


void
sym_upload_refuse(const char *key, sym_upload_refusal_t why, sym_str_t reason,
                  sym_upload_answer_t *answer, sym_out_t *out)
{
    sym_upload_error(key, sym_upload_status(why),
                     reason.len != 0 ? reason : sym_cstr(sym_upload_words(why)),
                     answer, out);
}


/* Writes nginx's own errors: JSON with one key, which Sentry's clients show. */
static const char *
write_error(const sym_api_error_t *error, sym_out_t *out)
{
    sym_upload_answer_t answer;

    sym_upload_error("error", error->status,
                     error->description.len != 0 ? error->description
                                                 : error->title,
                     &answer, out);
    return answer.type;
}


/* Matches every path below the location; the protocols check it. */
const sym_api_t sym_upload_api = {
    .name = "upload",
    .routes = { { .suffix = "",
                  .version = "upload",
                  .methods = SYM_METHOD_GET | SYM_METHOD_POST | SYM_METHOD_PUT,
                  .kind = SYM_ROUTE_UPLOAD } },
    .answers = { "application/json" },
    .write_error = write_error,
    .is_same_site = true,
};
