
/*
 * ngx_http_symbolicate_conf.h - the configuration.
 *
 * It is read-only after nginx has read its configuration.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/registry.h"
#include "uploads/tokens.h"

#include "conf/ngx_http_symbolicate_page_conf.h"
#include "conf/ngx_http_symbolicate_source.h"


/* Limit for requests without a client: an address may have a share. */
#define NGX_SYMBOLICATE_SHARE  NGX_MAX_UINT32_VALUE


#define NGX_SYMBOLICATE_VERSION  "0.1.0"


typedef struct ngx_http_symbolicate_worker_s  ngx_http_symbolicate_worker_t;
typedef struct ngx_http_symbolicate_sigv4_s  ngx_http_symbolicate_sigv4_t;


struct ngx_http_symbolicate_main_conf_s {
    ngx_array_t                    stores;      /* pointers to store_conf_t */
    ngx_array_t                    loaders;     /* pointers to loader_conf_t */
    ngx_array_t                    uploads;     /* pointers to loc_conf_t:
                                                 * locations that share, with a
                                                 * target of uploads */
    ngx_array_t                    metrics;     /* pointers to sources */
    ngx_uint_t                     nlanes;      /* number of names of sources */
    ngx_uint_t                     request_source_lanes;
                                                /* index of the first request
                                                 * source; NGX_CONF_UNSET_UINT:
                                                 * none */
    ngx_shm_zone_t                *denied_zone; /* NULL: request sources are
                                                 * off */
    ngx_array_t                    scopes;      /* distinct sym_scopes_t */
    ngx_array_t                    uses;        /* uses of sources by
                                                 * locations */
    ngx_array_t                    keys;        /* pointers to AWS keys */
    ngx_array_t                    members;     /* pointers to locations whose
                                                 * fleets have lists; one for
                                                 * each bucket and server */
    ngx_shm_zone_t                *zone;        /* zone of the counters */
    size_t                         answers_size;  /* bytes of cached answers; 0:
                                                   * off */
    size_t                         names_size;  /* bytes of cached demangled
                                                 * names */
    ngx_uint_t                     fetch_concurrency;   /* per worker */
    size_t                         buffers;     /* bytes for answers, per
                                                 * worker */
    size_t                         memory;      /* bytes for requests, per
                                                 * worker */
    size_t                         memory_share;    /* bytes for one request */

    /* limits of requests that outlive their clients */
    ngx_flag_t                     has_jobs;    /* an API of a location has
                                                 * jobs */
    ngx_shm_zone_t                *jobs_zone;   /* NULL: no location has jobs */
    ngx_uint_t                     max_requests;    /* requests in progress; 0:
                                                       no limit */
    ngx_uint_t                     max_per_address; /* or _SHARE */
    size_t                         results_size;
    ngx_msec_t                     results_valid;

    ngx_http_symbolicate_worker_t  *worker;     /* state of this process */
};


/* A location's settings of files served to clients. */
typedef struct {
    ngx_flag_t                     enable;
    ngx_uint_t                     files;       /* files at a time, per
                                                   worker */
    off_t                          size;        /* maximum size of a file */
} ngx_http_symbolicate_proxy_conf_t;


/* Tokens for uploads. */
typedef struct {
    sym_upload_tokens_t            all;
    sym_arena_t                    arena;
    unsigned                       off:1;       /* nginx checks the client */
} ngx_http_symbolicate_tokens_t;


/* A location's settings of uploads. */
typedef struct {
    ngx_str_t                      target;      /* name of a source */
    ngx_http_symbolicate_source_t *source;      /* source named by target */
    ngx_http_symbolicate_source_t *try_source;  /* for try uploads, or NULL */
    off_t                          part;        /* size of parts in a bucket; 0:
                                                 * the target is a folder */
    ngx_http_symbolicate_tokens_t *tokens;
    sym_str_t                     *hosts;       /* patterns of origins.h: where
                                                 * uploads by URL may come
                                                 * from; NULL: nowhere */
    uint32_t                       nhosts;
} ngx_http_symbolicate_upload_conf_t;


/* A store: one for each distinct path. */
typedef struct ngx_http_symbolicate_store_conf_s {
    ngx_http_symbolicate_main_conf_t  *main;
    ngx_str_t                      path;        /* ends in NUL */
    ngx_uint_t                     number;      /* index in main->stores */
} ngx_http_symbolicate_store_conf_t;


/* A loader: one for each socket. */
typedef struct {
    ngx_http_symbolicate_main_conf_t  *main;
    ngx_str_t                      path;        /* ends in NUL */
    ngx_uint_t                     number;      /* index in main->loaders */
    ngx_str_t                      webhook;     /* location of the webhook; or
                                                 * empty */
    ngx_http_conf_ctx_t           *webhook_server;
} ngx_http_symbolicate_loader_conf_t;


typedef struct {
    ngx_http_symbolicate_store_conf_t  *store;

    /* purpose of the location: an API, health, metrics, the page, or none */
    const sym_api_t               *api;
    ngx_flag_t                     health;
    ngx_flag_t                     metrics;
    ngx_http_symbolicate_page_conf_t  *page;    /* NULL: no page */
    ngx_flag_t                     admin;       /* in addition to an API */
    ngx_flag_t                     missing;     /* the loader is notified of
                                                 * missing modules */
    ngx_str_t                      webhook;     /* location that is notified of
                                                 * arrived modules */
    ngx_str_t                      missing_in;  /* sources in `scopes`, one per
                                                 * line */
    ngx_http_handler_pt            handler;     /* content handler */

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

    ngx_http_symbolicate_loader_conf_t  *loader;  /* NULL: nothing is fetched */
    ngx_http_symbolicate_fetch_policy_t  policy;
    sym_scopes_t                   scopes;      /* sources whose modules are
                                                   visible */
    ngx_msec_t                     budget;
    ngx_uint_t                     on_failure;
    ngx_msec_t                     request_timeout;
    ngx_http_symbolicate_proxy_conf_t  proxy;
    ngx_http_symbolicate_upload_conf_t  upload;

    ngx_http_symbolicate_sigv4_t  *aws;         /* NULL: nothing is signed */
} ngx_http_symbolicate_loc_conf_t;


extern ngx_module_t  ngx_http_symbolicate_module;


void *ngx_http_symbolicate_create_main_conf(ngx_conf_t *cf);
char *ngx_http_symbolicate_init_main_conf(ngx_conf_t *cf, void *conf);
void *ngx_http_symbolicate_create_loc_conf(ngx_conf_t *cf);
char *ngx_http_symbolicate_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);


#endif /* _NGX_HTTP_SYMBOLICATE_CONF_H_INCLUDED_ */
