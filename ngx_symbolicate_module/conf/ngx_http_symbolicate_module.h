
/*
 * ngx_http_symbolicate_module.h - what the files of the module share.
 *
 * conf/      directives, what they configure
 * handler.c  the life of a request, from its body to its answer
 * body.c     its step 1: the body in one piece, inflated
 * answer.c   its step 3: frames looked up, the answer written
 * send.c     its step 4: the answer given to the output filters
 * queue.c    turns of long requests, so that none is felt by others
 * reply.c    methods, preflight, errors
 * filter.c   CORS headers; what nginx itself answers in our locations
 * store.c    the stores of this worker: opened, reopened, given up
 * health.c   /__heartbeat__, /__lbheartbeat__, /__version__
 * missing.c  a request waits for modules that the store has not
 * want.c, loader.c, ask.c, fetch.c, background.c: see
 *            ngx_http_symbolicate_fetch.h
 * aws*.c     see ngx_http_symbolicate_aws.h
 * admin.c    paths of symbolicate_admin
 * purge.c    modules are forgotten, by the loader
 * events.c   which, as S3 tells it
 * explain.c  what the store knows of a module
 * metrics.c  counters over all workers, and the page that shows them
 * figures.c  what the stores hold, counted in slices
 * scrape.c   the page waits for them, and until the loaders have told theirs
 *
 * Types of nginx end here: core/ is called with its own.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_MODULE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_MODULE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <zlib.h>

#include "base/arena.h"
#include "api/registry.h"
#include "sources/events/s3_events.h"
#include "json/out.h"
#include "metrics/page.h"
#include "symbolicate/cache/worker.h"
#include "store/store.h"

#include "aws/ngx_http_symbolicate_aws.h"
#include "request/ngx_http_symbolicate_background.h"
#include "fetch/ngx_http_symbolicate_fetch.h"


#define NGX_SYMBOLICATE_VERSION  "0.1.0"

/* The windows that an answer is written to; one is given to the output filters
 * in a turn of the event loop.  What fits the larger one, a usual answer, is
 * sent at once, by one call; larger ones go in parts. */
#define NGX_SYMBOLICATE_WHOLE    (384 * 1024)
#define NGX_SYMBOLICATE_BUFFER   (128 * 1024)

/* What one request holds of its answer, at most: then it waits until that is
 * sent.  A smaller answer has a Content-Length. */
#define NGX_SYMBOLICATE_HELD     (4 * 1024 * 1024)

/* Bytes of a body that are copied or inflated in one turn. */
#define NGX_SYMBOLICATE_GATHER   (128 * 1024)


/* A store that is open in this worker.  Requests in flight hold references: a
 * store that was found stale or damaged goes when the last of them ends. */
typedef struct {
    sym_store_t                   *db;
    sym_worker_cache_t                    *kept;        /* NULL: off */
    ngx_uint_t                     refs;
    unsigned                       damaged:1;
} ngx_http_symbolicate_db_t;


typedef struct ngx_http_symbolicate_statistics_s  ngx_http_symbolicate_statistics_t;


typedef struct {
    ngx_array_t                    stores;      /* of pointers */
    ngx_http_symbolicate_statistics_t  *figures;   /* of them, in this worker */
    ngx_array_t                    metrics;     /* of pointers: sources */
    ngx_shm_zone_t                *zone;        /* of the counters */
    size_t                         recent;      /* bytes of answers of late that
                                                 * are kept; 0: off */
    size_t                         names_size;  /* same of demangled names */
    sym_names_t                   *names;       /* of the worker */
    ngx_array_t                    loaders;     /* of pointers */
    ngx_array_t                    scopes;      /* distinct sym_scopes_t */
    ngx_array_t                    uses;        /* of sources, by locations */
    ngx_array_t                    keys;        /* of pointers: of AWS */
    ngx_uint_t                     fetch_concurrency;   /* of a worker */
    size_t                         buffers;     /* of answers, in a worker */
} ngx_http_symbolicate_main_conf_t;


/* A store as the configuration names it: one for each distinct path. */
typedef struct {
    ngx_http_symbolicate_main_conf_t  *main;
    ngx_str_t                      path;        /* ends in NUL */
    ngx_http_symbolicate_db_t     *db;          /* NULL: not open */

    ngx_msec_t                     checked;     /* last look for staleness */
    ngx_uint_t                     exchanges;   /* times that it was another */

    time_t                         logged;      /* last line about trouble */
    sym_status_t                   trouble;     /* SYM_OK: none was logged */
    ngx_uint_t                     untold;      /* troubles since that line */
    char                           owners[320]; /* who may not open whose */
} ngx_http_symbolicate_store_t;


