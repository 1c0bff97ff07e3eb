#include "sources/aws/sigv4.h"

#include "base/hmac.h"
#include "base/text.h"
#include "base/uri.h"

#define ALGORITHM SYM_STR("AWS4-HMAC-SHA256")
#define SERVICE SYM_STR("s3")
#define TERMINATOR SYM_STR("aws4_request")

/* The caller's headers and the three that are added. */
#define SIGNED_MAX (SYM_SIGV4_HEADERS_MAX + 3)

typedef struct {
    sym_str_t name;  /* in lower case */
    sym_str_t value; /* as sent */
} signed_t;

typedef struct {
    sym_arena_t *arena;
    const sym_sigv4_request_t *request;
    sym_error_t *err;
    signed_t headers[SIGNED_MAX]; /* sorted by name; equal names in the caller's
                                     order */
    size_t n;
    sym_str_t date; /* 20130524T000000Z */
    sym_str_t scope;
} work_t;

static sym_status_t
no_memory(sym_error_t *err)
{
    return sym_fail(err, SYM_NOMEM, "no memory to sign a request");
}


static sym_status_t
no_crypto(sym_error_t *err)
{
    return sym_fail(err, SYM_NOMEM, "libcrypto cannot do SHA-256");
}


/* --- the signing key --- */

static sym_status_t
check_region(sym_str_t s, sym_error_t *err)
{
    if (s.len > SYM_SIGV4_REGION_MAX) {
        return sym_fail(err, SYM_LIMIT, "the region is too long");
    }

    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
        {
            return sym_fail(err, SYM_MALFORMED, "the region is not a name");
        }
    }

    return s.len != 0 ? SYM_OK
                      : sym_fail(err, SYM_MALFORMED, "the region is empty");
}


/* Hash of the inputs of the key; the key can be compared without a copy of the
 * secret. */
static bool
hash_inputs(sym_str_t secret_key, sym_str_t day, sym_str_t region,
            sym_sha256_t *out)
{
    char text[sizeof(sym_sha256_t) + SYM_AMZ_DAY_LEN + SYM_SIGV4_REGION_MAX];
    sym_sha256_t secret;
    size_t len = 0;

    if (!sym_sha256(secret_key, &secret)) {
        return false;
    }

    memcpy(text, secret.bytes, sizeof(secret.bytes));
    len += sizeof(secret.bytes);
    memcpy(text + len, day.data, SYM_AMZ_DAY_LEN);
    len += SYM_AMZ_DAY_LEN;
    memcpy(text + len, region.data, region.len);
    len += region.len;

    return sym_sha256(sym_str(text, len), out);
}


/* HMAC(HMAC(HMAC(HMAC("AWS4" + secret, day), region), "s3"), terminator) */
static bool
derive(sym_str_t secret_key, sym_str_t day, sym_str_t region, sym_sha256_t *out)
{
    const sym_str_t parts[] = { day, region, SERVICE, TERMINATOR };
    char first[4 + SYM_AWS_SECRET_KEY_MAX] = "AWS4";
    sym_str_t key = sym_str(first, 4 + secret_key.len);
    sym_sha256_t steps[2];
    bool is_fine = true;

    memcpy(first + 4, secret_key.data, secret_key.len);

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && is_fine; i++) {
        sym_sha256_t *step = &steps[i % 2];

        is_fine = sym_hmac_sha256(key, parts[i], step);
        key = sym_str((const char *) step->bytes, sizeof(step->bytes));
        *out = *step;
    }

    sym_wipe(first, sizeof(first));
    sym_wipe(steps, sizeof(steps));
    return is_fine;
}


