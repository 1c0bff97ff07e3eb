#include "api/upload/sessions.h"

#include <stdio.h>

#include "base/form.h"
#include "base/hex.h"

#define V2 SYM_STR("/v2/")
#define SIGNATURE SYM_STR("&signature=")

/* --- the request --- */

static sym_status_t
text_of(sym_arena_t *arena, const json_t *file, const char *key,
        sym_str_t *text)
{
    const json_t *value = json_object_get(file, key);

    if (!json_is_string(value)) {
        return SYM_MALFORMED;
    }

    *text = sym_arena_copy(
        arena, sym_str(json_string_value(value), json_string_length(value)));
    return text->data != NULL ? SYM_OK : SYM_NOMEM;
}


/* Makes the digest by which the loader knows the file. */
static sym_status_t
read_file(sym_arena_t *arena, const json_t *file, sym_assembly_file_t *to)
{
    const json_t *size = json_object_get(file, "size");
    sym_session_t session = { .end = SYM_SESSION_QUERY };
    uint8_t *id = sym_arena_alloc(arena, SYM_SHA1_BYTES);
    sym_status_t rc = id != NULL ? SYM_OK : SYM_NOMEM;

    rc = rc == SYM_OK ? text_of(arena, file, "key", &session.key) : rc;
    rc = rc == SYM_OK ? text_of(arena, file, "md5_hash", &session.md5) : rc;
    if (rc != SYM_OK || !json_is_integer(size)) {
        return rc != SYM_OK ? rc : SYM_MALFORMED;
    }

    *to = (sym_assembly_file_t){ .checksum = session.md5,
                                 .name = session.key,
                                 .bytes = (uint64_t) json_integer_value(size),
                                 .digests = sym_str((const char *) id,
                                                    SYM_SHA1_BYTES) };
    if (!sym_session_key_ok(session.key)) {
        to->state = SYM_ASSEMBLY_ERROR;
        to->text = SYM_STR("invalid key");
    } else if (!sym_session_md5_ok(session.md5)) {
        to->state = SYM_ASSEMBLY_ERROR;
        to->text = SYM_STR("invalid MD5 hex digest");
    } else {
        session.size = to->bytes;
        sym_session_id(&session, id);
    }

    return SYM_OK;
}


static sym_status_t
read_files(sym_arena_t *arena, const json_t *root, sym_assembly_t *assembly,
           const char **why)
{
    const json_t *files = json_object_get(root, "files");
    size_t n = json_array_size(files);
    sym_status_t rc = SYM_OK;

    if (!json_is_array(files)) {
        return SYM_MALFORMED;
    }

    assembly->files = sym_arena_calloc(arena, n + 1, sizeof(*assembly->files));
    if (assembly->files == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        rc = read_file(arena, json_array_get(files, i), &assembly->files[i]);
    }

    if (rc == SYM_OK && n > SYM_SESSIONS_MAX) {
        *why = "too many files";
        return SYM_MALFORMED;
    }

    assembly->n = n;
    return rc;
}


sym_status_t
sym_sessions_read(sym_arena_t *arena, sym_account_t *account, sym_str_t body,
                  sym_assembly_t *assembly, const char **why)
{
    sym_error_t err = { 0 };
    sym_json_t json;
    sym_status_t rc = sym_json_load_charged(&json, account, body, 0, "", &err);

    *why = "malformed JSON request body";
    rc = rc == SYM_OK ? read_files(arena, json.root, assembly, why) : rc;
    sym_json_drop(&json);
    return rc;
}


/* --- URLs --- */

static bool
sign(const sym_upload_call_t *call, sym_str_t key, sym_str_t query,
     char out[SYM_SHA256_HEX_LEN])
{
    char text[SYM_SESSION_KEY_MAX + SYM_SESSION_TEXT];
    int n = snprintf(text, sizeof(text), "%.*s\n%.*s", (int) key.len, key.data,
                     (int) query.len, query.data);

    return (size_t) n < sizeof(text)
           && call->sign(call->ctx, sym_str(text, (size_t) n), out);
}


/* RFC 3986, 2.3: all bytes but unreserved ones are encoded, and slashes are
 * kept. */
static void
put_path(sym_out_t *out, sym_str_t path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~/", c)))
        {
            sym_out_raw(out, sym_str(&c, 1));
        } else {
            sym_out_printf(out, "%%%02X", (unsigned char) c);
        }
    }
}


