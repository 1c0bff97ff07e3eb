
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


/* Maximum number of redirects followed for one file. */
#define NGX_SYMBOLICATE_HOPS  3

/* Errors that an owner knows. */
#define NGX_SYMBOLICATE_TOO_MANY_REDIRECTS  "too many redirects"
#define NGX_SYMBOLICATE_NOT_ALLOWED         "it redirected to another host"
#define NGX_SYMBOLICATE_RESTRICTED          "destination is restricted"

/* Maximum length of a redirect's URL. */
#define NGX_SYMBOLICATE_LOCATION_MAX  2048


typedef struct ngx_http_symbolicate_fetch_s  ngx_http_symbolicate_fetch_t;


/* Where other nodes' artifacts come from, as bits. */
#define NGX_SYMBOLICATE_OF_BUCKET  1
#define NGX_SYMBOLICATE_OF_PEER    2

/*
 * Number of commas in a client's X-Forwarded-For from which on it gets nothing
 * of our sources: elfutils' --forwarded-ttl-limit.
 */
#define NGX_SYMBOLICATE_FORWARDED_MAX  8

/* The object to fetch. */
typedef struct {
    ngx_http_symbolicate_source_t *first;       /* first source to try */
    ngx_uint_t                     others;      /* also try the location's other
                                                 * sources */
    ngx_uint_t                     companion;   /* it is a companion of a
                                                 * module */
    const sym_object_ref_t        *ref;
    uint64_t                       places;      /* places of the first source to
                                                 * try, as bits */
    sym_file_order_t               order;
    ngx_uint_t                     files;       /* a bit for each
                                                 * sym_source_file_t */
    ngx_http_symbolicate_shared_t  *share;       /* where its artifact may be;
                                                 * NULL: nowhere */
    ngx_uint_t                     without;     /* bits: not to be asked for
                                                 * it */
    sym_kind_t                     kind;        /* kind of that artifact */
    ngx_uint_t                     only_bucket; /* it is wanted from the bucket,
                                                 * and nothing from elsewhere */
    ngx_uint_t                     forwarded;   /* servers that have passed the
                                                 * request on, this one
                                                 * included; 0: not told */
} ngx_http_symbolicate_object_t;

/* The result of a fetch.  READY: there is a file. */
typedef struct {
    sym_module_state_t             state;
    ngx_fd_t                       fd;
    off_t                          offset;
    off_t                          length;
    off_t                          need;        /* bytes needed at least, if the
                                                 * lease was too small; else
                                                 * 0 */
    uint64_t                       place;       /* place of the file that needs
                                                 * it, as a bit */
    ngx_str_t                      source;      /* URL of the file */
    sym_str_t                      path;        /* path below the source, not
                                                 * encoded */
    ngx_str_t                      reference;   /* URL of its source map, from a
                                                 * header */
    ngx_str_t                      etag;        /* ETag from the source; or
                                                 * empty */
    time_t                         modified;    /* -1: unknown */
    time_t                         absent;      /* how long an absence is known
                                                 * to be valid, if a peer has
                                                 * reported it; -1: unknown */
    ngx_str_t                      reason;
    ngx_str_t                      outcomes;    /* outcomes of the first source
                                                 * (protocol/outcomes.h) */
    ngx_uint_t                     status;      /* of the last answer; 0: no
                                                 * answer */
    const char                    *trouble;     /* last error of an attempt;
                                                 * NULL: none */
    ngx_str_t                      trail;       /* redirects of a confined
                                                 * source, as sent, each with a
                                                 * newline after it */
    unsigned                       spooled:1;   /* the file is temporary */
    unsigned                       shared:1;    /* it is an artifact that
                                                 * another node has made */
    unsigned                       useless:1;   /* another node's artifact came
                                                 * too slowly */
    unsigned                       unsized:1;   /* the length of the body is
                                                 * unknown */
} ngx_http_symbolicate_fetch_result_t;

/* How much a download may write to a temporary file (its lease). */
typedef struct {
    off_t                          bytes;
    unsigned                       whole:1;     /* the loader cannot give
                                                 * more */
} ngx_http_symbolicate_lease_t;

/* Callbacks of a fetch, with the owner's data. */
typedef struct {
    void                         (*more)(void *data, off_t bytes);
                                                /* requests a larger lease */
    void                         (*tick)(void *data);
                                                /* called once a second while it
                                                 * runs */
    void                         (*done)(void *data);
                                                /*
                                                 * called once, with the result
                                                 */
} ngx_http_symbolicate_fetch_events_t;


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_TYPES_H_INCLUDED_ */
