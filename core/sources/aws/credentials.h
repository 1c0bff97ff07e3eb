/*
 * credentials.h - reads AWS keys from responses and files.
 *
 * The caller fetches or reads the text; this code only checks it.  Any host at
 * a well-known address may have sent the text, and the keys become request
 * headers.  So a key with a byte that could end a header is refused, and so is
 * an incomplete response.
 *
 * Results are in the caller's arena, not in the text.  On failure *out is
 * empty, and the error has the position if it is known: in the text, or the
 * name of a key and the position in its value.
 */
#ifndef SYM_SOURCES_AWS_CREDENTIALS_H
#define SYM_SOURCES_AWS_CREDENTIALS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Maximum lengths in bytes.  Access key ids have at most 128 at AWS.  AWS does
 * not limit the length of a token, but few servers accept a longer header than
 * this. */
#define SYM_AWS_ACCESS_KEY_MAX 128
#define SYM_AWS_SECRET_KEY_MAX 256
#define SYM_AWS_TOKEN_MAX 8192
#define SYM_AWS_ANSWER_MAX 65536 /* a JSON answer */
#define SYM_AWS_INI_MAX 1048576  /* a credentials file */
#define SYM_AWS_PROFILE_NAME_MAX 256

typedef struct {
    sym_str_t access_key; /* sent with every request */
    sym_str_t secret_key; /* never sent, and never logged */
    sym_str_t token;      /* for temporary credentials; empty: none */
    uint64_t expires_s;   /* seconds since 1970; 0: never */
} sym_aws_credentials_t;

/*
 * SYM_OK: the keys can be used for signing.  SYM_MALFORMED, SYM_LIMIT: a key is
 * empty or too long, or contains anything but visible ASCII; or the access key
 * contains ',' or '=', which separate the parts of the Authorization header.
 */
sym_status_t sym_aws_credentials_check(const sym_aws_credentials_t *c,
                                       sym_error_t *err);

/*
 * Reads the JSON of a container's endpoint ("Container credential provider",
 * AWS SDKs and Tools Reference Guide) or of instance metadata ("Retrieve
 * security credentials from instance metadata", EC2 User Guide): AccessKeyId,
 * SecretAccessKey, Token and Expiration are required strings.  Code is
 * optional, but must be "Success".  The caller checks whether they have
 * expired.
 *
 * SYM_MALFORMED: not such JSON; SYM_UNSUPPORTED: another Code; SYM_LIMIT;
 * SYM_NOMEM: jansson or the arena has no memory.
 */
sym_status_t sym_aws_credentials_json(sym_arena_t *arena, sym_str_t text,
                                      sym_aws_credentials_t *out,
                                      sym_error_t *err);

/*
 * Reads one profile of a shared credentials file ("Shared config and
 * credentials files", AWS SDKs and Tools Reference Guide).  The file consists
 * of "[profile]" lines, "name = value" lines with names in any case, comment
 * lines that begin with '#' or ';', and indented lines after an empty value
 * (nested settings, which are ignored).  The complete file must be well formed,
 * not only the profile.  A profile may consist of several sections, but each of
 * the three settings may occur only once.
 *
 * SYM_NOT_FOUND: no such profile; SYM_MALFORMED: not such a file, or a profile
 * without both keys; SYM_LIMIT; SYM_NOMEM.
 */
sym_status_t sym_aws_credentials_ini(sym_arena_t *arena, sym_str_t text,
                                     sym_str_t profile,
                                     sym_aws_credentials_t *out,
                                     sym_error_t *err);

#endif
