/*
 * sources.h - sources defined by a request.
 *
 * The API `sentry` takes a list of sources in its JSON body.  This reads the
 * list, checks each part and sets its limits; docs/use/sentry.md lists the
 * keys.  This code sends no requests; the caller decides which sources are
 * allowed.
 *
 * Secrets are header values, keys, tokens, cookies, userinfo and query of a
 * URL.  Error messages, `scope` and displayed locations do not contain secrets.
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

#define SYM_REQUEST_SOURCES_MAX 64 /* maximum number of sources in a request */
#define SYM_REQUEST_SOURCE_HEADERS_MAX 32
#define SYM_REQUEST_SOURCE_PATTERNS_MAX 64
#define SYM_REQUEST_SOURCE_ID_MAX 256   /* in bytes, as all below */
#define SYM_REQUEST_SOURCE_NAME_MAX 128 /* of a header */
#define SYM_REQUEST_SOURCE_PATTERN_MAX 256
#define SYM_REQUEST_SOURCE_PATH_MAX 1024 /* for a folder, a prefix, a bucket */
#define SYM_REQUEST_SOURCE_SECRET_MAX                                          \
    8192 /* for a key, a token, a header's value */
#define SYM_REQUEST_SOURCE_BYTES_MAX                                           \
    262144 /* for all texts of a request's sources */

/* Scopes of these sources in the store (module_key.h) begin like this; scopes
 * of configured sources must not. */
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

/* Texts that a type does not use are empty. */
typedef struct {
    sym_request_source_type_t type;
    sym_str_t id;        /* shown in the answer */
    sym_str_t scope;     /* scope of its records: a digest of all fields below,
                            and of the request's scope unless the source is
                            public */
    sym_sha256_t realm;  /* for deny_list.h: a digest of the realm alone */
    bool can_be_blocked; /* the host may be blocked if it keeps failing */
    sym_source_rules_t rules;
    bool is_public, has_index, requires_checksum;
    bool takes_any_certificate;
    bool is_links;             /* see sym_request_sources_add_links() */
    bool is_confined;          /* only URLs that fit the patterns are requested,
                                  also after redirects */
    const sym_str_t *patterns; /* for links: where the headers may be sent */
    uint32_t n_patterns;
    const sym_request_source_header_t *headers;
    uint32_t n_headers;

    sym_url_t url;  /* http, s3: the folder of the files, ends in '/'; sentry:
                       the URL for requests; gcs: unused */
    sym_str_t path; /* filesystem */
    sym_str_t bucket, prefix; /* s3, gcs; the prefix has no '/' at its ends */
    sym_str_t region;
    sym_str_t access_key, secret_key, session_token;
    sym_str_t private_key, client_email; /* gcs, if there is no token */
    sym_str_t token;                     /* gcs, sentry */
    sym_str_t cookies;                   /* sentry */
    bool wants_role; /* s3 with the keys of the server's own role */
} sym_request_source_t;

typedef struct {
    const sym_request_source_t *sources;
    uint32_t n;
    const sym_request_source_t *links; /* for texts at any URL, in addition to
                                          the sources; or NULL */
    const sym_request_source_t *artifacts; /* a sentry source for lists, bundles
                                              and files of JavaScript at any
                                              URL; or NULL */
} sym_request_sources_t;

/* Name of a type in requests and the configuration, such as "http". */
sym_str_t sym_request_source_type_word(sym_request_source_type_t type);
bool sym_request_source_type_find(sym_str_t word,
                                  sym_request_source_type_t *type);

/* The context of the sources.  Equal sources share records only if both of
 * these fields are equal, too; for public sources the scope does not matter. */
typedef struct {
    sym_str_t scope;  /* scope of the request, or "" */
    sym_str_t policy; /* restrictions of the location, in any form */
} sym_request_source_realm_t;

/*
 * Reads the value of the key `sources`.  The texts are copied to the arena.
 * SYM_MALFORMED and SYM_LIMIT: *message (in the arena) describes the error, as
 * in "sources[0]: missing field `id`"; SYM_NOMEM.
 */
sym_status_t sym_request_sources_read(sym_arena_t *arena, const json_t *list,
                                      const sym_request_source_realm_t *realm,
                                      sym_request_sources_t *set,
                                      sym_str_t *message);

/*
 * Adds the source `links` for the texts of source links.  scraping: the checked
 * value of that key, or NULL.  Headers that cannot be sent are omitted.
 * SYM_NOMEM.
 */
sym_status_t sym_request_sources_add_links(
    sym_arena_t *arena, const json_t *scraping,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list);

/*
 * Sets the source `artifacts` from a sentry source without the key `type`; does
 * not change `sources`.  Errors: as above.
 */
sym_status_t sym_request_sources_add_artifacts(
    sym_arena_t *arena, const json_t *source,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list,
    sym_str_t *message);

/*
 * Same for one file at a URL, with a token for its origin, or "".  The texts
 * must stay in place.
 */
sym_status_t sym_request_sources_add_file(
    sym_arena_t *arena, sym_str_t url, sym_str_t token,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list,
    sym_str_t *message);

/*
 * Sets the source `links` for one file at a URL that fits one of the patterns
 * of origins.h, which must stay in place.  SYM_NOMEM.
 */
sym_status_t sym_request_sources_add_confined(
    sym_arena_t *arena, const sym_str_t *patterns, uint32_t n_patterns,
    const sym_request_source_realm_t *realm, sym_request_sources_t *list);

/* Maximum length of a source file's URL, as sent. */
#define SYM_REQUEST_SOURCE_TEXT_MAX ((size_t) 16 << 20)

/* Copies a source with all texts; false: no memory. */
bool sym_request_sources_copy(sym_arena_t *arena,
                              const sym_request_sources_t *from,
                              sym_request_sources_t *to);

/* Overwrites the texts of a copy with zeros. */
void sym_request_sources_wipe(const sym_request_sources_t *list);

/* The place of a file at a source. */
typedef struct {
    sym_url_t url;   /* URL to request; empty for a filesystem source */
    sym_str_t file;  /* path in a filesystem source */
    sym_str_t shown; /* for display: without secrets */
} sym_request_source_place_t;

/*
 * Makes the place of a file at a source of any type but sentry. encoded and key
 * are the path below the source, from sym_source_path() and sym_source_key().
 * storage: base of Google's API (https://storage.googleapis.com/).
 */
sym_status_t sym_request_source_place(sym_arena_t *arena,
                                      const sym_request_source_t *s,
                                      const sym_url_t *storage,
                                      sym_str_t encoded, sym_str_t key,
                                      sym_request_source_place_t *place,
                                      sym_error_t *err);

#endif
