/*
 * uri.h - paths and queries as AWS signs them.
 *
 * Source: "Create a signed AWS API request" (IAM User Guide), section "Create a
 * canonical request", and "Authenticating Requests: Using the Authorization
 * Header" (Amazon S3 API Reference), where UriEncode() is defined.
 *
 * What comes out lives as long as the arena.  Errors: SYM_NOMEM, and those that
 * are named below.  Any byte may come in.
 */
#ifndef SYM_BASE_URI_H
#define SYM_BASE_URI_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Parameters of one query. */
#define SYM_URI_PARAMETERS_MAX 128

/* One byte as AWS encodes it: itself, if one of A-Z a-z 0-9 - . _ ~, else %XX in
 * upper case.  Returns how many were written. */
size_t sym_uri_encode_byte(char c, char out[3]);

/*
 * Every byte so; '/' stays as it is if keep_slash.  With it: an S3 key (behind a '/') becomes the path to send.
 * Without: a name or value of a query.
 */
sym_status_t sym_uri_encode(sym_arena_t *arena, sym_str_t s, bool keep_slash,
                            sym_str_t *out, sym_error_t *err);

/*
 * The path that S3 signs, of the path in the request line: decoded and encoded
 * once more, so that %7e and ~ give the same.  Nothing is normalised: "//" and
 * ".." are parts of a key.  "" gives "/".
 *
 * SYM_MALFORMED: no '/' at its start, or a '%' without two digits.
 * SYM_UNSUPPORTED: a '+', which S3 takes for a space and others for itself;
 * sym_uri_encode() writes none.
 */
sym_status_t sym_uri_path_s3(sym_arena_t *arena, sym_str_t path, sym_str_t *out,
                             sym_error_t *err);

/*
 * The query (without its '?') as it is signed: names and values decoded and
 * encoded once more, sorted by encoded name, then value; "a" gives "a=".
 * Nothing between two '&' is no parameter.
 *
 * SYM_MALFORMED: a '%' without two digits; SYM_UNSUPPORTED: a '+', see above;
 * SYM_LIMIT: more than SYM_URI_PARAMETERS_MAX.
 */
sym_status_t sym_uri_query(sym_arena_t *arena, sym_str_t query, sym_str_t *out,
                           sym_error_t *err);

#endif
