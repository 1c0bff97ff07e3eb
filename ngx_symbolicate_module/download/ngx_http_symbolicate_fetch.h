
/*
 * ngx_http_symbolicate_fetch.h - one download: the sources in turn, the body in
 * a file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"


/* Most redirects that are followed for one file. */
#define NGX_SYMBOLICATE_HOPS  3

/* Longest address that one leads to. */
#define NGX_SYMBOLICATE_LOCATION_MAX  2048


typedef struct ngx_http_symbolicate_fetch_s  ngx_http_symbolicate_fetch_t;


/* What is to be fetched. */
typedef struct {
    ngx_http_symbolicate_source_t *first;       /* to be asked */
    ngx_uint_t                     others;      /* the rest of the location's
                                                 * sources may have it, too */
    sym_str_t                      name;
    sym_str_t                      id;
    sym_str_t                      code_id;     /* if the id is one, or "" */
    sym_str_t                      canonical;   /* as of what is wanted */
    const sym_object_ref_t         *object;      /* all of it, or NULL */
    ngx_uint_t                     thorough;    /* all places are asked */
    ngx_uint_t                     files;       /* a bit for each
                                                 * sym_source_file_t */
} ngx_http_symbolicate_object_t;

/* The result of a fetch; READY: there is a file. */
typedef struct {
    sym_module_state_t             state;
    ngx_fd_t                       fd;
    off_t                          offset;
    off_t                          length;
    off_t                          need;        /* the lease was too small: what
                                                 * it takes at least; 0: it was
                                                 * not */
    ngx_str_t                      source;      /* URL of the file */
    ngx_str_t                      reason;
    ngx_str_t                      attempts;
    ngx_uint_t                     next;        /* place to be asked after the
                                                 * one that has the file */
    unsigned                       offer:1;     /* there are such, and they may
                                                 * have better */
    unsigned                       unsized:1;   /* the length of the body is
                                                 * unknown */
} ngx_http_symbolicate_fetch_result_t;

/* How much a download may write to a temporary file. */
typedef struct {
    off_t                          bytes;
    unsigned                       whole:1;     /* the loader has no more */
} ngx_http_symbolicate_lease_t;

/* What a fetch calls its owner for, with the owner's data. */
typedef struct {
    void                         (*more)(void *data, off_t bytes);
                                                /* it needs a larger lease */
    void                         (*tick)(void *data);
                                                /* once a second, while it
                                                 * runs */
    void                         (*done)(void *data);
                                                /* once: there is a result */
} ngx_http_symbolicate_fetch_events_t;

/*
 * Ends in events->done(), never at once.  object is copied.  next, attempts: of
 * an outcome that was offered and found too poor; 0 and empty at first.  NULL:
 * no memory.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_start(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object, ngx_http_symbolicate_lease_t *lease,
    ngx_uint_t next, ngx_str_t *attempts);

/*
 * The same of one text of a source of the request's, at a path below it that
 * needs no encoding; not of a source `sentry`.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_text(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, sym_str_t path,
    ngx_http_symbolicate_lease_t *lease);

/* A new lease: the answer to events->more(). */
void ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease);

/* A download that still runs is cut off.  NGX_AGAIN: that is not possible now,
 * and nothing was done. */
ngx_int_t ngx_http_symbolicate_fetch_free(
    ngx_http_symbolicate_fetch_t *fetch);

/* Bytes of the file that is under way. */
off_t ngx_http_symbolicate_fetch_received(
    ngx_http_symbolicate_fetch_t *fetch);

ngx_http_symbolicate_fetch_result_t *ngx_http_symbolicate_fetch_result(
    ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_ */