sym_status_t
sym_sigv4_key(sym_sigv4_key_t *key, sym_str_t secret_key, sym_str_t region,
              uint64_t time_s, bool *made, sym_error_t *err)
{
    char date[SYM_AMZ_DATE_LEN];
    sym_sha256_t made_of;
    sym_str_t day;

    if (made != NULL) {
        *made = false;
    }

    if (err->status != SYM_OK || check_region(region, err) != SYM_OK) {
        return err->status;
    }

    if (secret_key.len == 0) {
        return sym_fail(err, SYM_MALFORMED, "an AWS key is empty");
    }
    if (secret_key.len > SYM_AWS_SECRET_KEY_MAX) {
        return sym_fail(err, SYM_LIMIT, "an AWS key or token is too long");
    }
    if (!sym_amz_date_write(time_s, date)) {
        return sym_fail(err, SYM_LIMIT, "the time is past the year 9999");
    }

    day = sym_str(date, SYM_AMZ_DAY_LEN);
    if (!hash_inputs(secret_key, day, region, &made_of)) {
        return no_crypto(err);
    }

    if (key->is_made
        && memcmp(key->made_of.bytes, made_of.bytes, sizeof(made_of.bytes))
               == 0)
    {
        return SYM_OK;
    }

    key->is_made = false;
    if (!derive(secret_key, day, region, &key->key)) {
        return no_crypto(err);
    }

    key->made_of = made_of;
    key->is_made = true;
    if (made != NULL) {
        *made = true;
    }
    return SYM_OK;
}


/* --- headers --- */

/* RFC 9110, 5.6.2: token */
static bool
is_token(sym_str_t s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];

        if (c <= 0x20 || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c) != NULL)
        {
            return false;
        }
    }

    return s.len != 0;
}


/* RFC 9110, 5.5: no control character but a tab */
static bool
is_field_value(sym_str_t s)
{
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = (uint8_t) s.data[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return false;
        }
    }

    return true;
}


static sym_str_t
lower_copy(sym_arena_t *arena, sym_str_t s)
{
    char *p = sym_arena_alloc(arena, s.len);

    for (size_t i = 0; p != NULL && i < s.len; i++) {
        p[i] = sym_lower(s.data[i]);
    }

    return sym_str(p, p == NULL ? 0 : s.len);
}


/* Places the header after those with the same name. */
static void
insert(work_t *w, sym_str_t name, sym_str_t value)
{
    size_t place = w->n++;

    for (; place > 0 && sym_str_cmp(name, w->headers[place - 1].name) < 0;
         place--) {
        w->headers[place] = w->headers[place - 1];
    }

    w->headers[place] = (signed_t){ name, value };
}


static bool
is_added_by_us(sym_str_t name)
{
    return sym_str_eq(name, SYM_STR("authorization"))
           || sym_str_eq(name, SYM_STR("x-amz-date"))
           || sym_str_eq(name, SYM_STR("x-amz-content-sha256"))
           || sym_str_eq(name, SYM_STR("x-amz-security-token"));
}


static sym_status_t
collect_one(work_t *w, const sym_sigv4_header_t *header)
{
    sym_str_t name;

    if (header->name.len > SYM_SIGV4_HEADER_MAX
        || header->value.len > SYM_SIGV4_HEADER_MAX)
    {
        return sym_fail(w->err, SYM_LIMIT, "a header is too long to sign");
    }
    if (!is_token(header->name)) {
        return sym_fail(w->err, SYM_MALFORMED, "a header's name is invalid");
    }
    if (!is_field_value(header->value)) {
        return sym_fail(w->err, SYM_MALFORMED,
                        "a header holds a control character");
    }

    name = lower_copy(w->arena, header->name);
    if (name.data == NULL) {
        return no_memory(w->err);
    }
    if (is_added_by_us(name)) {
        return sym_fail(w->err, SYM_MALFORMED,
                        "a header that signing adds is already set");
    }

    insert(w, name, header->value);
    return SYM_OK;
}


static sym_status_t
collect(work_t *w)
{
    const sym_sigv4_request_t *q = w->request;
    bool has_host = false;

    if (q->n_headers > SYM_SIGV4_HEADERS_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "too many headers to sign");
    }

    for (size_t i = 0; i < q->n_headers; i++) {
        if (collect_one(w, &q->headers[i]) != SYM_OK) {
            return w->err->status;
        }
    }

    for (size_t i = 0; i < w->n; i++) {
        has_host = has_host || sym_str_eq(w->headers[i].name, SYM_STR("host"));
    }
    if (!has_host) {
        return sym_fail(w->err, SYM_MALFORMED, "there is no Host to sign");
    }

    insert(w, SYM_STR("x-amz-date"), w->date);
    insert(w, SYM_STR("x-amz-content-sha256"), q->payload_hash);
    if (q->credentials->token.len != 0) {
        insert(w, SYM_STR("x-amz-security-token"), q->credentials->token);
    }
    return SYM_OK;
}