typedef struct {
    ngx_http_symbolicate_store_t  *store;

    /* a location has an API, or health, or metrics, or nothing */
    const sym_api_t               *api;
    ngx_flag_t                     health;
    ngx_flag_t                     metrics;
    ngx_flag_t                     admin;       /* beside an API */

    sym_api_location_t             place;

    ngx_flag_t                     demangle;

    ngx_uint_t                     max_jobs;
    ngx_uint_t                     max_stacks;
    ngx_uint_t                     max_frames;
    ngx_uint_t                     max_modules;
    off_t                          max_answer;  /* bytes; 0: no limit */
    ngx_uint_t                     max_missing;
    ngx_uint_t                     slice;       /* frames */
    ngx_flag_t                     cors;

    ngx_http_symbolicate_loader_t *loader;      /* NULL: nothing is fetched */
    ngx_http_symbolicate_fetch_policy_t  policy;
    sym_scopes_t                   scopes;      /* whose modules are seen */
    ngx_msec_t                     budget;
    ngx_uint_t                     on_failure;

    ngx_http_symbolicate_sigv4_t  *aws;         /* NULL: nothing is signed */
} ngx_http_symbolicate_loc_conf_t;


/* Something long, that goes on when its turn comes; see queue.c. */
typedef struct {
    ngx_queue_t                    queue;
    void                         (*run)(void *data);
    void                          *data;
    unsigned                       queued:1;
} ngx_http_symbolicate_turn_t;


/* Waits for figures of the stores. */
typedef struct {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_statistics_t  *figures;   /* NULL: does not wait */
    void                         (*told)(void *data);
    void                          *data;
} ngx_http_symbolicate_statistics_wait_t;


/* The steps of a request, in their order; see ngx_http_symbolicate_run(). */
typedef enum {
    ngx_http_symbolicate_gather = 0,
    ngx_http_symbolicate_parse,
    ngx_http_symbolicate_answer,
    ngx_http_symbolicate_send
} ngx_http_symbolicate_state_e;


typedef struct ngx_http_symbolicate_body_s  ngx_http_symbolicate_body_t;
typedef struct ngx_http_symbolicate_missing_s  ngx_http_symbolicate_missing_t;
typedef struct ngx_http_symbolicate_purge_s  ngx_http_symbolicate_purge_t;


typedef struct {
    ngx_http_request_t            *request;
    ngx_http_symbolicate_state_e   state;

    ngx_http_symbolicate_turn_t    turn;
    unsigned                       admitted:1;  /* see queue.c */
    unsigned                       header_sent:1;
    unsigned                       complete:1;  /* the answer is written */
    unsigned                       paused:1;    /* until all of it is sent */

    sym_api_call_t                 call;        /* what is asked */

    ngx_http_symbolicate_body_t   *gathering;
    sym_str_t                      body;

    ngx_http_symbolicate_purge_t  *purge;       /* NULL: asks for symbols */

    sym_arena_t                    arena;
    sym_request_t                 *asked;

    ngx_http_symbolicate_db_t     *db;
    sym_snapshot_t                *snapshot;
    ngx_uint_t                     exchanges;   /* of the store, until now */
    ngx_uint_t                     restarts;    /* of the answer */
    sym_status_t                   result;      /* of the last slice */
    ngx_http_symbolicate_missing_t  *missing;   /* NULL: nothing was */
    ngx_msec_t                     budget;      /* to wait for it */
    sym_error_t                    err;

    sym_out_t                      out;
    ngx_chain_t                   *first;       /* of the answer, not yet given
                                                 * to the filters */
    ngx_chain_t                   *last;
    ngx_chain_t                   *busy;        /* given, not yet sent */
    ngx_chain_t                   *free;
    size_t                         held;        /* bytes of all their buffers */

    ngx_chain_t                   *swapped;     /* see filter.c */

    /* what a step that fails leaves behind */
    ngx_uint_t                     http_status;
    sym_str_t                      title;
    const char                    *description;
    ngx_chain_t                   *error_body;  /* NULL: of these two */

    /* outlive the arena: log variables, counters */
    sym_request_stats_t             stats;
    sym_served_t                   status;
    uint64_t                       started_ns;  /* 0: was not for symbols */
} ngx_http_symbolicate_ctx_t;


