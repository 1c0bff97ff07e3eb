/*
 * sources.h - sources that a request brings along.
 *
 * The API `sentry` takes a list of sources in its JSON body.  This reads the list,
 * checks each part and sets its limits; docs/use/sentry.md lists the keys.
 * Nothing is asked here; the caller decides what is allowed.
 *
 * Secrets are header values, keys, tokens, cookies, userinfo and query of a URL.
 * Messages of errors, `scope` and shown locations do not contain them.
 */
#ifndef SYM_SOURCES_REQUEST_SOURCES_H
#define SYM_SOURCES_REQUEST_SOURCES_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/sha256.h"
#include "object/module_key.h"
#include "sources/paths/rules.h"
#include "sources/guard/url.h"

#define SYM_REQUEST_SOURCES_MAX 64 /* sources of a request */
#define SYM_REQUEST_SOURCE_HEADERS_MAX 32
#define SYM_REQUEST_SOURCE_PATTERNS_MAX 64
#define SYM_REQUEST_SOURCE_ID_MAX 256   /* bytes, as all below */
#define SYM_REQUEST_SOURCE_NAME_MAX 128 /* of a header */
#define SYM_REQUEST_SOURCE_PATTERN_MAX 256
#define SYM_REQUEST_SOURCE_PATH_MAX 1024 /* of a folder, a prefix, a bucket */
#define SYM_REQUEST_SOURCE_SECRET_MAX                                          \
    8192 /* of a key, a token, a header's value */
#define SYM_REQUEST_SOURCE_BYTES_MAX                                           \
    262144 /* of all texts of a request's sources */

/* Scopes of the store (module_key.h) begin so; no configured source may. */
#define SYM_REQUEST_SOURCE_PREFIX SYM_SCOPE_GIVEN
#define SYM_REQUEST_SOURCE_PREFIX_LEN (sizeof(SYM_REQUEST_SOURCE_PREFIX) - 1)
#define SYM_REQUEST_SOURCE_SCOPE_LEN                                           \
    (SYM_REQUEST_SOURCE_PREFIX_LEN + 40) /* hexadecimal digits */

typedef enum {
    SYM_REQUEST_SOURCE_FILESYSTEM,
    SYM_REQUEST_SOURCE_HTTP,
    SYM_REQUEST_SOURCE_S3,
    SYM_REQUEST_SOURCE_GCS,
    SYM_REQUEST_SOURCE_SENTRY
} sym_request_source_type_t;

#define SYM_REQUEST_SOURCE_TYPES 5

typedef struct {
    sym_str_t name, value;
} sym_request_source_header_t;

/* Texts that a type does not have are empty. */
typedef struct {
    sym_request_source_type_t type;
    sym_str_t id;        /* for the answer */
    sym_str_t scope;     /* of its records: a digest of all below, and of the
                        request's scope unless it is public */
    sym_sha256_t realm;  /* for deny_list.h: a digest of the realm alone */
    bool can_be_blocked; /* its host may be blocked, if it keeps failing */
    sym_source_rules_t rules;
    bool is_public, has_index, requires_checksum;
    bool takes_any_certificate;
    bool is_links;             /* see sym_request_sources_add_links() */
    const sym_str_t *patterns; /* of links: where the headers may go */
    uint32_t n_patterns;
    const sym_request_source_header_t *headers;
    uint32_t n_headers;

    sym_url_t url;  /* http, s3: the folder of its files, ends in '/'; sentry:
                      the address to ask; gcs: unused */
    sym_str_t path; /* filesystem */
    sym_str_t bucket, prefix; /* s3, gcs; the prefix without '/' at its ends */
    sym_str_t region;
    sym_str_t access_key, secret_key, session_token;
    sym_str_t private_key, client_email; /* gcs, unless there is a token */
    sym_str_t token;                     /* gcs, sentry */
    sym_str_t cookies;                   /* sentry */
    bool wants_role; /* s3 with the keys of this server's own role */
} sym_request_source_t;

typedef struct {
    const sym_request_source_t *sources;
    uint32_t n;
    const sym_request_source_t *links; /* of texts at any URL, besides those;
                                        or NULL */
    const sym_request_source_t *artifacts; /* of lists, bundles and files of
                                        JavaScript at any URL, by type a sentry
                                        source; or NULL */
} sym_request_sources_t;

/* "http", as requests and the configuration name it. */
sym_str_t sym_request_source_type_word(sym_request_source_type_t type);
bool sym_request_source_type_find(sym_str_t word,
                                  sym_request_source_type_t *type);

/* For whom sources are read.  Sources that are equal share records only if both
 * of these are equal, too; the first does not count for public ones. */
typedef struct {
    sym_str_t scope;  /* of the request, "" if it has none */
    sym_str_t policy; /* restrictions of its location, in any form */
} sym_request_source_realm_t;

/*
 * Reads the value of the key `sources`.  The texts are copied to the arena.
 * SYM_MALFORMED and SYM_LIMIT: *message (in the arena) says what is wrong, as in
 * "sources[0]: missing field `id`"; SYM_NOMEM.
 */
sym_status_t sym_request_sources_read(sym_arena_t *arena, const json_t *list,
                                      const sym_request_source_realm_t *realm,
                                      sym_request_sources_t *set,
                                      sym_str_t *message);

/*
 * Adds the source `links`, to be asked for the texts of source links.  scraping:
 * the value of that key, which was checked, or NULL.  Headers that cannot be
 * sent are left out.  SYM_NOMEM.
 */
sym_status_t sym_request_sources_add_links(
    sym_arena_t *arena, const json_t *scraping,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list);

/*
 * Sets the source `artifacts` from a sentry source without the key `type`, and
 * leaves `sources` as they are.  Errors: as above.
 */
sym_status_t sym_request_sources_add_artifacts(
    sym_arena_t *arena, const json_t *source,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list,
    sym_str_t *message);

/*
 * The same for one file at a URL, with a token for its origin, or "".  The texts stay
 * in place.
 */
sym_status_t sym_request_sources_add_file(
    sym_arena_t *arena, sym_str_t url, sym_str_t token,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list,
    sym_str_t *message);

/* Bytes of a source file at a URL, as it is sent. */
#define SYM_REQUEST_SOURCE_TEXT_MAX ((size_t) 16 << 20)

/* A copy with all its texts; false: no memory. */
bool sym_request_sources_copy(sym_arena_t *arena,
                              const sym_request_sources_t *from,
                              sym_request_sources_t *to);

/* Overwrites the texts of a copy. */
void sym_request_sources_wipe(const sym_request_sources_t *list);

/* The path of a file at a source. */
typedef struct {
    sym_url_t url;   /* to request; empty for a filesystem source */
    sym_str_t file;  /* the path of a filesystem source */
    sym_str_t shown; /* for people: no secrets */
} sym_request_source_place_t;

/*
 * The place of a file of any type but sentry; encoded and key are the path below
 * the source, as sym_source_path() and sym_source_key() give it.  storage: base of
 * Google's API (https://storage.googleapis.com/).
 */
sym_status_t sym_request_source_place(sym_arena_t *arena,
                                      const sym_request_source_t *s,
                                      const sym_url_t *storage,
                                      sym_str_t encoded, sym_str_t key,
                                      sym_request_source_place_t *place,
                                      sym_error_t *err);

#endif
