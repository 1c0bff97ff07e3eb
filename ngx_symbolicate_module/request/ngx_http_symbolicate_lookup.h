
/*
 * ngx_http_symbolicate_lookup.h - a request for symbols.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_LOOKUP_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_LOOKUP_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "request/ngx_http_symbolicate_task.h"
#include "store/ngx_http_symbolicate_store.h"


/* Approximate size of a frame with its file and an inlined call. */
#define NGX_SYMBOLICATE_FRAME  320


typedef struct ngx_http_symbolicate_missing_s  ngx_http_symbolicate_missing_t;
typedef struct ngx_http_symbolicate_job_s  ngx_http_symbolicate_job_t;
typedef struct ngx_http_symbolicate_upload_s  ngx_http_symbolicate_upload_t;
typedef struct ngx_http_symbolicate_bulk_s  ngx_http_symbolicate_bulk_t;
typedef struct ngx_http_symbolicate_attachment_s
    ngx_http_symbolicate_attachment_t;


typedef struct {
    ngx_http_symbolicate_task_t    task;        /* the first member */
    sym_request_stats_t           *stats;       /* points into the context */

    unsigned                       paused:1;    /* waits until all text is
                                                 * sent */

    sym_api_call_t                 call;
    ngx_http_symbolicate_upload_t *upload;      /* NULL: the worker reads the
                                                 * body */
    ngx_http_symbolicate_attachment_t  *attachment;
                                                /* NULL: the request names no
                                                 * other file */
    ngx_http_symbolicate_bulk_t   *bulk;        /* NULL: a single request */
    ngx_pool_t                    *pool;        /* lives as long as `asked` */
    sym_arena_t                    arena;
    sym_request_t                 *asked;
    uint32_t                       max_age_s;   /* of the answer; 0: unknown */
    const char                    *answer_type; /* NULL: of the route or API */

    ngx_http_symbolicate_store_t  *store;
    ngx_http_symbolicate_db_t     *db;
    sym_snapshot_t                *snapshot;
    ngx_uint_t                     exchanges;   /* number of the store's
                                                 * exchanges when it was last
                                                 * used */
    ngx_uint_t                     restarts;    /* number of restarts of the
                                                 * answer */
    sym_status_t                   result;      /* result of the last slice */
    sym_error_t                    err;

    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_request_sources_t  *request_sources;
                                                /* sources of the request; NULL:
                                                 * those of the location */
    ngx_http_symbolicate_missing_t  *missing;   /* NULL: no module is missing */

    /* for APIs with requests that may outlive their clients; see job.c */
    sym_api_wait_t                 patience;
    ngx_msec_t                     deadline;    /* time limit of the work */
    ngx_event_t                    late;        /* timer: the client's time is
                                                 * over */
    unsigned                       counted:1;   /* it counts as a request in
                                                 * progress */
    ngx_http_symbolicate_job_t    *job;         /* NULL: there is a client */
} ngx_http_symbolicate_lookup_t;


/* A content handler. */
ngx_int_t ngx_http_symbolicate_lookup_handler(ngx_http_request_t *r);

/* A step. */
ngx_int_t ngx_http_symbolicate_parse_step(ngx_http_symbolicate_task_t *task);

/* Cleanup of the work; may run twice. */
void ngx_http_symbolicate_lookup_cleanup(ngx_http_symbolicate_task_t *task);

/* Counts a complete answer, or an error that names modules. */
void ngx_http_symbolicate_lookup_count(ngx_http_symbolicate_lookup_t *lookup);

/* Returns the counter for an error with this status. */
sym_served_t ngx_http_symbolicate_lookup_served(ngx_uint_t status);


#endif /* _NGX_HTTP_SYMBOLICATE_LOOKUP_H_INCLUDED_ */
