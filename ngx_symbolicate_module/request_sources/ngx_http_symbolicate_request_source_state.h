
/*
 * ngx_http_symbolicate_request_source_state.h - the structure of an attempt at
 * a request source; shared by the files of this folder.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_STATE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_STATE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/text.h"
#include "sources/google/google.h"
#include "sources/guard/url.h"
#include "sources/request/sources.h"
#include "sources/request/sentry_files.h"

#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_state.h"


/*
 * Maximum length of all texts in a fetch, with all its attempts and redirects.
 */
#define NGX_SYMBOLICATE_REQUEST_SOURCE_TEXTS   (4 * 1024 * 1024)


/* Purpose of the current subrequest. */
typedef enum {
    ngx_http_symbolicate_request_source_file = 0,
    ngx_http_symbolicate_request_source_files,
    ngx_http_symbolicate_request_source_token
} ngx_http_symbolicate_request_source_step_e;


typedef struct ngx_http_symbolicate_request_source_member_s
    ngx_http_symbolicate_request_source_member_t;


/* Functions of a source type.  NULL: not needed. */
typedef struct {

    /*
     * Begins to request a file.  place: address of the file, if the type
     * has_places.  NGX_DECLINED: the source does not have the file.
     */
    ngx_int_t                     (*try)(
            ngx_http_symbolicate_request_attempt_t *g,
        const sym_request_source_t *source, sym_request_source_place_t *place);

    /* Adds credentials to the headers of the next request. */
    ngx_int_t                     (*add_keys)(
        ngx_http_symbolicate_request_attempt_t *g,
        const sym_request_source_t *source);

    /* Whether the file's origin may get the source's headers. */
    ngx_uint_t                    (*is_trusted)(
        ngx_http_symbolicate_request_attempt_t *g,
        const sym_request_source_t *source);

    /*
     * Handles a response that is not a file, in g->text; NGX_DECLINED: the
     * attempt ends.
     */
    ngx_int_t                     (*answered)(
        ngx_http_symbolicate_request_attempt_t *g, ngx_uint_t is_whole);
    size_t                          max;        /* maximum size of such a
                                                 * response */
    const char                     *too_long;

    /* Called when the source refused the request. */
    void                          (*refused)(
        ngx_http_symbolicate_request_attempt_t *g,
        const sym_request_source_t *source);

    unsigned                        has_places:1;
} ngx_http_symbolicate_request_source_kind_t;


struct ngx_http_symbolicate_request_attempt_s {
    ngx_http_symbolicate_fetch_t   *fetch;
    const ngx_http_symbolicate_request_source_kind_t  *kind;
                                                /* source type of the attempt */
    sym_arena_t                     arena;
    sym_url_t                       first;      /* credentials are sent only to
                                                 * its origin */
    sym_url_t                       url;        /* under way */

    ngx_resolver_ctx_t             *resolving;  /* current lookup, or NULL */
    ngx_event_t                     event;      /* ends an attempt without a
                                                 * subrequest */

    ngx_str_t                       outcome;    /* outcome of an attempt that
                                                 * did not reach the file's
                                                 * host; or empty */
    unsigned                        unresolved:1;   /* its host is */

    const sym_request_source_t       *headed;     /* `values` belong to this
                                                   * source */
    sym_str_t                      *values;

    ngx_http_symbolicate_request_source_step_e  step;
    u_char                         *text;       /* body of a response that is
                                                 * not a file */
    size_t                          ntext;

    /* fields for gcs sources */
    sym_url_t                       place;      /* place of the file; requested
                                                 * once there is a token */
    sym_sha256_t                    key;        /* cache key of the token */
    sym_str_t                       token;
    sym_str_t                       form;       /* form to post */
    ngx_queue_t                     queue;      /* in a queue of attempts that
                                                 * wait; next is NULL: in
                                                 * none */

    /* fields for sentry sources */
    const sym_request_source_t       *listed;     /* source whose list was
                                                   * requested */
    sym_sentry_file_t              *files;      /* files of the list; files 0:
                                                 * it was tried */
    uint32_t                        nfiles;

    /* fields for lists of artifacts */
    sym_text_t                      list;       /* text of the pages so far */
    ngx_uint_t                      pages;

    /* file of a bundle; NULL: another file */
    ngx_http_symbolicate_request_source_member_t  *member;

    /* variables of the internal location */
    ngx_str_t                       target;
    ngx_str_t                       host;
    ngx_str_t                       name;
};


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_STATE_H_INCLUDED_ */
