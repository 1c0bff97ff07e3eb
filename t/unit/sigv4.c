/*
 * Requests are signed as S3's documentation and AWS's own client sign them;
 * anything that could break out of a header is refused; every limit and lack of
 * memory is reported.
 */
#include "sources/aws/sigv4.h"
#include "base/uri.h"
#include "tap.h"

#define DAY_S UINT64_C(86400)
#define SUITE_TIME_S 1440938160u /* 20150830T123600Z */
#define S3_TIME_S 1369353600u    /* 20130524T000000Z */

#define SUITE_TOKEN                                                            \
    "AQoDYXdzEPT//////////"                                                    \
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGB"                   \
    "uFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/"                   \
    "kMcGdQrmGdeehM4IC1NtB"                                                    \
    "mUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHN" \
    "VXA"                                                                      \
    "kiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"                             \
    "scqKmlzm8FDrypNC9Yjc8fPOLn9FX9K"                                          \
    "SYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

#define H(name, value)                                                         \
    {                                                                          \
        SYM_STR(name), SYM_STR(value)                                          \
    }
#define SUITE_HOST H("Host", "example.amazonaws.com")
#define S3_HOST H("Host", "examplebucket.s3.amazonaws.com")

static const sym_aws_credentials_t suite_keys = {
    .access_key = { "AKIDEXAMPLE", 11 },
    .secret_key = { "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 40 },
};

static const sym_aws_credentials_t s3_keys = {
    .access_key = { "AKIAIOSFODNN7EXAMPLE", 20 },
    .secret_key = { "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", 40 },
};

static sym_sigv4_request_t
suite_request(void)
{
    static const sym_sigv4_header_t host = SUITE_HOST;

    return (sym_sigv4_request_t){
        .method = SYM_STR("GET"),
        .path = SYM_STR("/"),
        .headers = &host,
        .n_headers = 1,
        .payload_hash = SYM_SIGV4_EMPTY,
        .credentials = &suite_keys,
        .region = SYM_STR("us-east-1"),
        .time_s = SUITE_TIME_S,
    };
}


static sym_sigv4_request_t
s3_request(void)
{
    sym_sigv4_request_t q = suite_request();

    q.credentials = &s3_keys;
    q.time_s = S3_TIME_S;
    return q;
}


/* --- Amazon S3 API Reference: examples of the Authorization header --- */

static void
s3_examples(void)
{
    static const struct {
        const char *method, *path, *query, *payload_hash, *signature;
        sym_sigv4_header_t headers[4];
        size_t n_headers;
    } cases[] = {
        { "GET",
          "/test.txt",
          "",
          NULL,
          "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
          { S3_HOST, H("Range", "bytes=0-9") },
          2 },
        { "PUT",
          "/test$file.text",
          "",
          "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
          "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
          { H("Date", "Fri, 24 May 2013 00:00:00 GMT"), S3_HOST,
            H("x-amz-storage-class", "REDUCED_REDUNDANCY") },
          3 },
        { "PUT",
          "/test%24file.text",
          "",
          "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
          "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
          { H("Date", "Fri, 24 May 2013 00:00:00 GMT"), S3_HOST,
            H("x-amz-storage-class", "REDUCED_REDUNDANCY") },
          3 },
        { "GET",
          "/",
          "lifecycle",
          NULL,
          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
          { S3_HOST },
          1 },
        { "GET",
          "/",
          "max-keys=2&prefix=J",
          NULL,
          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
          { S3_HOST },
          1 },
        { "GET",
          "",
          "prefix=%4a&&max-keys=2",
          NULL,
          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
          { S3_HOST },
          1 },
    };
    sym_sigv4_key_t key = { 0 };
    sym_arena_t arena;

    sym_arena_init(&arena, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        sym_sigv4_request_t q = s3_request();
        sym_error_t err = { 0 };
        sym_sigv4_t out;
        char name[128];

        q.method = sym_cstr(cases[i].method);
        q.path = sym_cstr(cases[i].path);
        q.query = sym_cstr(cases[i].query);
        q.headers = cases[i].headers;
        q.n_headers = cases[i].n_headers;
        if (cases[i].payload_hash != NULL) {
            q.payload_hash = sym_cstr(cases[i].payload_hash);
        }

        (void) snprintf(name, sizeof(name), "S3: %s %s?%s", cases[i].method,
                        cases[i].path, cases[i].query);
        is_status(sym_sigv4_sign(&arena, &key, &q, &out, &err), SYM_OK, &err,
                  name);
        is_str(out.signature, cases[i].signature, "... its signature");
    }

    sym_arena_drop(&arena);
}


static void
s3_in_full(void)
{
    static const sym_sigv4_header_t headers[] = { H("range", "bytes=0-9"),
                                                  S3_HOST };
    sym_sigv4_request_t q = s3_request();
    sym_sigv4_key_t key = { 0 };
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_sigv4_t out;

    q.path = SYM_STR("/test.txt");
    q.headers = headers;
    q.n_headers = 2;
    sym_arena_init(&arena, 0);
    (void) sym_sigv4_sign(&arena, &key, &q, &out, &err);

    is_str(
        out.canonical_request,
        "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\n"
        "range:bytes=0-9\nx-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb"
        "92427ae41e4649b934ca495991b7852b855\nx-amz-date:20130524T000000Z\n\n"
        "host;range;x-amz-content-sha256;x-amz-date\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "canonical request");
    is_str(out.string_to_sign,
           "AWS4-HMAC-SHA256\n20130524T000000Z\n"
           "20130524/us-east-1/s3/aws4_request\n"
           "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
           "string to sign");
    is_str(
        out.authorization,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/"
        "s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;"
        "x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba4"
        "8dd91039c6036bdb41",
        "Authorization");
    is_str(out.amz_date, "20130524T000000Z", "X-Amz-Date");
    is_str(out.content_sha256,
           "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
           "X-Amz-Content-Sha256");
    is_str(out.security_token, "", "no token");

    sym_arena_drop(&arena);
}


/* --- requests of the test suite for Signature Version 4, to S3 --- */

/* Signatures: botocore's S3SigV4Auth. */
static void
suite(void)
{
    static const struct {
        const char *name, *method, *query, *signature;
        sym_sigv4_header_t headers[5];
        size_t n_headers;
    } cases[] = {
        { "vanilla",
          "GET",
          "",
          "4a57a9b66302b918923f101b20f6be667a12693f84a1e13a9a8b877028bef358",
          { SUITE_HOST },
          1 },
        { "query-order-key-case",
          "GET",
          "Param2=value2&Param1=value1",
          "3d1314a6c86c160ad49802e022b63ca287694709e3e90f772d38319a095e151d",
          { SUITE_HOST },
          1 },
        { "query-unreserved",
          "GET",
          "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-"
          "._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
          "443165d2a0fdbb644ffdc98c1d736c2b2870cbf60acb4545a8759aa402f9b515",
          { SUITE_HOST },
          1 },
        { "utf8-query",
          "GET",
          "%E1%88%B4=bar",
          "4d179388b6f894422c4a65daa332c04ed1a691bef2f966a04b7b638e0c400438",
          { SUITE_HOST },
          1 },
        { "header-key-duplicate",
          "GET",
          "",
          "7f7f8ddfe8d6a6ede5dcf3b2379d0b20b11838d2a20807167bef104dfbad3f52",
          { SUITE_HOST, H("My-Header1", "value2"), H("My-Header1", "value2"),
            H("My-Header1", "value1") },
          4 },
        { "header-value-order",
          "GET",
          "",
          "4a3e45d92ea751ca09977348fe88492f9bbe51871969dedd464f04981e751799",
          { SUITE_HOST, H("My-Header1", "value4"), H("My-Header1", "value1"),
            H("my-header1", "value3"), H("My-Header1", "value2") },
          5 },
        { "header-value-trim",
          "GET",
          "",
          "78bdd9a4313e6d5b311d2c83abe032d2bd3cb48d1af8cd7cfb3fb403f51857eb",
          { SUITE_HOST, H("My-Header1", " value1"),
            H("My-Header2", " \"a   b   c\"") },
          3 },
        { "post",
          "POST",
          "",
          "3533fa6453d1a77490be7cca2da27b629cf4349c01da7443d13314aef3ae5821",
          { SUITE_HOST },
          1 },
        { "header-key-sort",
          "POST",
          "",
          "520799a605c0481420b0ee3df3ba75cf56b46b32bff28c3630b283d6b2f750bb",
          { H("My-Header1", "value1"), SUITE_HOST },
          2 },
        { "header-value-case",
          "POST",
          "",
          "73f78133a01a9d6db1387757d0890b1d15f481dddd0ffde1beb7700952aefb38",
          { SUITE_HOST, H("My-Header1", "VALUE1") },
          2 },
        { "post-query",
          "POST",
          "Param1=value1",
          "3c39b664788aee8656940f6c09e36b5b45af94df509199697f46e33b92a8e105",
          { SUITE_HOST },
          1 },
    };
    sym_sigv4_key_t key = { 0 };
    sym_arena_t arena;

    sym_arena_init(&arena, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        sym_sigv4_request_t q = suite_request();
        sym_error_t err = { 0 };
        sym_sigv4_t out;

        q.method = sym_cstr(cases[i].method);
        q.query = sym_cstr(cases[i].query);
        q.headers = cases[i].headers;
        q.n_headers = cases[i].n_headers;

        (void) sym_sigv4_sign(&arena, &key, &q, &out, &err);
        is_str(out.signature, cases[i].signature, cases[i].name);
    }

    sym_arena_drop(&arena);
}


static void
token(void)
{
    sym_aws_credentials_t keys = suite_keys;
    sym_sigv4_request_t q = suite_request();
    sym_sigv4_key_t key = { 0 };
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_sigv4_t out;

    keys.token = SYM_STR(SUITE_TOKEN);
    q.credentials = &keys;
    q.method = SYM_STR("POST");
    sym_arena_init(&arena, 0);
    (void) sym_sigv4_sign(&arena, &key, &q, &out, &err);
    is_str(out.signature,
           "1d9a2eda9532590f1e75fb37b544da35f2a0aa3861985dbb6dede6d16edfda58",
           "a request with a token");
    is_str(out.signed_headers,
           "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
           "... with the token among the signed headers");
    is_str(out.security_token, SUITE_TOKEN, "... which is to be sent");
    sym_arena_drop(&arena);
}


/* Signed by a second implementation: odd bytes, a leap day, a token. */
static void
others(void)
{
    static const sym_sigv4_header_t s3_headers[] = { H(
        "Host", "bucket.s3.eu-central-1.amazonaws.com") };
    sym_aws_credentials_t keys = suite_keys;
    sym_sigv4_request_t q = suite_request();
    sym_sigv4_key_t key = { 0 };
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_sigv4_t out;

    sym_arena_init(&arena, 0);

    keys.token = SYM_STR("tok/en==");
    q.credentials = &keys;
    q.region = SYM_STR("eu-central-1");
    q.headers = s3_headers;
    q.query = SYM_STR("b=&a=2&a=1&A=%20");
    q.time_s = 1709251199;
    (void) sym_uri_encode(&arena,
                          SYM_STR("/xul.pdb/AB+C {x}@<1>//../~\xc3\xa9.sym"),
                          true, &q.path, &err);
    (void) sym_sigv4_sign(&arena, &key, &q, &out, &err);
    is_str(out.amz_date, "20240229T235959Z", "a leap day");
    is_str(out.signature,
           "2056a83acd2889883789e227c5c071a731d03dadf73ab74e9323319072920099",
           "an S3 key of odd bytes, with a token");

    q = s3_request();
    q.payload_hash = SYM_SIGV4_UNSIGNED;
    is_status(sym_sigv4_sign(&arena, &key, &q, &out, &err), SYM_OK, &err,
              "an unsigned payload");
    is_str(out.content_sha256, "UNSIGNED-PAYLOAD", "... is told");
    ok(out.canonical_request.len > 16
           && memcmp(out.canonical_request.data + out.canonical_request.len
                         - 17,
                     "\nUNSIGNED-PAYLOAD", 17)
                  == 0,
       "... and signed");

    sym_arena_drop(&arena);
}


/* --- the signing key --- */

static bool
makes_key(sym_sigv4_key_t *key, const char *secret, const char *region,
          uint64_t time_s)
{
    sym_error_t err = { 0 };
    bool made;

    return sym_sigv4_key(key, sym_cstr(secret), sym_cstr(region), time_s, &made,
                         &err)
               == SYM_OK
           && made;
}


static void
signing_key(void)
{
    const char *secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    const uint64_t midnight = SUITE_TIME_S / DAY_S * DAY_S;
    char hex[SYM_SHA256_HEX_LEN];
    sym_sigv4_key_t key = { 0 };

    ok(makes_key(&key, secret, "us-east-1", midnight), "made");
    sym_sha256_hex(&key.key, hex);
    is_str(sym_str(hex, sizeof(hex)),
           "32f78051dcde24c552811d654f4a769112bb834b03975cdd6b1fd7d16248c269",
           "the key of an HMAC by Python");

    ok(!makes_key(&key, secret, "us-east-1", midnight + DAY_S - 1),
       "kept until the day's last second");
    ok(makes_key(&key, secret, "us-east-1", midnight + DAY_S),
       "derived again on the next day");
    ok(makes_key(&key, "other", "us-east-1", midnight + DAY_S),
       "derived again for another secret key");
    ok(makes_key(&key, "other", "us-east-2", midnight + DAY_S),
       "derived again for another region");
}


/* --- encoding --- */

static void
encoding(void)
{
    char all[256];
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_str_t out;
    size_t plain = 0;

    sym_arena_init(&arena, 0);
    (void) sym_uri_encode(&arena, SYM_STR("aZ09-._~/ +{}@<>%\xff"), true, &out,
                          &err);
    is_str(out, "aZ09-._~/%20%2B%7B%7D%40%3C%3E%25%FF", "an S3 key");
    (void) sym_uri_encode(&arena, SYM_STR("a/b"), false, &out, &err);
    is_str(out, "a%2Fb", "a slash that is not kept");
    (void) sym_uri_encode(&arena, SYM_STR(""), false, &out, &err);
    is_str(out, "", "nothing");
    ok(out.data != NULL, "... which is not NULL");

    for (size_t i = 0; i < sizeof(all); i++) {
        all[i] = (char) i;
    }
    (void) sym_uri_encode(&arena, sym_str(all, sizeof(all)), true, &out, &err);
    for (size_t i = 0; i < out.len; i += out.data[i] == '%' ? 3 : 1) {
        plain += out.data[i] != '%';
    }
    is_u64(plain, 67, "67 bytes stay as they are");
    is_u64(out.len, 67 + 3 * (256 - 67), "all others take three");

    (void) sym_uri_query(&arena, SYM_STR("b=1&a-=2&a=3&a=%2d&=x&a%3D=y"), &out,
                         &err);
    is_str(out, "=x&a=-&a=3&a%3D=y&a-=2&b=1", "sorted as encoded");
    is_status(err.status, SYM_OK, &err, "no error");
    sym_arena_drop(&arena);
}


/* --- refused requests --- */

static char long_text[SYM_AWS_TOKEN_MAX + 2]; /* of a's */

static void
refuses(const sym_sigv4_request_t *q, sym_status_t want, const char *name)
{
    sym_sigv4_t out = { .signature = SYM_STR("old") };
    sym_sigv4_key_t key = { 0 };
    sym_error_t err = { 0 };
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    is_status(sym_sigv4_sign(&arena, &key, q, &out, &err), want, &err, name);
    ok(err.status == want && (want == SYM_OK) == (out.authorization.len != 0)
           && (want == SYM_OK) == (out.signature.len == 64),
       "... and says so");
    sym_arena_drop(&arena);
}


static void
refuses_header(const char *name, size_t name_len, const char *value,
               size_t value_len, sym_status_t want, const char *what)
{
    const sym_sigv4_header_t headers[] = {
        SUITE_HOST, { sym_str(name, name_len), sym_str(value, value_len) }
    };
    sym_sigv4_request_t q = suite_request();

    q.headers = headers;
    q.n_headers = 2;
    refuses(&q, want, what);
}


static void
bad_headers(void)
{
    static const char *const ours[] = { "Authorization", "X-Amz-Date",
                                        "x-amz-content-sha256",
                                        "X-AMZ-Security-Token" };
    sym_sigv4_header_t many[SYM_SIGV4_HEADERS_MAX + 1];
    sym_sigv4_request_t q = suite_request();

    refuses_header("A", 1, "b\r\nC: d", 7, SYM_MALFORMED, "CR LF in a value");
    refuses_header("A", 1, "b\nc", 3, SYM_MALFORMED, "LF in a value");
    refuses_header("A", 1, "b\0c", 3, SYM_MALFORMED, "NUL in a value");
    refuses_header("A\n", 2, "b", 1, SYM_MALFORMED, "LF in a name");
    refuses_header("A:", 2, "b", 1, SYM_MALFORMED, "colon in a name");
    refuses_header("A\0", 2, "b", 1, SYM_MALFORMED, "NUL in a name");
    refuses_header("\xc3\xa9", 2, "b", 1, SYM_MALFORMED, "a name not ASCII");
    refuses_header("", 0, "b", 1, SYM_MALFORMED, "no name");
    refuses_header("A", 1, "", 0, SYM_OK, "an empty value is fine");
    refuses_header("A", 1, "\xc3\xa9", 2, SYM_OK, "a value not ASCII is fine");

    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
        refuses_header(ours[i], strlen(ours[i]), "b", 1, SYM_MALFORMED,
                       ours[i]);
    }

    refuses_header("A", 1, long_text, SYM_SIGV4_HEADER_MAX, SYM_OK,
                   "the longest value");
    refuses_header("A", 1, long_text, SYM_SIGV4_HEADER_MAX + 1, SYM_LIMIT,
                   "a value too long");
    refuses_header(long_text, SYM_SIGV4_HEADER_MAX, "b", 1, SYM_OK,
                   "the longest name");
    refuses_header(long_text, SYM_SIGV4_HEADER_MAX + 1, "b", 1, SYM_LIMIT,
                   "a name too long");

    for (size_t i = 0; i < SYM_SIGV4_HEADERS_MAX + 1; i++) {
        many[i] = (sym_sigv4_header_t) SUITE_HOST;
    }
    q.headers = many;
    q.n_headers = SYM_SIGV4_HEADERS_MAX;
    refuses(&q, SYM_OK, "the most headers");
    q.n_headers++;
    refuses(&q, SYM_LIMIT, "too many headers");
    q.n_headers = 0;
    refuses(&q, SYM_MALFORMED, "no Host");
}


/* Sets a part of a request, expects an error, and restores the part. */
#define REFUSES(part, text, length, want, name)                                \
    do {                                                                       \
        sym_str_t before_ = (part);                                            \
        (part) = sym_str((text), (length));                                    \
        refuses(&q, (want), (name));                                           \
        (part) = before_;                                                      \
    } while (0)

static void
bad_parts(void)
{
    sym_sigv4_request_t q = suite_request();
    const char *sha256 = SYM_SIGV4_EMPTY.data;

    REFUSES(q.method, "", 0, SYM_MALFORMED, "no method");
    REFUSES(q.method, "GET\n", 4, SYM_MALFORMED, "LF in the method");
    REFUSES(q.method, long_text, SYM_SIGV4_METHOD_MAX, SYM_OK,
            "the longest method");
    REFUSES(q.method, long_text, SYM_SIGV4_METHOD_MAX + 1, SYM_LIMIT,
            "a method too long");
    REFUSES(q.path, "a", 1, SYM_MALFORMED, "a path without /");
    REFUSES(q.path, long_text, SYM_SIGV4_PATH_MAX + 1, SYM_LIMIT,
            "a path too long");
    REFUSES(q.query, long_text, SYM_SIGV4_QUERY_MAX, SYM_OK,
            "the longest query");
    REFUSES(q.query, long_text, SYM_SIGV4_QUERY_MAX + 1, SYM_LIMIT,
            "a query too long");
    REFUSES(q.query, "a=b+c", 5, SYM_UNSUPPORTED, "+ in a query");
    REFUSES(q.query, "a=%2", 4, SYM_MALFORMED, "half a % in a query");
    REFUSES(q.query, "%zz=1", 5, SYM_MALFORMED, "no digits in a query");
    REFUSES(q.payload_hash, "", 0, SYM_MALFORMED, "no payload hash");
    REFUSES(q.payload_hash, sha256, 63, SYM_MALFORMED, "63 digits");
    REFUSES(q.payload_hash, long_text, 64, SYM_OK, "64 digits");
    REFUSES(q.payload_hash, long_text, 65, SYM_MALFORMED, "65 digits");
    REFUSES(q.region, "", 0, SYM_MALFORMED, "no region");
    REFUSES(q.region, "a/b", 3, SYM_MALFORMED, "/ in the region");
    REFUSES(q.region, "a\nb", 3, SYM_MALFORMED, "LF in the region");
    REFUSES(q.region, long_text, SYM_SIGV4_REGION_MAX, SYM_OK,
            "the longest region");
    REFUSES(q.region, long_text, SYM_SIGV4_REGION_MAX + 1, SYM_LIMIT,
            "a region too long");

    q.time_s = SYM_DATE_MAX_S;
    refuses(&q, SYM_OK, "the last second");
    q.time_s++;
    refuses(&q, SYM_LIMIT, "a time too late");

    q = s3_request();
    REFUSES(q.path, "/a+b", 4, SYM_UNSUPPORTED, "+ in S3's path");
    REFUSES(q.path, "/a%4", 4, SYM_MALFORMED, "half a % in S3's path");
    REFUSES(q.path, "a", 1, SYM_MALFORMED, "S3's path without /");
}


static void
bad_keys(void)
{
    sym_aws_credentials_t keys = suite_keys;
    sym_sigv4_request_t q = suite_request();

    q.credentials = &keys;
    REFUSES(keys.access_key, "", 0, SYM_MALFORMED, "no access key");
    REFUSES(keys.access_key, "a,b", 3, SYM_MALFORMED, "comma in it");
    REFUSES(keys.access_key, "a\r\nb", 4, SYM_MALFORMED, "CR LF in it");
    REFUSES(keys.access_key, long_text, SYM_AWS_ACCESS_KEY_MAX, SYM_OK,
            "the longest access key");
    REFUSES(keys.access_key, long_text, SYM_AWS_ACCESS_KEY_MAX + 1, SYM_LIMIT,
            "an access key too long");
    REFUSES(keys.secret_key, "", 0, SYM_MALFORMED, "no secret key");
    REFUSES(keys.secret_key, long_text, SYM_AWS_SECRET_KEY_MAX, SYM_OK,
            "the longest secret key");
    REFUSES(keys.secret_key, long_text, SYM_AWS_SECRET_KEY_MAX + 1, SYM_LIMIT,
            "a secret key too long");
    REFUSES(keys.token, "a\nb", 3, SYM_MALFORMED, "LF in a token");
    REFUSES(keys.token, long_text, SYM_AWS_TOKEN_MAX, SYM_OK,
            "the longest token");
    REFUSES(keys.token, long_text, SYM_AWS_TOKEN_MAX + 1, SYM_LIMIT,
            "a token too long");
}


static void
many_parameters(void)
{
    char query[2 * SYM_URI_PARAMETERS_MAX + 2];
    sym_sigv4_request_t q = suite_request();

    for (size_t i = 0; i < sizeof(query); i++) {
        query[i] = i % 2 == 0 ? 'a' : '&';
    }
    REFUSES(q.query, query, sizeof(query) - 2, SYM_OK, "the most parameters");
    REFUSES(q.query, query, sizeof(query) - 1, SYM_LIMIT,
            "too many parameters");
}


/* Arenas from 1 byte up to enough: each smaller one fails cleanly. */
static void
no_memory(void)
{
    sym_sigv4_request_t q = s3_request();
    size_t limit = 1, given_up = 0;
    bool is_clean = true;
    sym_status_t status;
    char path[6000];

    memset(path, ' ', sizeof(path));
    path[0] = '/';
    q.path = sym_str(path, sizeof(path));

    do {
        sym_sigv4_t out = { .signature = SYM_STR("old") };
        sym_sigv4_key_t key = { 0 };
        sym_error_t err = { 0 };
        sym_arena_t arena;

        sym_arena_init(&arena, limit);
        status = sym_sigv4_sign(&arena, &key, &q, &out, &err);
        if (status != SYM_OK) {
            given_up++;
            is_clean = is_clean && status == SYM_NOMEM
                       && err.status == SYM_NOMEM && out.signature.len == 0;
        }
        sym_arena_drop(&arena);
        limit += 1009;
    } while (status != SYM_OK && limit < 4000000);

    ok(status == SYM_OK, "%zu bytes are enough", limit - 1009);
    ok(given_up > 20 && is_clean, "%zu smaller arenas are not, and say so",
       given_up);
}


static void
failed_before(void)
{
    sym_sigv4_request_t q = suite_request();
    sym_error_t err = { .status = SYM_IO, .what = "earlier" };
    sym_sigv4_key_t key = { 0 };
    sym_arena_t arena;
    sym_sigv4_t out;

    sym_arena_init(&arena, 0);
    is_status(sym_sigv4_sign(&arena, &key, &q, &out, &err), SYM_IO, &err,
              "an earlier error is kept");
    ok(!key.is_made && out.authorization.data == NULL, "nothing is signed");
    sym_arena_drop(&arena);
}


int
main(void)
{
    memset(long_text, 'a', sizeof(long_text));

    s3_examples();
    s3_in_full();
    suite();
    token();
    others();
    signing_key();
    encoding();
    bad_headers();
    bad_parts();
    bad_keys();
    many_parameters();
    no_memory();
    failed_before();
    return done_testing();
}