static void
put_url(const sym_upload_call_t *call, const sym_assembly_file_t *f,
        sym_out_t *out)
{
    char query[SYM_SESSION_TEXT], signature[SYM_SHA256_HEX_LEN];
    unsigned long long expires_s = call->now_ms / 1000 + SYM_SESSION_S;
    int n = snprintf(
        query, sizeof(query), "size=%llu&md5=%.*s&user=%lu&expires=%llu",
        (unsigned long long) f->bytes, (int) f->checksum.len, f->checksum.data,
        (unsigned long) sym_upload_token_id(call->token), expires_s);
    sym_str_t text = sym_str(query, (size_t) n);

    if (!sign(call, f->name, text, signature)) {
        out->failed = true;
        return;
    }

    sym_out_escaped(out, call->base);
    sym_out_raw(out, V2);
    put_path(out, f->name);
    sym_out_raw(out, SYM_STR("?"));
    sym_out_raw(out, text);
    sym_out_raw(out, SIGNATURE);
    sym_out_raw(out, sym_str(signature, sizeof(signature)));
}


static sym_str_t
without_folder(sym_str_t path)
{
    return sym_str_starts(path, SYM_STR("/upload/"))
               ? sym_str(path.data + 7, path.len - 7)
               : path;
}


bool
sym_session_path(const sym_upload_call_t *call, sym_str_t *key)
{
    sym_str_t path = without_folder(call->path);

    if (!sym_str_starts(path, V2)
        || sym_form_raw(call->query, SYM_STR("signature")).data == NULL)
    {
        return false;
    }

    *key = sym_str(path.data + V2.len, path.len - V2.len);
    return true;
}


static bool
number_of(sym_str_t query, const char *name, uint64_t *number)
{
    return sym_dec_read(sym_form_raw(query, sym_cstr(name)), number);
}


sym_upload_refusal_t
sym_session_check(const sym_upload_call_t *call, sym_session_t *session,
                  uint32_t *id)
{
    const char *end = call->query.len != 0
                          ? memmem(call->query.data, call->query.len,
                                   SIGNATURE.data, SIGNATURE.len)
                          : NULL;
    sym_str_t query = sym_str(
        call->query.data, end != NULL ? (size_t) (end - call->query.data) : 0);
    char signature[SYM_SHA256_HEX_LEN];
    uint64_t user, expires_s;

    if (!sym_session_path(call, &session->key)
        || !sym_session_key_ok(session->key)
        || !sign(call, session->key, query, signature)
        || !sym_upload_secret_is(
            sym_form_raw(call->query, SYM_STR("signature")),
            sym_str(signature, sizeof(signature)))
        || !number_of(query, "size", &session->size)
        || !number_of(query, "user", &user)
        || !number_of(query, "expires", &expires_s))
    {
        return SYM_UPLOAD_BAD_TOKEN;
    }

    session->md5 = sym_form_raw(query, SYM_STR("md5"));
    *id = (uint32_t) user;
    return call->now_ms / 1000 >= expires_s ? SYM_UPLOAD_EXPIRED
                                            : SYM_UPLOAD_FINE;
}


/* --- the answer --- */

static bool
is_gzipped(sym_str_t key)
{
    return sym_str_ends_nocase(key, SYM_STR(".sym"));
}


static void
put_action(const sym_upload_call_t *call, const sym_assembly_file_t *f,
           sym_out_t *out)
{
    switch (f->state) {
    case SYM_ASSEMBLY_ERROR:
        sym_out_raw(out, SYM_STR("{\"type\":\"error\",\"msg\":"));
        sym_out_string(out, f->text);
        break;
    case SYM_ASSEMBLY_OK:
        sym_out_raw(out, SYM_STR("{\"type\":\"skip\""));
        break;
    default:
        sym_out_raw(out, SYM_STR("{\"type\":\"upload\",\"url\":\""));
        put_url(call, f, out);
        sym_out_raw(out, SYM_STR("\",\"content_encoding\":"));
        sym_out_raw(out, is_gzipped(f->name) ? SYM_STR("\"gzip\"")
                                             : SYM_STR("null"));
        break;
    }

    sym_out_raw(out, SYM_STR("}"));
}


void
sym_sessions_write(const sym_upload_call_t *call,
                   const sym_assembly_t *assembly, sym_out_t *out)
{
    sym_out_printf(out, "{\"id\":%llu,\"created_at\":%llu,\"user\":",
                   (unsigned long long) call->now_ms,
                   (unsigned long long) call->now_ms / 1000);
    sym_out_string(out, call->token != NULL ? call->token->name : SYM_STR(""));
    sym_out_raw(out, sym_upload_token_is_try(call->token)
                         ? SYM_STR(",\"try_symbols\":true")
                         : SYM_STR(",\"try_symbols\":false"));
    sym_out_raw(out,
                SYM_STR(",\"upload_protocol\":\"gcs-resumable\",\"files\":["));
    for (size_t i = 0; i < assembly->n; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("{\"key\":") : SYM_STR(",{\"key\":"));
        sym_out_string(out, assembly->files[i].name);
        sym_out_raw(out, SYM_STR(",\"action\":"));
        put_action(call, &assembly->files[i], out);
        sym_out_raw(out, SYM_STR("}"));
    }
    sym_out_raw(out, SYM_STR("]}"));
}
