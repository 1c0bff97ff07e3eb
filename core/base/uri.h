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

/* Maximum number of parameters of a query. */
#define SYM_URI_PARAMETERS_MAX 128

/* Writes one byte as AWS encodes it: A-Z a-z 0-9 - . _ ~ unchanged, others as
 * %XX in upper case.  Returns the number of bytes written. */
size_t sym_uri_encode_byte(char c, char out[3]);

/*
 * Encodes all bytes in this way. keep_slash leaves '/' unchanged: use it to
 * make a path from "/" and an S3 key, but not for a name or value of a query.
 */
sym_status_t sym_uri_encode(sym_arena_t *arena, sym_str_t s, bool keep_slash,
                            sym_str_t *out, sym_error_t *err);

/*
 * Makes the path that S3 signs from the path in the request line.  It is
 * decoded and encoded again, so %7e and ~ have the same result.  Nothing is
 * normalised: "//" and ".." are parts of a key.  "" gives "/".
 *
 * SYM_MALFORMED: no '/' at the start, or a '%' without two digits.
 * SYM_UNSUPPORTED: a '+', which S3 reads as a space and other servers as a
 * plus; sym_uri_encode() writes none.
 */
sym_status_t sym_uri_path_s3(sym_arena_t *arena, sym_str_t path, sym_str_t *out,
                             sym_error_t *err);

/*
 * Makes the query to sign, without '?'.  Names and values are decoded and
 * encoded again, and sorted by encoded name, then value.  "a" becomes "a=", and
 * empty parameters are dropped.
 *
 * SYM_MALFORMED: a '%' without two digits; SYM_UNSUPPORTED: a '+', see above;
 * SYM_LIMIT: more than SYM_URI_PARAMETERS_MAX.
 */
sym_status_t sym_uri_query(sym_arena_t *arena, sym_str_t query, sym_str_t *out,
                           sym_error_t *err);

#endif
