/*
 * sigv4.h - requests to S3 signed by AWS Signature Version 4, in the
 * Authorization header.
 *
 * Sources: "Create a signed AWS API request" (IAM User Guide), and
 * "Authenticating Requests: Using the Authorization Header" with "Signature
 * Calculations for the Authorization Header: Transferring Payload in a Single
 * Chunk" (Amazon S3 API Reference).
 *
 * The request is borrowed for the call; results are in the arena.  Nothing else
 * is allocated here, except by libcrypto during a call.
 */
#ifndef SYM_SOURCES_AWS_SIGV4_H
#define SYM_SOURCES_AWS_SIGV4_H

#include "sources/aws/credentials.h"
#include "base/date.h"
#include "base/sha256.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define SYM_SIGV4_HEADERS_MAX 64
#define SYM_SIGV4_METHOD_MAX 32   /* maximum length in bytes, as all below */
#define SYM_SIGV4_PATH_MAX 8192   /* before encoding */
#define SYM_SIGV4_QUERY_MAX 8192  /* before encoding */
#define SYM_SIGV4_HEADER_MAX 8192 /* for a name, and for a value */
#define SYM_SIGV4_REGION_MAX 64

/* payload_hash for an unhashed body, and for an empty one. */
#define SYM_SIGV4_UNSIGNED SYM_STR("UNSIGNED-PAYLOAD")
#define SYM_SIGV4_EMPTY                                                        \
    SYM_STR("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85"  \
            "5")

/*
 * A signing key, valid for one day (UTC) and one region.  It is kept, so that a
 * request costs one HMAC and a few hashes instead of five HMACs.  All zeros: no
 * key yet.  It does not contain the secret key, but must be kept as secret on
 * that day.  Not thread-safe.
 */
typedef struct {
    sym_sha256_t key;
    sym_sha256_t made_of; /* hash of the secret key, day and region */
    bool is_made;
} sym_sigv4_key_t;

/*
 * Makes the key unless *key is current; *made (may be NULL) says whether it
 * did.  SYM_LIMIT: the time or the region exceeds a limit; SYM_MALFORMED: the
 * region must consist of 1 to SYM_SIGV4_REGION_MAX of [A-Za-z0-9._-];
 * SYM_NOMEM.
 */
sym_status_t sym_sigv4_key(sym_sigv4_key_t *key, sym_str_t secret_key,
                           sym_str_t region, uint64_t time_s, bool *made,
                           sym_error_t *err);

typedef struct {
    sym_str_t name;  /* any case */
    sym_str_t value; /* as sent; spaces at its ends are ignored */
} sym_sigv4_header_t;

typedef struct {
    sym_str_t method; /* as sent: "GET" */

    /* As in the request line, so already encoded by sym_uri_encode().  path:
     * without the query; query: without '?', may be empty. */
    sym_str_t path;
    sym_str_t query;

    /* All of these headers are signed.  They must include Host, but none of
     * those that signing adds (Authorization and the X-Amz- ones of
     * sym_sigv4_t). */
    const sym_sigv4_header_t *headers;
    size_t n_headers;

    /* 64 lower-case digits of the body's SHA-256, or one of the two above */
    sym_str_t payload_hash;

    const sym_aws_credentials_t *credentials;
    sym_str_t region; /* "us-east-1" */
    uint64_t time_s;  /* seconds since 1970; AWS tolerates an error of 15
                         minutes */
} sym_sigv4_request_t;

/* Values of headers to send; the comments contain their names. */
typedef struct {
    sym_str_t authorization;  /* Authorization */
    sym_str_t amz_date;       /* X-Amz-Date */
    sym_str_t content_sha256; /* X-Amz-Content-Sha256 */
    sym_str_t security_token; /* X-Amz-Security-Token; empty: do not send */

    /* intermediate results */
    sym_str_t canonical_request;
    sym_str_t string_to_sign;
    sym_str_t signed_headers; /* "host;range;x-amz-date" */
    sym_str_t signature;      /* 64 digits */
} sym_sigv4_t;

/*
 * Signs the request.  Derives *key again if it is not the key for this
 * request.  On failure *out is empty.
 *
 * SYM_MALFORMED: a part violates its rule above, or a header contains a control
 * character; SYM_UNSUPPORTED: a '+' in the path or the query (uri.h);
 * SYM_LIMIT: a part exceeds one of the limits above, or one in uri.h or
 * credentials.h; SYM_NOMEM: out of memory, or libcrypto failed.
 */
sym_status_t sym_sigv4_sign(sym_arena_t *arena, sym_sigv4_key_t *key,
                            const sym_sigv4_request_t *request,
                            sym_sigv4_t *out, sym_error_t *err);

#endif
