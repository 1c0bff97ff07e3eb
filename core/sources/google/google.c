#include "sources/google/google.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/text.h"
#include "json/load.h"
#include "json/out.h"

#define JWT_HEADER "{\"alg\":\"RS256\",\"typ\":\"JWT\"}"
#define JWT_SCOPE "https://www.googleapis.com/auth/devstorage.read_only"
#define FORM_BEGIN                                                             \
    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"         \
    "&assertion="
#define CLAIMS_MORE 1024    /* bytes of the claims without their texts */
#define ASSERTION_MORE_S 30 /* its lifetime after that of the token */
#define EXPIRY_MARGIN_S 60u
#define ANSWER_MEMORY ((size_t) 1 << 20)


/* --- the key --- */

/* Replaces JSON's escapes for line ends, in case the text was copied from
   Google's file with them. */
static sym_str_t
with_lines(sym_arena_t *arena, sym_str_t pem)
{
    char *out = sym_arena_alloc(arena, pem.len + 1);
    size_t n = 0;

    if (out == NULL) {
        return (sym_str_t){ NULL, 0 };
    }

    for (size_t i = 0; i < pem.len; i++) {
        if (pem.data[i] == '\\' && i + 1 < pem.len && pem.data[i + 1] == 'n') {
            out[n++] = '\n';
            i++;
        } else {
            out[n++] = pem.data[i];
        }
    }

    return sym_str(out, n);
}


/* Returns no password: that of an encrypted key is unknown, and OpenSSL must
   not ask for it on a terminal. */
static int
no_password(char *buf, int size, int is_writing, void *data)
{
    (void) buf;
    (void) size;
    (void) is_writing;
    (void) data;
    return -1;
}


/* No number in the key may be larger than the limit for its modulus, because
 * the time of a signature grows with the exponents. */
static bool
is_bounded(const EVP_PKEY *key)
{
    static const char *const names[] = {
        OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
        OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1
    };
    BIGNUM *n = NULL;
    bool is = true;

    for (size_t i = 0; is && i < sizeof(names) / sizeof(names[0]); i++) {
        is = EVP_PKEY_get_bn_param(key, names[i], &n) == 1
             && BN_num_bits(n) <= SYM_GOOGLE_KEY_BITS_MAX;
        BN_clear_free(n);
        n = NULL;
    }

    /* RFC 8017 allows more than two primes, but no service has such keys */
    if (is && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_FACTOR3, &n) == 1)
    {
        BN_clear_free(n);
        is = false;
    }

    return is;
}


static EVP_PKEY *
read_key(sym_str_t pem, sym_error_t *err)
{
    BIO *bio = BIO_new_mem_buf(pem.data, (int) pem.len);
    EVP_PKEY *key = bio == NULL
                        ? NULL
                        : PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    int bits = key != NULL ? EVP_PKEY_get_bits(key) : 0;

    BIO_free(bio);

    if (key == NULL) {
        (void) sym_fail(err, SYM_MALFORMED, "its private key cannot be read");
    } else if (!EVP_PKEY_is_a(key, "RSA") || bits < SYM_GOOGLE_KEY_BITS_MIN
               || bits > SYM_GOOGLE_KEY_BITS_MAX || !is_bounded(key))
    {
        (void) sym_fail(err, SYM_UNSUPPORTED,
                        "its private key is not one of RSA with 2,048 to 4,096 "
                        "bits");
        EVP_PKEY_free(key);
        key = NULL;
    }

    return key;
}


/* RS256: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, 3.3). */
static bool
sign(EVP_PKEY *key, sym_str_t text,
     unsigned char out[SYM_GOOGLE_KEY_BITS_MAX / 8], size_t *len)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool is_signed;

    *len = SYM_GOOGLE_KEY_BITS_MAX / 8;
    is_signed = ctx != NULL
                && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1
                && EVP_DigestSign(ctx, out, len,
                                  (const unsigned char *) text.data, text.len)
                       == 1;
    EVP_MD_CTX_free(ctx);
    return is_signed;
}


/* --- the assertion --- */

/* base64url without padding (RFC 4648, section 5). */
static void
add_base64(sym_text_t *t, sym_str_t bytes)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned n = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (uint8_t) bytes.data[i];
        for (n += 8; n >= 6; n -= 6) {
            sym_text_byte(t, digits[bits >> (n - 6) & 63]);
        }
    }
    if (n > 0) {
        sym_text_byte(t, digits[bits << (6 - n) & 63]);
    }
}