/* Writes a value without white space at its ends; runs of white space inside
 * become one space.  AWS documents only spaces, but its own clients treat tabs
 * in the same way. */
static void
add_folded(sym_text_t *t, sym_str_t value)
{
    bool is_owed = false, is_first = true;

    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];

        if (c == ' ' || c == '\t') {
            is_owed = !is_first;
            continue;
        }

        if (is_owed) {
            sym_text_byte(t, ' ');
        }
        sym_text_byte(t, c);
        is_owed = is_first = false;
    }
}


static void
add_headers(const work_t *w, sym_text_t *canonical, sym_text_t *names)
{
    for (size_t i = 0; i < w->n; i++) {
        const signed_t *h = &w->headers[i];

        if (i > 0 && sym_str_eq(h->name, h[-1].name)) {
            sym_text_byte(canonical, ',');
            add_folded(canonical, h->value);
            continue;
        }

        if (i > 0) {
            sym_text_byte(canonical, '\n');
            sym_text_byte(names, ';');
        }
        sym_text_add(canonical, h->name);
        sym_text_byte(canonical, ':');
        add_folded(canonical, h->value);
        sym_text_add(names, h->name);
    }

    sym_text_byte(canonical, '\n');
}


/* --- a request --- */

static bool
is_payload_hash(sym_str_t s)
{
    if (sym_str_eq(s, SYM_SIGV4_UNSIGNED)) {
        return true;
    }

    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }

    return s.len == SYM_SHA256_HEX_LEN;
}


static sym_status_t
check(const sym_sigv4_request_t *q, sym_error_t *err)
{
    if (q->method.len > SYM_SIGV4_METHOD_MAX) {
        return sym_fail(err, SYM_LIMIT, "the method is too long");
    }
    if (!is_token(q->method)) {
        return sym_fail(err, SYM_MALFORMED, "the method is invalid");
    }
    if (q->path.len > SYM_SIGV4_PATH_MAX) {
        return sym_fail(err, SYM_LIMIT, "the path is too long to sign");
    }
    if (q->query.len > SYM_SIGV4_QUERY_MAX) {
        return sym_fail(err, SYM_LIMIT, "the query is too long to sign");
    }
    if (!is_payload_hash(q->payload_hash)) {
        return sym_fail(err, SYM_MALFORMED,
                        "the payload hash is not a SHA-256");
    }

    return sym_aws_credentials_check(q->credentials, err);
}


static sym_status_t
make_canonical(work_t *w, sym_sigv4_t *out)
{
    const sym_sigv4_request_t *q = w->request;
    sym_text_t t = { .arena = w->arena }, names = { .arena = w->arena };
    sym_str_t path, query;

    if (sym_uri_path_s3(w->arena, q->path, &path, w->err) != SYM_OK
        || sym_uri_query(w->arena, q->query, &query, w->err) != SYM_OK
        || collect(w) != SYM_OK)
    {
        return w->err->status;
    }

    sym_text_add(&t, q->method);
    sym_text_byte(&t, '\n');
    sym_text_add(&t, path);
    sym_text_byte(&t, '\n');
    sym_text_add(&t, query);
    sym_text_byte(&t, '\n');
    add_headers(w, &t, &names);
    sym_text_byte(&t, '\n');
    out->signed_headers = sym_text_end(&names);
    sym_text_add(&t, out->signed_headers);
    sym_text_byte(&t, '\n');
    sym_text_add(&t, q->payload_hash);
    out->canonical_request = sym_text_end(&t);

    return t.failed || names.failed ? no_memory(w->err) : SYM_OK;
}


