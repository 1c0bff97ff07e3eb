/*
 * uri.h - paths and queries as AWS signs them.
 *
 * Source: "Create a signed AWS API request" (IAM User Guide), section "Create a
 * canonical request", and "Authenticating Requests: Using the Authorization
 * Header" (Amazon S3 API Reference), where UriEncode() is defined.
 *
 * Results live as long as the arena.  Errors: SYM_NOMEM, and those named below.
 * Input may contain any byte.
 */
#ifndef SYM_BASE_URI_H
#define SYM_BASE_URI_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Parameters of one query. */
#define SYM_URI_PARAMETERS_MAX 128

/* One byte as AWS encodes it: itself, if one of A-Z a-z 0-9 - . _ ~, else %XX
 * in upper case.  Returns the number of bytes written. */
size_t sym_uri_encode_byte(char c, char out[3]);

/*
 * Encodes every byte like that; keep_slash leaves '/' as it is.  With it: makes
 * the path to send from an S3 key after a '/'.  Without: for a name or value of
 * a query.
 */
sym_status_t sym_uri_encode(sym_arena_t *arena, sym_str_t s, bool keep_slash,
                            sym_str_t *out, sym_error_t *err);

/*
 * The path that S3 signs, from the path in the request line: decoded and
 * encoded again, so that %7e and ~ give the same result.  Nothing is
 * normalised: "//" and ".." are parts of a key.  "" gives "/".
 *
 * SYM_MALFORMED: no '/' at its start, or a '%' without two digits.
 * SYM_UNSUPPORTED: a '+', which S3 reads as a space and other servers as a
 * plus; sym_uri_encode() writes none.
 */
sym_status_t sym_uri_path_s3(sym_arena_t *arena, sym_str_t path, sym_str_t *out,
                             sym_error_t *err);

/*
 * The query (without its '?') as it is signed: names and values decoded and
 * encoded again, sorted by encoded name, then value; "a" gives "a=".  An empty
 * parameter is dropped.
 *
 * SYM_MALFORMED: a '%' without two digits; SYM_UNSUPPORTED: a '+', see above;
 * SYM_LIMIT: more than SYM_URI_PARAMETERS_MAX.
 */
sym_status_t sym_uri_query(sym_arena_t *arena, sym_str_t query, sym_str_t *out,
                           sym_error_t *err);

#endif
