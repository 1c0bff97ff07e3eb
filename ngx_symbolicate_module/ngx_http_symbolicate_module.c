
/*
 * ngx_http_symbolicate_module.c - the module: directives, start and end of a
 * worker.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "aws/ngx_http_symbolicate_aws.h"
#include "aws/ngx_http_symbolicate_aws_conf.h"
#include "aws/ngx_http_symbolicate_aws_endpoint.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_directives.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_request_sources_conf.h"
#include "conf/ngx_http_symbolicate_page_conf.h"
#include "conf/ngx_http_symbolicate_upload_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_share_conf.h"
#include "conf/ngx_http_symbolicate_source_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "counters/ngx_http_symbolicate_meter.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_s3.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_pending.h"
#include "rpc/ngx_http_symbolicate_bucket.h"
#include "rpc/ngx_http_symbolicate_rpc.h"
#include "rpc/ngx_http_symbolicate_webhook.h"
#include "jobs/ngx_http_symbolicate_jobs.h"
#include "metrics/ngx_http_symbolicate_health.h"
#include "metrics/ngx_http_symbolicate_metrics.h"
#include "metrics/ngx_http_symbolicate_statistics.h"
#include "ngx_http_symbolicate_filter.h"
#include "ngx_http_symbolicate_handler.h"
#include "ngx_http_symbolicate_variables.h"
#include "page/ngx_http_symbolicate_page.h"
#include "request/ngx_http_symbolicate_job.h"
#include "request/ngx_http_symbolicate_output.h"
#include "share/ngx_http_symbolicate_tell.h"
#include "warm/ngx_http_symbolicate_warm.h"
#include "store/ngx_http_symbolicate_store.h"


#ifdef __GLIBC__
#include <malloc.h>
#endif


/* Number of bytes of free memory that a worker keeps between requests. */
#define NGX_SYMBOLICATE_TRIM       (16 * 1024 * 1024)


static ngx_int_t ngx_http_symbolicate_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_symbolicate_worker_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);
static ngx_int_t ngx_http_symbolicate_init_process(ngx_cycle_t *cycle);
static void ngx_http_symbolicate_exit_process(ngx_cycle_t *cycle);


static ngx_http_symbolicate_bounds_t  ngx_http_symbolicate_limit = {
    0, 0xffffffff, "a whole number from 0 (no limit) to 4294967295"
};

static ngx_http_symbolicate_bounds_t  ngx_http_symbolicate_slice_bounds = {
    1, 1000000, "a whole number of frames from 1 to 1000000"
};


static ngx_http_symbolicate_bounds_t  ngx_http_symbolicate_concurrency = {
    1, 1000, "a whole number of downloads from 1 to 1000"
};

static ngx_conf_enum_t  ngx_http_symbolicate_on_failure[] = {
    { ngx_string("503"), ngx_http_symbolicate_on_failure_503 },
    { ngx_string("partial"), ngx_http_symbolicate_on_failure_partial },
    { ngx_null_string, 0 }
};


