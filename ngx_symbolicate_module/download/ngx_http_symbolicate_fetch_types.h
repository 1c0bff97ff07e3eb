
/*
 * ngx_http_symbolicate_fetch_types.h - the input and the result of a fetch.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_TYPES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_TYPES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/paths/plan.h"

#include "conf/ngx_http_symbolicate_source.h"


/* Most redirects that are followed for one file. */
#define NGX_SYMBOLICATE_HOPS  3

/* Longest URL of a redirect. */
#define NGX_SYMBOLICATE_LOCATION_MAX  2048


typedef struct ngx_http_symbolicate_fetch_s  ngx_http_symbolicate_fetch_t;


/* The object to fetch. */
typedef struct {
    ngx_http_symbolicate_source_t *first;       /* first source to query */
    ngx_uint_t                     others;      /* the rest of the location's
                                                 * sources may have it, too */
    ngx_uint_t                     companion;   /* it belongs to a module */
    const sym_object_ref_t        *ref;
    uint64_t                       places;      /* of the first source: a bit
                                                 * for each to try */
    sym_file_order_t               order;
    ngx_uint_t                     files;       /* a bit for each
                                                 * sym_source_file_t */
} ngx_http_symbolicate_object_t;

/* The result of a fetch; READY: there is a file. */
typedef struct {
    sym_module_state_t             state;
    ngx_fd_t                       fd;
    off_t                          offset;
    off_t                          length;
    off_t                          need;        /* least bytes needed, if the
                                                 * lease was too small; else
                                                 * 0 */
    uint64_t                       place;       /* of the file that needs
                                                 * them: a bit */
    ngx_str_t                      source;      /* URL of the file */
    ngx_str_t                      reference;   /* URL of its source map, from
                                                 * its headers */
    ngx_str_t                      etag;        /* of the source; or empty */
    time_t                         modified;    /* -1: unknown */
    ngx_str_t                      reason;
    ngx_str_t                      outcomes;    /* protocol/outcomes.h, of the
                                                 * first source */
    ngx_uint_t                     status;      /* of the last answer; 0: no
                                                 * answer */
    unsigned                       spooled:1;   /* it is a temporary file */
    unsigned                       unsized:1;   /* the length of the body is
                                                 * unknown */
} ngx_http_symbolicate_fetch_result_t;

/* How much a download may write to a temporary file. */
typedef struct {
    off_t                          bytes;
    unsigned                       whole:1;     /* the loader has no more */
} ngx_http_symbolicate_lease_t;

/* Callbacks of a fetch, with the owner's data. */
typedef struct {
    void                         (*more)(void *data, off_t bytes);
                                                /* it needs a larger lease */
    void                         (*tick)(void *data);
                                                /* once a second, while it
                                                 * runs */
    void                         (*done)(void *data);
                                                /* once: there is a result */
} ngx_http_symbolicate_fetch_events_t;


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_TYPES_H_INCLUDED_ */