extern ngx_module_t  ngx_http_symbolicate_module;


/*
 * A step of a request returns NGX_OK: done; NGX_AGAIN: wants another turn;
 * NGX_DONE: waits for something that will call ngx_http_symbolicate_run(); or
 * NGX_ERROR: failed, after ngx_http_symbolicate_fail().  Sending returns
 * NGX_DECLINED when all that is written is sent, and there is more to write.
 */

/* handler.c */

ngx_int_t ngx_http_symbolicate_handler(ngx_http_request_t *r);
ngx_http_symbolicate_ctx_t *ngx_http_symbolicate_create_ctx(
    ngx_http_request_t *r);
ngx_int_t ngx_http_symbolicate_read_body(ngx_http_request_t *r);
void ngx_http_symbolicate_run(ngx_http_symbolicate_ctx_t *ctx);
ngx_int_t ngx_http_symbolicate_fail(ngx_http_symbolicate_ctx_t *ctx,
    ngx_uint_t status, sym_str_t title, const char *description);

/* body.c */

ngx_int_t ngx_http_symbolicate_gather_step(ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_gather_end(ngx_http_symbolicate_ctx_t *ctx);

/* answer.c */

ngx_int_t ngx_http_symbolicate_answer_step(ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_answer_end(ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_answer_drop(ngx_http_symbolicate_ctx_t *ctx);
/* Frees a buffer of the answer that is sent. */
void ngx_http_symbolicate_answer_free(ngx_http_symbolicate_ctx_t *ctx,
    ngx_chain_t *cl);

/* missing.c */

ngx_int_t ngx_http_symbolicate_missing_budget(
    ngx_http_symbolicate_ctx_t *ctx);
ngx_int_t ngx_http_symbolicate_missing_step(ngx_http_symbolicate_ctx_t *ctx);
ngx_int_t ngx_http_symbolicate_missing_verdict(
    ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_missing_end(ngx_http_symbolicate_ctx_t *ctx);
ngx_uint_t ngx_http_symbolicate_missing_some(ngx_http_symbolicate_ctx_t *ctx);
ngx_int_t ngx_http_symbolicate_missing_headers(
    ngx_http_symbolicate_ctx_t *ctx);

/* admin.c */

/* NGX_DECLINED: the path is none of these. */
ngx_int_t ngx_http_symbolicate_admin(ngx_http_request_t *r);
ngx_uint_t ngx_http_symbolicate_is_admin(ngx_http_request_t *r);

/* purge.c */

ngx_int_t ngx_http_symbolicate_purge_one(ngx_http_request_t *r,
    sym_module_key_t *key, sym_scopes_t *scopes);
ngx_http_symbolicate_purge_t *ngx_http_symbolicate_purge_create(
    ngx_http_symbolicate_ctx_t *ctx, sym_scopes_t *scopes);
void ngx_http_symbolicate_purge_events(ngx_http_symbolicate_ctx_t *ctx,
    sym_s3_events_t *events);
ngx_int_t ngx_http_symbolicate_purge_step(ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_purge_end(ngx_http_symbolicate_ctx_t *ctx);

/* events.c */

ngx_int_t ngx_http_symbolicate_events(ngx_http_request_t *r,
    sym_module_key_t *key, sym_scopes_t *scopes);
ngx_int_t ngx_http_symbolicate_events_step(ngx_http_symbolicate_ctx_t *ctx);

/* explain.c */

ngx_int_t ngx_http_symbolicate_explain(ngx_http_request_t *r,
    sym_module_key_t *key, sym_scopes_t *scopes);

/* send.c */

ngx_int_t ngx_http_symbolicate_send_step(ngx_http_symbolicate_ctx_t *ctx);

/* queue.c */

/* In line already: stays where it is. */
void ngx_http_symbolicate_enqueue(ngx_http_symbolicate_turn_t *turn);
void ngx_http_symbolicate_dequeue(ngx_http_symbolicate_turn_t *turn);
ngx_uint_t ngx_http_symbolicate_admit(ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_leave(ngx_http_symbolicate_ctx_t *ctx);

/* reply.c */

ngx_table_elt_t *ngx_http_symbolicate_find_header(ngx_http_request_t *r,
    const char *name);
ngx_int_t ngx_http_symbolicate_add_header(ngx_http_request_t *r,
    const char *name, const char *value, size_t len);
ngx_int_t ngx_http_symbolicate_method(ngx_http_request_t *r,
    ngx_uint_t methods, const char *name);
ngx_chain_t *ngx_http_symbolicate_error_body(ngx_http_request_t *r,
    sym_str_t title, const char *description);
ngx_int_t ngx_http_symbolicate_send_error(ngx_http_request_t *r,
    ngx_uint_t status, sym_str_t title, const char *description);
ngx_int_t ngx_http_symbolicate_send_body(ngx_http_request_t *r,
    ngx_uint_t status, ngx_chain_t *body);
ngx_chain_t *ngx_http_symbolicate_body_begin(ngx_http_request_t *r,
    size_t size, sym_out_t *out);
ngx_int_t ngx_http_symbolicate_body_end(ngx_http_request_t *r,
    ngx_chain_t *body, sym_out_t *out);
void ngx_http_symbolicate_set_json(ngx_http_request_t *r, off_t length);

/* filter.c */

ngx_int_t ngx_http_symbolicate_filter_init(ngx_conf_t *cf);

/* store.c */

ngx_http_symbolicate_store_t *ngx_http_symbolicate_store_add(ngx_conf_t *cf,
    ngx_str_t *path);
ngx_http_symbolicate_db_t *ngx_http_symbolicate_store_get(
    ngx_http_symbolicate_store_t *store, ngx_log_t *log, const char **reason);
void ngx_http_symbolicate_store_put(ngx_http_symbolicate_db_t *db);
void ngx_http_symbolicate_store_trouble(ngx_http_symbolicate_store_t *store,
    sym_error_t *err, ngx_log_t *log);
void ngx_http_symbolicate_store_damaged(ngx_http_symbolicate_store_t *store,
    ngx_http_symbolicate_db_t *db, sym_error_t *err, ngx_log_t *log);
void ngx_http_symbolicate_store_bytes(ngx_http_symbolicate_store_t *store,
    uint64_t n, ngx_log_t *log);
const char *ngx_http_symbolicate_store_reason(sym_status_t status);

/* health.c */

ngx_int_t ngx_http_symbolicate_health_handler(ngx_http_request_t *r);


/* metrics.c */

ngx_int_t ngx_http_symbolicate_metrics_handler(ngx_http_request_t *r);
/* Both: as many as are configured, in their order. */
ngx_int_t ngx_http_symbolicate_metrics_page(ngx_http_request_t *r,
    const sym_metrics_store_t *stores, const sym_metrics_loader_t *loaders);
ngx_int_t ngx_http_symbolicate_metrics_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);
ngx_int_t ngx_http_symbolicate_metrics_init(ngx_conf_t *cf);
void ngx_http_symbolicate_metrics_process(
    ngx_http_symbolicate_main_conf_t *smcf);
ngx_http_symbolicate_metric_t *ngx_http_symbolicate_metrics_source(
    ngx_conf_t *cf, ngx_str_t *name);
uint64_t ngx_http_symbolicate_clock_ns(void);
void ngx_http_symbolicate_count_answer(ngx_http_symbolicate_ctx_t *ctx);
void ngx_http_symbolicate_count_modules(sym_outcome_t outcome, ngx_uint_t n);
void ngx_http_symbolicate_count_fetch(ngx_uint_t slot, sym_outcome_t outcome,
    off_t bytes, ngx_msec_t msec);
void ngx_http_symbolicate_count_join(void);
void ngx_http_symbolicate_count_loader(ngx_uint_t connected);

/* figures.c */

ngx_int_t ngx_http_symbolicate_statistics_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);
/* NGX_AGAIN: wait->told() will be called; NGX_OK: they are there. */
ngx_int_t ngx_http_symbolicate_statistics_get(
    ngx_http_symbolicate_statistics_t *figures,
    ngx_http_symbolicate_statistics_wait_t *wait, ngx_uint_t slice);
void ngx_http_symbolicate_statistics_leave(
    ngx_http_symbolicate_statistics_wait_t *wait);
/* The last that there were; a view until others come. */
const sym_metrics_store_t *ngx_http_symbolicate_statistics_shown(
    ngx_http_symbolicate_statistics_t *figures);

/* scrape.c */

/* Sends the page; what a content handler returns. */
ngx_int_t ngx_http_symbolicate_scrape(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_MODULE_H_INCLUDED_ */
