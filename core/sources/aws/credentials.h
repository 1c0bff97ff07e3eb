/*
 * credentials.h - reads AWS keys from responses and files.
 *
 * The caller fetches or reads the text; this code only checks it.  Any host at
 * a well-known address may have sent it, and the keys become request headers: a
 * key with a byte that could end a header is refused, and an incomplete
 * response never becomes credentials.
 *
 * Results are in the caller's arena, not in the text.  On failure *out is
 * empty, and the error has the position, if known: in the text, or the name of
 * the key and the position in it.
 */
#ifndef SYM_SOURCES_AWS_CREDENTIALS_H
#define SYM_SOURCES_AWS_CREDENTIALS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Bytes.  AWS: access key ids have at most 128; AWS does not limit the length
 * of a token, but few servers accept a longer header than this. */
#define SYM_AWS_ACCESS_KEY_MAX 128
#define SYM_AWS_SECRET_KEY_MAX 256
#define SYM_AWS_TOKEN_MAX 8192
#define SYM_AWS_ANSWER_MAX 65536 /* a JSON answer */
#define SYM_AWS_INI_MAX 1048576  /* a credentials file */
#define SYM_AWS_PROFILE_NAME_MAX 256

typedef struct {
    sym_str_t access_key; /* sent with every request */
    sym_str_t secret_key; /* never sent, and never logged */
    sym_str_t token;      /* of temporary credentials; empty: none */
    uint64_t expires_s;   /* seconds since 1970; 0: never */
} sym_aws_credentials_t;

/*
 * SYM_OK: keys that may be signed with.  Else SYM_MALFORMED or SYM_LIMIT: a key
 * that is empty, too long or holds anything but visible ASCII; an access key
 * with ',' or '=', which separate the parts of the Authorization header.
 */
sym_status_t sym_aws_credentials_check(const sym_aws_credentials_t *c,
                                       sym_error_t *err);

/*
 * The JSON of a container's endpoint ("Container credential provider", AWS SDKs
 * and Tools Reference Guide) or of instance metadata ("Retrieve security
 * credentials from instance metadata", EC2 User Guide): AccessKeyId,
 * SecretAccessKey, Token and Expiration must be there, as strings; Code may be
 * missing, but must be "Success" if it is there.  Whether they are expired is
 * for the caller to see: the text knows no clock.
 *
 * SYM_MALFORMED: no such JSON; SYM_UNSUPPORTED: another Code; SYM_LIMIT; a
 * failure of jansson's memory is SYM_NOMEM like the arena's.
 */
sym_status_t sym_aws_credentials_json(sym_arena_t *arena, sym_str_t text,
                                      sym_aws_credentials_t *out,
                                      sym_error_t *err);

/*
 * One profile of a shared credentials file ("Shared config and credentials
 * files", AWS SDKs and Tools Reference Guide): "[profile]" lines, "name =
 * value" lines with names in any case, comments that begin a line with '#' or
 * ';', indented lines under an empty value (nested settings, not read).  The
 * whole file must be well formed, not only the profile.  A profile may come in
 * pieces but may give none of the three settings twice.
 *
 * SYM_NOT_FOUND: no such profile; SYM_MALFORMED: no such file, or a profile
 * without both keys; SYM_LIMIT; SYM_NOMEM.
 */
sym_status_t sym_aws_credentials_ini(sym_arena_t *arena, sym_str_t text,
                                     sym_str_t profile,
                                     sym_aws_credentials_t *out,
                                     sym_error_t *err);

#endif
