
/*
 * ngx_http_symbolicate_request_sources.h - sources defined by a request.
 *
 * They live as long as the downloads that the request started, even after the
 * request has ended.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"


/*
 * Copies the list; the caller holds a reference to it.  policy: that of the
 * location.  NGX_BUSY: the sources of all requests take too much memory;
 * NGX_ERROR: out of memory.
 */
ngx_int_t ngx_http_symbolicate_request_sources_create(ngx_http_request_t *r,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_fetch_policy_t *policy,
    const sym_request_sources_t *list,
    ngx_http_symbolicate_request_sources_t **set);

/*
 * Same for files at URLs of some hosts, in the form of origins.h: the policy's
 * `links`.
 */
ngx_int_t ngx_http_symbolicate_request_sources_confined(ngx_http_request_t *r,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_fetch_policy_t *policy, const sym_str_t *hosts,
    uint32_t nhosts, ngx_http_symbolicate_request_sources_t **set);

void ngx_http_symbolicate_request_sources_hold(
    ngx_http_symbolicate_request_sources_t *set);
void ngx_http_symbolicate_request_sources_release(
    ngx_http_symbolicate_request_sources_t *set);

/* Uses these sources instead of the location's. */
ngx_http_symbolicate_fetch_policy_t *
ngx_http_symbolicate_request_sources_policy(
    ngx_http_symbolicate_request_sources_t *set);
const sym_scopes_t *ngx_http_symbolicate_request_sources_scopes(
    ngx_http_symbolicate_request_sources_t *set);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCES_H_INCLUDED_ */
