/*
 * by_url.h - Tecken's uploads by URL: which URLs are allowed, and the texts of
 * its answers.
 *
 * The file is requested once, by GET: a signed URL is often for one method, and
 * all that Tecken learns by its HEAD is in that answer, too.
 */
#ifndef SYM_API_UPLOAD_BY_URL_H
#define SYM_API_UPLOAD_BY_URL_H

#include "base/arena.h"
#include "sources/guard/url.h"

typedef enum {
    SYM_BY_URL_OK,
    SYM_BY_URL_INVALID,
    SYM_BY_URL_INSECURE,
    SYM_BY_URL_HOST,      /* its host, or one that it redirects to, is not
                             allowed */
    SYM_BY_URL_EXTENSION, /* its name is not one of a zip */
    SYM_BY_URL_REDIRECTS,
    SYM_BY_URL_STATUS,     /* status 4xx */
    SYM_BY_URL_EMPTY,      /* no bytes */
    SYM_BY_URL_NO_FILE,    /* another status than 200 */
    SYM_BY_URL_ERROR,      /* status 5xx */
    SYM_BY_URL_RETRIES,    /* 429 or 500 again and again */
    SYM_BY_URL_UNREACHABLE /* no connection, or an incomplete body */
} sym_by_url_t;

/* Checks a URL against the patterns of origins.h.  SYM_BY_URL_OK: *url is its
 * normal form. */
sym_by_url_t sym_by_url_check(sym_arena_t *arena, sym_str_t text,
                              const sym_str_t *patterns, uint32_t n,
                              sym_str_t *url);

/* Returns why no file came; status: of the last answer, 0: none came. */
sym_by_url_t sym_by_url_failure(unsigned status, bool is_whole);

/* Whether another try may help; it does not if a body was too slow. */
bool sym_by_url_may_retry(sym_by_url_t why, unsigned status);

/* Whether the other server has failed, which clients try again (500). */
bool sym_by_url_is_remote(sym_by_url_t why);

/* Returns Tecken's text; data NULL: no memory. */
sym_str_t sym_by_url_text(sym_arena_t *arena, sym_by_url_t why, sym_str_t text,
                          unsigned status);

/* The last part of its path. */
sym_str_t sym_by_url_name(sym_str_t text);

#endif