static sym_status_t
make_string_to_sign(work_t *w, sym_sigv4_t *out)
{
    const sym_sigv4_request_t *q = w->request;
    sym_text_t scope = { .arena = w->arena }, t = { .arena = w->arena };
    char hex[SYM_SHA256_HEX_LEN];
    sym_sha256_t digest;

    if (!sym_sha256(out->canonical_request, &digest)) {
        return no_crypto(w->err);
    }
    sym_sha256_hex(&digest, hex);

    sym_text_add(&scope, sym_str(w->date.data, SYM_AMZ_DAY_LEN));
    sym_text_byte(&scope, '/');
    sym_text_add(&scope, q->region);
    sym_text_byte(&scope, '/');
    sym_text_add(&scope, SERVICE);
    sym_text_byte(&scope, '/');
    sym_text_add(&scope, TERMINATOR);
    w->scope = sym_text_end(&scope);

    sym_text_add(&t, ALGORITHM);
    sym_text_byte(&t, '\n');
    sym_text_add(&t, w->date);
    sym_text_byte(&t, '\n');
    sym_text_add(&t, w->scope);
    sym_text_byte(&t, '\n');
    sym_text_add(&t, sym_str(hex, sizeof(hex)));
    out->string_to_sign = sym_text_end(&t);

    return t.failed || scope.failed ? no_memory(w->err) : SYM_OK;
}


static sym_status_t
make_authorization(work_t *w, const sym_sigv4_key_t *key, sym_sigv4_t *out)
{
    sym_str_t bytes =
        sym_str((const char *) key->key.bytes, sizeof(key->key.bytes));
    sym_text_t t = { .arena = w->arena };
    char hex[SYM_SHA256_HEX_LEN];
    sym_sha256_t digest;

    if (!sym_hmac_sha256(bytes, out->string_to_sign, &digest)) {
        return no_crypto(w->err);
    }
    sym_sha256_hex(&digest, hex);
    out->signature = sym_arena_copy(w->arena, sym_str(hex, sizeof(hex)));

    sym_text_add(&t, ALGORITHM);
    sym_text_add(&t, SYM_STR(" Credential="));
    sym_text_add(&t, w->request->credentials->access_key);
    sym_text_byte(&t, '/');
    sym_text_add(&t, w->scope);
    sym_text_add(&t, SYM_STR(", SignedHeaders="));
    sym_text_add(&t, out->signed_headers);
    sym_text_add(&t, SYM_STR(", Signature="));
    sym_text_add(&t, sym_str(hex, sizeof(hex)));
    out->authorization = sym_text_end(&t);

    return t.failed || out->signature.data == NULL ? no_memory(w->err) : SYM_OK;
}


/* Values of the headers to send are copies, so that they outlive the
 * request. */
static sym_status_t
copy_values(work_t *w, sym_sigv4_t *out)
{
    const sym_sigv4_request_t *q = w->request;

    out->amz_date = sym_arena_copy(w->arena, w->date);
    out->content_sha256 = sym_arena_copy(w->arena, q->payload_hash);
    out->security_token = sym_arena_copy(w->arena, q->credentials->token);

    return out->amz_date.data != NULL && out->content_sha256.data != NULL
                   && out->security_token.data != NULL
               ? SYM_OK
               : no_memory(w->err);
}


sym_status_t
sym_sigv4_sign(sym_arena_t *arena, sym_sigv4_key_t *key,
               const sym_sigv4_request_t *request, sym_sigv4_t *out,
               sym_error_t *err)
{
    work_t w = { .arena = arena, .request = request, .err = err };
    sym_sigv4_t made = { 0 };
    char date[SYM_AMZ_DATE_LEN];

    *out = (sym_sigv4_t){ 0 };

    if (err->status != SYM_OK || check(request, err) != SYM_OK
        || sym_sigv4_key(key, request->credentials->secret_key, request->region,
                         request->time_s, NULL, err)
               != SYM_OK)
    {
        return err->status;
    }

    /* without a valid date there is no key */
    (void) sym_amz_date_write(request->time_s, date);
    w.date = sym_str(date, sizeof(date));

    if (make_canonical(&w, &made) != SYM_OK
        || make_string_to_sign(&w, &made) != SYM_OK
        || make_authorization(&w, key, &made) != SYM_OK
        || copy_values(&w, &made) != SYM_OK)
    {
        return err->status;
    }

    *out = made;
    return SYM_OK;
}
