/*
 * elastic.c - symbfiles from Elastic's tools: POST /api/symbols-ranges and
 * /api/symbols-returnpads, in one part or in several.
 */
#include "api/upload/upload.h"
#include "base/hex.h"
#include "object/file_id.h"
#include "protocol/message.h"

#define PARTS_MAX 300

/* Reads a request's headers; the text for the loader is
 * HEX/ranges/PART/PARTS. */
typedef struct {
    const char *code; /* code of an error; NULL: none */
    const char *what;
    uint8_t file_id[SYM_FILE_ID_BYTES];
    uint64_t part, parts;
} headers_t;


static bool
is_ranges(const sym_upload_call_t *call)
{
    return sym_str_eq(call->path, SYM_STR("/api/symbols-ranges"));
}


static bool
takes(const sym_upload_call_t *call)
{
    return is_ranges(call)
           || sym_str_eq(call->path, SYM_STR("/api/symbols-returnpads"));
}


/* The key as sent, in base64. */
static sym_str_t
secret(const sym_upload_call_t *call)
{
    return sym_upload_bearer(call, "APIKey");
}


static void
read_headers(const sym_upload_call_t *call, headers_t *h)
{
    sym_str_t part = call->header(call->ctx, "FilePart");
    sym_str_t parts = call->header(call->ctx, "FileParts");

    *h = (headers_t){ .parts = 1 };
    if (!sym_file_id_read(call->header(call->ctx, "FileID"), h->file_id)) {
        h->code = "1001";
        h->what = "the header FileID is not one of 16 bytes";
        return;
    }

    if (part.data == NULL && parts.data == NULL) {
        return;
    }

    if (!sym_dec_read(part, &h->part) || !sym_dec_read(parts, &h->parts)
        || h->part >= h->parts || h->parts > PARTS_MAX)
    {
        h->code = "1002";
        h->what = "FilePart and FileParts are not a number and a larger one of "
                  "at most 300";
    }
}


static void
put_error(const sym_upload_call_t *call, const char *code, sym_str_t text,
          sym_upload_answer_t *answer, sym_out_t *out)
{
    answer->type = "application/json";
    sym_out_printf(out,
                   "{\"success\": false, \"uuid\": \"%s\", "
                   "\"error\": {\"Code\": \"%s\", \"Text\": ",
                   call->uuid, code);
    sym_out_string(out, text);
    sym_out_printf(out, "}, \"status\": %u}", answer->status);
}


static void
refuse(const sym_upload_call_t *call, sym_upload_refusal_t why,
       sym_str_t reason, sym_upload_answer_t *answer, sym_out_t *out)
{
    static const char *const codes[] = {
        [SYM_UPLOAD_NO_PATH] = "1000",     [SYM_UPLOAD_NO_METHOD] = "1201",
        [SYM_UPLOAD_NO_TOKEN] = "1101",    [SYM_UPLOAD_BAD_TOKEN] = "1101",
        [SYM_UPLOAD_EXPIRED] = "1101",     [SYM_UPLOAD_NO_RIGHT] = "1102",
        [SYM_UPLOAD_TOO_LARGE] = "1203",   [SYM_UPLOAD_BUSY] = "1401",
        [SYM_UPLOAD_UNAVAILABLE] = "1401", [SYM_UPLOAD_MALFORMED] = "1005",
    };

    answer->status = sym_upload_status(why);
    put_error(call, codes[why],
              reason.len != 0 ? reason : sym_cstr(sym_upload_words(why)),
              answer, out);
}


static bool
reply(const sym_upload_call_t *call, sym_upload_answer_t *answer,
      sym_out_t *out)
{
    headers_t h;

    read_headers(call, &h);
    if (h.code == NULL) {
        return false;
    }

    answer->status = 400;
    put_error(call, h.code, sym_cstr(h.what), answer, out);
    return true;
}


static unsigned
flags(const sym_upload_call_t *call)
{
    (void) call;
    return SYM_RPC_SYMBFILE;
}


static sym_str_t
hint(const sym_upload_call_t *call)
{
    char *text = call->room;
    headers_t h;
    size_t len;

    read_headers(call, &h);
    sym_file_id_hex(h.file_id, text);
    len = (size_t) snprintf(text + SYM_FILE_ID_HEX,
                            SYM_UPLOAD_ROOM - SYM_FILE_ID_HEX, "/%s/%u/%u",
                            is_ranges(call) ? "ranges" : "returnpads",
                            (unsigned) h.part, (unsigned) h.parts);
    return sym_str(text, SYM_FILE_ID_HEX + len);
}


static void
answer(const sym_upload_done_t *done, sym_upload_answer_t *to, sym_out_t *out)
{
    const sym_upload_counts_t *n = &done->counts;

    if (n->failed != 0) {
        refuse(done->call, SYM_UPLOAD_UNAVAILABLE, SYM_STR(""), to, out);
    } else if (n->refused != 0) {
        refuse(done->call, SYM_UPLOAD_MALFORMED,
               SYM_STR("this is no sound symbfile"), to, out);
    } else {
        *to = (sym_upload_answer_t){ 200, "application/json" };
        sym_out_raw(out, SYM_STR("{\"success\": true, \"status\": 200}"));
    }
}


const sym_upload_protocol_t sym_upload_elastic = {
    .name = "elastic",
    .takes = takes,
    .methods = SYM_UPLOAD_POST | SYM_UPLOAD_PUT,
    .secret = secret,
    .reply = reply,
    .flags = flags,
    .hint = hint,
    .answer = answer,
    .refuse = refuse,
};
