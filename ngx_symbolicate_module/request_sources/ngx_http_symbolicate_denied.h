
/*
 * ngx_http_symbolicate_denied.h - hosts of requests' sources that kept failing.
 *
 * All workers share one list of them (sources/deny_list.h), which outlives
 * reloads.  The file of an attempt at such a host is not asked for.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_DENIED_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_DENIED_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "json/out.h"
#include "sources/guard/deny_list.h"
#include "sources/guard/url.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"


/* Longest outcome of an attempt that is left out: see below. */
#define NGX_SYMBOLICATE_BLOCKED_MAX  64


/* The list of all workers; nothing, if no location takes requests' sources. */
ngx_int_t ngx_http_symbolicate_denied_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);
void ngx_http_symbolicate_denied_process(
    ngx_http_symbolicate_main_conf_t *smcf);

/* True: the host is blocked; *outcome (of NGX_SYMBOLICATE_BLOCKED_MAX bytes) is
 * what the attempt ends with, as protocol/attempts.h has it. */
ngx_uint_t ngx_http_symbolicate_denied_is(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source,
    const sym_url_t *url, ngx_str_t *outcome);

/* The attempt at the host has failed. */
void ngx_http_symbolicate_denied_count(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source, const sym_url_t *url,
    ngx_str_t *outcome,
    ngx_msec_t msec);

/* How many are blocked; NGX_DECLINED: there is no list. */
ngx_int_t ngx_http_symbolicate_denied_hosts(uint32_t *n);

/* A JSON array of them; nothing, if no host is blocked. */
#define NGX_SYMBOLICATE_BLOCKED_TEXT  SYM_DENY_TEXT_MAX

void ngx_http_symbolicate_denied_write(sym_out_t *out);


#endif /* _NGX_HTTP_SYMBOLICATE_DENIED_H_INCLUDED_ */