static ngx_command_t  ngx_http_symbolicate_commands[] = {

    { ngx_string("symbolicate_store"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_store,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, store),
      NULL },

    { ngx_string("symbolicate"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      (void *) ngx_http_symbolicate_handler },

    { ngx_string("symbolicate_health"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_symbolicate_set_page,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, health),
      (void *) ngx_http_symbolicate_health_handler },

    { ngx_string("symbolicate_admin"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, admin),
      NULL },

    { ngx_string("symbolicate_missing"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, missing),
      NULL },

    { ngx_string("symbolicate_webhook"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_webhook,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_symbolicate_set_page,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, metrics),
      (void *) ngx_http_symbolicate_metrics_handler },

    { ngx_string("symbolicate_page"),
      NGX_HTTP_LOC_CONF|NGX_CONF_ANY,
      ngx_http_symbolicate_set_web_page,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      (void *) ngx_http_symbolicate_page_handler },

    { ngx_string("symbolicate_max_jobs"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_jobs),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_stacks"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_stacks),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_frames"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_frames),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_modules"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_modules),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_answer"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_off_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_answer),
      NULL },

    { ngx_string("symbolicate_answer_buffers"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, buffers),
      NULL },

    { ngx_string("symbolicate_memory"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE12,
      ngx_http_symbolicate_set_memory,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_max_missing"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_missing),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_slice"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, slice),
      &ngx_http_symbolicate_slice_bounds },

    { ngx_string("symbolicate_answer_cache"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_cache,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, answers_size),
      NULL },

    { ngx_string("symbolicate_demangle"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, demangle),
      NULL },

    { ngx_string("symbolicate_demangle_cache"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_cache,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, names_size),
      NULL },

    { ngx_string("symbolicate_loader"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_loader,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_source"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_2MORE,
      ngx_http_symbolicate_set_source,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_share"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_share,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_request_sources"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_request_sources,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_fetch_concurrency"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, fetch_concurrency),
      &ngx_http_symbolicate_concurrency },

    { ngx_string("symbolicate_fetch_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE12,
      ngx_http_symbolicate_set_fetch_timeout,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_budget"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, budget),
      NULL },

    { ngx_string("symbolicate_on_failure"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, on_failure),
      &ngx_http_symbolicate_on_failure },

    { ngx_string("symbolicate_request_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, request_timeout),
      NULL },

    { ngx_string("symbolicate_proxy"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE123,
      ngx_http_symbolicate_set_proxy,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_upload_target"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE123,
      ngx_http_symbolicate_set_upload_target,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_upload_tokens"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_upload_tokens,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_upload_hosts"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_upload_hosts,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_max_requests"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE12,
      ngx_http_symbolicate_set_max_requests,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_results"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE12,
      ngx_http_symbolicate_set_results,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_negative_ttl"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_ttl,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_aws_sigv4"),
      NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_aws,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_cors"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, cors),
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_symbolicate_module_ctx = {
    ngx_http_symbolicate_add_variables,    /* preconfiguration */
    ngx_http_symbolicate_init,             /* postconfiguration */

    ngx_http_symbolicate_create_main_conf, /* create main configuration */
    ngx_http_symbolicate_init_main_conf,   /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_symbolicate_create_loc_conf,  /* create location configuration */
    ngx_http_symbolicate_merge_loc_conf    /* merge location configuration */
};


ngx_module_t  ngx_http_symbolicate_module = {
    NGX_MODULE_V1,
    &ngx_http_symbolicate_module_ctx,      /* module context */
    ngx_http_symbolicate_commands,         /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_symbolicate_init_process,     /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_symbolicate_exit_process,     /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_symbolicate_init(ngx_conf_t *cf)
{
    ngx_uint_t                         i;
    ngx_http_handler_pt               *h;
    ngx_http_core_main_conf_t         *cmcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    /* nginx calls the handlers of a phase in reverse order */

    static struct {
        ngx_http_phases      phase;
        ngx_http_handler_pt  handler;
    } handlers[] = {
        { NGX_HTTP_PREACCESS_PHASE, ngx_http_symbolicate_fetch_encode },
        { NGX_HTTP_PREACCESS_PHASE, ngx_http_symbolicate_s3_encode },
        { NGX_HTTP_PREACCESS_PHASE, ngx_http_symbolicate_aws_wait },
        { NGX_HTTP_PREACCESS_PHASE, ngx_http_symbolicate_iam_check },
        { NGX_HTTP_LOG_PHASE, ngx_http_symbolicate_log_handler }
    };

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        h = ngx_array_push(&cmcf->phases[handlers[i].phase].handlers);
        if (h == NULL) {
            return NGX_ERROR;
        }

        *h = handlers[i].handler;
    }

    if (ngx_http_symbolicate_filter_init(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    if (ngx_http_symbolicate_counters_zone(cf, smcf) != NGX_OK
        || ngx_http_symbolicate_jobs_zone(cf, smcf) != NGX_OK
        || ngx_http_symbolicate_denied_zone(cf, smcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_worker_init(cf, smcf);
}


static void
ngx_http_symbolicate_connected(ngx_http_symbolicate_loader_t *loader)
{
    ngx_http_symbolicate_pending_connected(loader);
    ngx_http_symbolicate_webhook_connected(loader);
}


/* An upload has written a file of a source. */
static void
ngx_http_symbolicate_changed(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_uint_t                         i;
    ngx_http_symbolicate_main_conf_t  *smcf;
    ngx_http_symbolicate_loc_conf_t  **slcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_symbolicate_module);
    slcf = smcf->uploads.elts;

    for (i = 0; i < smcf->uploads.nelts; i++) {
        if (slcf[i]->loader
            && ngx_http_symbolicate_loader_of(slcf[i]->loader) == loader
            && ngx_http_symbolicate_upload_is_to(slcf[i], m->key.scope))
        {
            ngx_http_symbolicate_tell_replaced(&slcf[i]->policy, m->key.scope,
                                               m->source);
            return;
        }
    }
}


static void
ngx_http_symbolicate_message(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    switch (m->type) {

    case SYM_RPC_ARRIVED:
        ngx_http_symbolicate_webhook_arrived(loader, m);
        break;

    case SYM_RPC_OBJECT:
        ngx_http_symbolicate_bucket_message(loader, m);
        break;

    case SYM_RPC_CHANGED:
        ngx_http_symbolicate_changed(loader, m);
        break;

    default:
        ngx_http_symbolicate_pending_message(loader, m);
    }
}


static void
ngx_http_symbolicate_reply(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_bucket_close(loader, m->ticket);
    ngx_http_symbolicate_rpc_reply(loader, m);
}


static void
ngx_http_symbolicate_disconnected(ngx_http_symbolicate_loader_t *loader)
{
    ngx_http_symbolicate_buckets_close(loader);
    ngx_http_symbolicate_rpc_disconnected(loader);
}


static ngx_http_symbolicate_loader_events_t
    ngx_http_symbolicate_loader_events =
{
    ngx_http_symbolicate_connected,
    ngx_http_symbolicate_disconnected,
    ngx_http_symbolicate_pending_unavailable,
    ngx_http_symbolicate_reply,
    ngx_http_symbolicate_message
};


static ngx_int_t
ngx_http_symbolicate_worker_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    smcf->worker = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_worker_t));

    if (smcf->worker == NULL
        || ngx_http_symbolicate_stores_init(cf, smcf) != NGX_OK
        || ngx_http_symbolicate_loaders_init(cf, smcf,
                                     &ngx_http_symbolicate_loader_events)
           != NGX_OK
        || ngx_http_symbolicate_lanes_init(cf, smcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_statistics_init(cf, smcf);
}


/*
 * The buffers of an answer are so large that glibc would map and unmap each of
 * them, and return smaller ones from the heap to the system.  So each request
 * would fault in all its pages again (measured: a fifth of an answer of 1,000
 * frames).
 */
static void
ngx_http_symbolicate_tune_malloc(void)
{
#ifdef __GLIBC__
    (void) mallopt(M_MMAP_THRESHOLD, 8 * NGX_SYMBOLICATE_BUFFER);
    (void) mallopt(M_TRIM_THRESHOLD, NGX_SYMBOLICATE_TRIM);
#endif
}


static void
ngx_http_symbolicate_names_cleanup(void *data)
{
    sym_names_free(data);
}


static ngx_int_t
ngx_http_symbolicate_names_init(ngx_cycle_t *cycle,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    smcf->worker->names = sym_names_create(smcf->names_size);

    cln->handler = ngx_http_symbolicate_names_cleanup;
    cln->data = smcf->worker->names;

    return smcf->worker->names ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_init_process(ngx_cycle_t *cycle)
{
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_symbolicate_module);
    if (smcf == NULL) {
        return NGX_OK;
    }

    if (smcf->stores.nelts) {
        ngx_http_symbolicate_tune_malloc();

        if (ngx_http_symbolicate_names_init(cycle, smcf) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_http_symbolicate_counters_process(smcf);

    smcf->worker->memory.limit = smcf->memory;

    if (ngx_process != NGX_PROCESS_HELPER) {
        ngx_http_symbolicate_meter_process(&smcf->worker->memory);
    }

    if (ngx_http_symbolicate_webhooks_process(cycle, smcf) != NGX_OK) {
        return NGX_ERROR;
    }
    ngx_http_symbolicate_denied_process(smcf);

    if (ngx_http_symbolicate_warm_process(smcf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_jobs_process(cycle, smcf,
                                             ngx_http_symbolicate_job_end_all);
}


static void
ngx_http_symbolicate_exit_process(ngx_cycle_t *cycle)
{
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_symbolicate_module);
    if (smcf) {
        ngx_http_symbolicate_loaders_close(smcf);
        ngx_http_symbolicate_jobs_exit();
        ngx_http_symbolicate_tell_exit();
    }
}