static sym_str_t
make_claims(sym_arena_t *arena, const sym_request_source_t *s,
            sym_str_t audience, uint64_t now_s)
{
    size_t size = 6 * (s->client_email.len + audience.len) + CLAIMS_MORE;
    char *text = sym_arena_alloc(arena, size);
    sym_out_t out;

    if (text == NULL) {
        return (sym_str_t){ NULL, 0 };
    }

    out = sym_out_fixed(text, size);
    sym_out_raw(&out, SYM_STR("{\"iss\":"));
    sym_out_string(&out, s->client_email);
    sym_out_raw(&out, SYM_STR(",\"scope\":\"" JWT_SCOPE "\",\"aud\":"));
    sym_out_string(&out, audience);
    sym_out_raw(&out, SYM_STR(",\"exp\":"));
    sym_out_dec(&out, now_s + SYM_GOOGLE_LIFE_S + ASSERTION_MORE_S);
    sym_out_raw(&out, SYM_STR(",\"iat\":"));
    sym_out_dec(&out, now_s);
    sym_out_raw(&out, SYM_STR("}"));
    return sym_str(text, (size_t) (out.pos - text));
}


sym_status_t
sym_google_grant(sym_arena_t *arena, const sym_request_source_t *s,
                 sym_str_t audience, uint64_t now_s, sym_str_t *form,
                 sym_error_t *err)
{
    unsigned char signature[SYM_GOOGLE_KEY_BITS_MAX / 8];
    sym_text_t t = { .arena = arena }, f = { .arena = arena };
    sym_str_t pem = with_lines(arena, s->private_key);
    sym_str_t claims = make_claims(arena, s, audience, now_s);
    sym_str_t text;
    EVP_PKEY *key;
    size_t len;
    bool is_signed;

    add_base64(&t, SYM_STR(JWT_HEADER));
    sym_text_byte(&t, '.');
    add_base64(&t, claims);
    text = sym_text_end(&t);
    if (pem.data == NULL || claims.data == NULL || t.failed) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    key = read_key(pem, err);
    is_signed = key != NULL && sign(key, text, signature, &len);
    EVP_PKEY_free(key);
    sym_wipe((void *) (uintptr_t) pem.data, pem.len);

    /* otherwise nginx would report it as an error of its next connection */
    ERR_clear_error();

    if (!is_signed) {
        return key == NULL ? err->status
                           : sym_fail(err, SYM_MALFORMED,
                                      "its private key cannot sign");
    }

    sym_text_add(&f, SYM_STR(FORM_BEGIN));
    sym_text_add(&f, text);
    sym_text_byte(&f, '.');
    add_base64(&f, sym_str((const char *) signature, len));
    *form = sym_text_end(&f);
    return f.failed ? sym_fail(err, SYM_NOMEM, NULL) : SYM_OK;
}


/* --- the answer --- */

static bool
is_token(sym_str_t s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] <= ' ' || s.data[i] >= 0x7f) {
            return false;
        }
    }

    return s.len > 0 && s.len <= SYM_GOOGLE_TOKEN_MAX;
}


sym_status_t
sym_google_token_read(sym_arena_t *arena, sym_str_t text, sym_str_t *token,
                      uint32_t *life_s, sym_error_t *err)
{
    sym_json_t json;
    const json_t *value, *life;
    json_int_t s = 0;
    sym_status_t rc = sym_json_load(&json, text, ANSWER_MEMORY, 0,
                                    "the answer is not JSON", err);

    if (rc == SYM_OK) {
        value = json_object_get(json.root, "access_token");
        life = json_object_get(json.root, "expires_in");
        s = json_is_integer(life) ? json_integer_value(life)
                                  : (json_int_t) SYM_GOOGLE_LIFE_S;
        *token = sym_str(json_string_value(value), json_string_length(value));

        if (!json_is_string(value) || !is_token(*token)) {
            rc = sym_fail(err, SYM_MALFORMED, "the answer has no token");
        } else {
            *token = sym_arena_copy(arena, *token);
            rc = token->data != NULL ? SYM_OK : sym_fail(err, SYM_NOMEM, NULL);
        }
    }

    /* a token that is about to expire is used for this request, but not
     * cached */
    if (s > (json_int_t) (SYM_GOOGLE_LIFE_S + EXPIRY_MARGIN_S)) {
        s = SYM_GOOGLE_LIFE_S + EXPIRY_MARGIN_S;
    }
    *life_s = s > (json_int_t) EXPIRY_MARGIN_S
                  ? (uint32_t) (s - (json_int_t) EXPIRY_MARGIN_S)
                  : 0;

    sym_json_drop(&json);
    return rc;
}


