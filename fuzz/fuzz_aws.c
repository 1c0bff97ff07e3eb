/*
 * Any bytes as a credentials answer, as a shared credentials file, and as the
 * parts of a request to sign.  Keys that are read must be usable for signing,
 * signatures must fit a header, and refused input must give no result.  The
 * first byte selects the variant, and limits memory.
 *
 * A request is lines: method, path, query, region, service, payload hash, access
 * key, secret key, token, then headers as name:value.
 */
#include <stdlib.h>

#include "check.h"
#include "sources/aws/sigv4.h"
#include "base/uri.h"

#define HEADERS_MAX (SYM_SIGV4_HEADERS_MAX + 1)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_printable(sym_str_t s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < 0x20 || s.data[i] > 0x7e) {
            return false;
        }
    }

    return true;
}


static sym_str_t
take(sym_str_t *rest, char separator)
{
    const char *end = memchr(rest->data, separator, rest->len);
    size_t len = end != NULL ? (size_t) (end - rest->data) : rest->len;
    sym_str_t s = sym_str(rest->data, len);

    len += end != NULL;
    *rest = sym_str(rest->data + len, rest->len - len);
    return s;
}


static void
credentials(sym_arena_t *arena, bool is_json, sym_str_t text)
{
    sym_aws_credentials_t keys;
    sym_error_t err = { 0 };
    sym_status_t rc;

    rc = is_json ? sym_aws_credentials_json(arena, text, &keys, &err)
                 : sym_aws_credentials_ini(arena, text, SYM_STR("default"),
                                           &keys, &err);

    check(rc == err.status);
    check((rc == SYM_OK) == (keys.access_key.len != 0));
    check((rc == SYM_OK) == (keys.secret_key.len != 0));
    check(!is_json || (rc == SYM_OK) == (keys.token.len != 0));
    check(rc != SYM_OK || sym_aws_credentials_check(&keys, &err) == SYM_OK);
    check(is_printable(keys.access_key) && is_printable(keys.secret_key)
          && is_printable(keys.token));
}


/* The encoder writes what S3 signs. */
static void
encoding(sym_arena_t *arena, sym_str_t text)
{
    sym_error_t err = { 0 };
    sym_str_t once, again;

    if (sym_uri_encode(arena, text, true, &once, &err) != SYM_OK
        || (once.len != 0 && once.data[0] != '/'))
    {
        return;
    }

    if (sym_uri_path_s3(arena, once, &again, &err) == SYM_OK) {
        check(sym_str_eq(again, once.len == 0 ? SYM_STR("/") : once));
    } else {
        check(err.status == SYM_NOMEM);
    }
}


static void
sign(sym_arena_t *arena, sym_str_t rest)
{
    sym_sigv4_header_t headers[HEADERS_MAX] = { { SYM_STR("host"),
                                                  SYM_STR("a") } };
    sym_sigv4_request_t q = { .headers = headers,
                              .n_headers = 1,
                              .time_s = 1369353600 };
    sym_aws_credentials_t keys = { 0 };
    sym_sigv4_key_t key = { 0 };
    sym_error_t err = { 0 };
    sym_sigv4_t out;
    sym_status_t rc;

    q.credentials = &keys;
    q.method = take(&rest, '\n');
    q.path = take(&rest, '\n');
    q.query = take(&rest, '\n');
    q.region = take(&rest, '\n');
    q.payload_hash = take(&rest, '\n');
    keys.access_key = take(&rest, '\n');
    keys.secret_key = take(&rest, '\n');
    keys.token = take(&rest, '\n');

    while (rest.len > 0 && q.n_headers < HEADERS_MAX) {
        sym_str_t line = take(&rest, '\n');

        headers[q.n_headers].name = take(&line, ':');
        headers[q.n_headers++].value = line;
    }

    rc = sym_sigv4_sign(arena, &key, &q, &out, &err);
    check(rc == err.status);
    check((rc == SYM_OK) == (out.authorization.len != 0));
    check((rc == SYM_OK) == (out.signature.len == SYM_SHA256_HEX_LEN));
    check(is_printable(out.authorization) && is_printable(out.content_sha256)
          && is_printable(out.security_token) && is_printable(out.amz_date));

    encoding(arena, q.path);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_arena_t arena;
    char *text;

    if (size == 0) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    text = malloc(size == 1 ? 1 : size - 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);

    /* '0' to '3': no limit of memory */
    sym_arena_init(&arena, (size_t) (data[0] >> 2 & 3) * 5000);

    if ((data[0] & 2) == 0) {
        credentials(&arena, (data[0] & 1) == 0, sym_str(text, size - 1));
    } else {
        sign(&arena, sym_str(text, size - 1));
    }

    sym_arena_drop(&arena);
    free(text);
    return 0;
}
