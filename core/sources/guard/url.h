/*
 * url.h - URLs of http and https from clients.
 *
 * Source: RFC 3986.  Where it leaves a choice: the WHATWG's URL standard, which
 * Symbolicator's URL library follows.  A URL in which another parser could see
 * another host (userinfo tricks, backslashes, control characters and percent
 * signs in the host) is refused.  International names must be written in their
 * ASCII form.
 */
#ifndef SYM_SOURCES_GUARD_URL_H
#define SYM_SOURCES_GUARD_URL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Maximum length of a URL as sent; the encoded form may be three times as
 * long. */
#define SYM_URL_MAX 4096
#define SYM_URL_HOST_MAX 253

typedef struct {
    bool is_https;
    uint16_t port;      /* 443 and 80 if the URL has none */
    sym_str_t userinfo; /* "user:password", decoded; secret; may be empty */
    sym_str_t host;     /* in lower case; IPv6 in brackets */
    sym_str_t path;     /* begins with '/'; encoded, without "." and ".." */
    sym_str_t query;    /* without '?'; encoded; may contain secrets */
} sym_url_t;

/*
 * Reads an absolute URL; its fragment is dropped.  All parts are copied.
 * SYM_MALFORMED, SYM_UNSUPPORTED (another scheme), SYM_LIMIT: err->what has the
 * reason; SYM_NOMEM.
 */
sym_status_t sym_url_read(sym_arena_t *arena, sym_str_t text, sym_url_t *url,
                          sym_error_t *err);

/* Same for a reference relative to `base` (RFC 3986, 5.2), such as a
 * redirect. */
sym_status_t sym_url_resolve(sym_arena_t *arena, const sym_url_t *base,
                             sym_str_t reference, sym_url_t *url,
                             sym_error_t *err);

/* Whether scheme, host and port are equal.  Secrets for one URL may then be
   sent to the other. */
bool sym_url_is_same_origin(const sym_url_t *a, const sym_url_t *b);

/* Returns "host" or "host:port", as in a Host header; data NULL: no memory. */
sym_str_t sym_url_authority(sym_arena_t *arena, const sym_url_t *url);

/* Returns the URL for display, without userinfo and query, because these may be
 * secrets. */
sym_str_t sym_url_shown(sym_arena_t *arena, const sym_url_t *url);

#endif
