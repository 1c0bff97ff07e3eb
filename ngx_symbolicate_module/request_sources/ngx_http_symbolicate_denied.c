
/*
 * ngx_http_symbolicate_denied.c - hosts of request sources that kept failing.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/outcomes.h"
#include "sources/guard/deny_list.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "request_sources/ngx_http_symbolicate_denied.h"


static ngx_int_t ngx_http_symbolicate_denied_zone_init(ngx_shm_zone_t *zone,
    void *data);


/* per worker; NULL: no location allows request sources */
static ngx_slab_pool_t  *ngx_http_symbolicate_denied_pool;


ngx_int_t
ngx_http_symbolicate_denied_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    size_t  size;

    static ngx_str_t  name = ngx_string("symbolicate_blocked_hosts");

    if (smcf->request_source_lanes == NGX_CONF_UNSET_UINT) {
        return NGX_OK;
    }

    /* room for the list, and for nginx's own data in the zone */
    size = ngx_align(sizeof(sym_deny_list_t), ngx_pagesize)
           + 8 * ngx_pagesize;

    smcf->denied_zone = ngx_shared_memory_add(cf, &name, size,
                                              &ngx_http_symbolicate_module);
    if (smcf->denied_zone == NULL) {
        return NGX_ERROR;
    }

    smcf->denied_zone->init = ngx_http_symbolicate_denied_zone_init;
    smcf->denied_zone->data = smcf;

    return NGX_OK;
}


/* `data`: the configuration before a reload; its list stays in use. */
static ngx_int_t
ngx_http_symbolicate_denied_zone_init(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t  *pool;

    pool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data == NULL) {
        pool->data = ngx_slab_calloc(pool, sizeof(sym_deny_list_t));
    }

    return pool->data ? NGX_OK : NGX_ERROR;
}


void
ngx_http_symbolicate_denied_process(ngx_http_symbolicate_main_conf_t *smcf)
{
    if (smcf->denied_zone) {
        ngx_http_symbolicate_denied_pool =
                            (ngx_slab_pool_t *) smcf->denied_zone->shm.addr;
    }
}


/*
 * Returns the table, and makes the host's key in it; NULL: failures of the host
 * do not count.
 */
static ngx_slab_pool_t *
ngx_http_symbolicate_denied_of(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source, const sym_url_t *url, sym_sha256_t *key)
{
    if (conf->deny.failures == 0 || !source->can_be_blocked
        || ngx_http_symbolicate_denied_pool == NULL
        || !sym_deny_key(&source->realm, url, key))
    {
        return NULL;
    }

    return ngx_http_symbolicate_denied_pool;
}


ngx_uint_t
ngx_http_symbolicate_denied_is(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source, const sym_url_t *url,
    ngx_str_t *outcome)
{
    u_char            *p;
    ngx_uint_t         is_blocked;
    sym_sha256_t       key;
    ngx_slab_pool_t   *pool;
    sym_deny_cause_t   cause;

    pool = ngx_http_symbolicate_denied_of(conf, source, url, &key);
    if (pool == NULL) {
        return 0;
    }

    ngx_shmtx_lock(&pool->mutex);

    is_blocked = sym_deny_is_blocked(pool->data, &key, ngx_current_msec,
                                     &cause);
    if (is_blocked) {
        p = ngx_snprintf(outcome->data, NGX_SYMBOLICATE_BLOCKED_MAX,
                         SYM_PLACE_BLOCKED "%uL/%*s/%uL",
                         conf->deny.block_ms, cause.outcome.len,
                         cause.outcome.data, cause.ms);
        outcome->len = p - outcome->data;
    }

    ngx_shmtx_unlock(&pool->mutex);

    if (is_blocked) {
        sym_count(&ngx_http_symbolicate_counters()->blocked, 1);
    }

    return is_blocked;
}


void
ngx_http_symbolicate_denied_count(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source, const sym_url_t *url,
    ngx_str_t *outcome,
    ngx_msec_t msec)
{
    u_char             text[SYM_DENY_HOST_MAX];
    ngx_str_t          host;
    ngx_uint_t         is_blocked;
    sym_sha256_t       key;
    ngx_slab_pool_t   *pool;
    sym_deny_cause_t   cause;

    pool = ngx_http_symbolicate_denied_of(conf, source, url, &key);
    if (pool == NULL) {
        return;
    }

    host.data = text;
    host.len = ngx_snprintf(text, sizeof(text), "%*s:%ud", url->host.len,
                            url->host.data, (unsigned) url->port)
               - text;

    cause.outcome = sym_str((char *) outcome->data, outcome->len);
    cause.ms = msec;

    ngx_shmtx_lock(&pool->mutex);

    is_blocked = sym_deny_fail(pool->data, &conf->deny, &key,
                               sym_str((char *) host.data, host.len), &cause,
                               ngx_current_msec);

    ngx_shmtx_unlock(&pool->mutex);

    if (is_blocked) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "symbol host \"%V\" is blocked for %uL s: %uD downloads "
                      "failed within %uL s, the last one with \"%V\"",
                      &host, conf->deny.block_ms / 1000, conf->deny.failures,
                      conf->deny.window_ms / 1000, outcome);
    }
}


ngx_int_t
ngx_http_symbolicate_denied_hosts(uint32_t *n)
{
    ngx_slab_pool_t  *pool;

    pool = ngx_http_symbolicate_denied_pool;

    if (pool == NULL) {
        return NGX_DECLINED;
    }

    ngx_shmtx_lock(&pool->mutex);
    *n = sym_deny_count(pool->data, ngx_current_msec);
    ngx_shmtx_unlock(&pool->mutex);

    return NGX_OK;
}


void
ngx_http_symbolicate_denied_write(sym_out_t *out)
{
    uint32_t          n;
    ngx_slab_pool_t  *pool;

    pool = ngx_http_symbolicate_denied_pool;

    if (ngx_http_symbolicate_denied_hosts(&n) != NGX_OK || n == 0) {
        return;
    }

    ngx_shmtx_lock(&pool->mutex);
    sym_deny_write(pool->data, ngx_current_msec, out);
    ngx_shmtx_unlock(&pool->mutex);
}