/* --- cached tokens --- */

bool
sym_google_key(sym_arena_t *arena, const sym_request_source_t *s,
               sym_str_t audience, sym_sha256_t *key)
{
    sym_text_t t = { .arena = arena };
    sym_str_t all;
    bool is_made;

    /* addresses and accounts contain no zero byte; the private key is the last
     * part */
    sym_text_add(&t, audience);
    sym_text_byte(&t, '\0');
    sym_text_add(&t, s->client_email);
    sym_text_byte(&t, '\0');
    sym_text_add(&t, s->private_key);

    all = sym_text_end(&t);
    is_made = !t.failed && sym_sha256(all, key);
    if (!t.failed) {
        sym_wipe((void *) (uintptr_t) all.data, all.len);
    }
    return is_made;
}


static sym_google_entry_t *
find_entry(sym_google_tokens_t *tokens, const sym_sha256_t *key)
{
    for (uint32_t i = 0; i < SYM_GOOGLE_TOKENS; i++) {
        sym_google_entry_t *e = &tokens->entries[i];

        if (e->len != 0
            && memcmp(e->key.bytes, key->bytes, SYM_SHA256_LEN) == 0) {
            return e;
        }
    }

    return NULL;
}


sym_str_t
sym_google_token_find(sym_google_tokens_t *tokens, const sym_sha256_t *key,
                      uint64_t now_s)
{
    sym_google_entry_t *e = find_entry(tokens, key);

    if (e == NULL) {
        return SYM_STR("");
    }

    if (e->expires_at <= now_s) {
        sym_wipe(e, sizeof(*e));
        return SYM_STR("");
    }

    e->used = ++tokens->uses;
    return sym_str(e->token, e->len);
}


void
sym_google_token_keep(sym_google_tokens_t *tokens, const sym_sha256_t *key,
                      sym_str_t token, uint64_t expires_at)
{
    sym_google_entry_t *e = find_entry(tokens, key);

    if (token.len > SYM_GOOGLE_TOKEN_MAX) {
        return;
    }

    for (uint32_t i = 0; e == NULL && i < SYM_GOOGLE_TOKENS; i++) {
        if (tokens->entries[i].len == 0) {
            e = &tokens->entries[i];
        }
    }

    if (e == NULL) {
        e = &tokens->entries[0];
        for (uint32_t i = 1; i < SYM_GOOGLE_TOKENS; i++) {
            if (tokens->entries[i].used < e->used) {
                e = &tokens->entries[i];
            }
        }
    }

    sym_wipe(e, sizeof(*e));
    e->key = *key;
    e->expires_at = expires_at;
    e->used = ++tokens->uses;
    e->len = (uint32_t) token.len;
    memcpy(e->token, token.data, token.len);
}


void
sym_google_token_forget(sym_google_tokens_t *tokens, const sym_sha256_t *key)
{
    sym_google_entry_t *e = find_entry(tokens, key);

    if (e != NULL) {
        sym_wipe(e, sizeof(*e));
    }
}


/* --- refused keys --- */

void
sym_google_refuse(sym_google_tokens_t *tokens, const sym_sha256_t *key,
                  const char *why, uint64_t until)
{
    tokens->refused[tokens->n_refused++ % SYM_GOOGLE_REFUSALS] =
        (sym_google_refusal_t){ .key = *key, .until = until, .why = why };
}


bool
sym_google_is_refused(const sym_google_tokens_t *tokens,
                      const sym_sha256_t *key, uint64_t now_s, const char **why)
{
    for (uint32_t i = 0; i < SYM_GOOGLE_REFUSALS; i++) {
        const sym_google_refusal_t *r = &tokens->refused[i];

        if (r->until > now_s
            && memcmp(r->key.bytes, key->bytes, SYM_SHA256_LEN) == 0) {
            *why = r->why;
            return true;
        }
    }

    return false;
}
