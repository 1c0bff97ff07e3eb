
/*
 * ngx_http_symbolicate_denied.h - hosts of request sources that kept failing.
 *
 * All workers share one list of them (sources/deny_list.h), which outlives
 * reloads.  No files are requested from such a host.
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


/* Maximum length of a skipped attempt's outcome: see below. */
#define NGX_SYMBOLICATE_BLOCKED_MAX  64


/* Sets up the list, if a location allows request sources. */
ngx_int_t ngx_http_symbolicate_denied_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);
void ngx_http_symbolicate_denied_process(
    ngx_http_symbolicate_main_conf_t *smcf);

/*
 * Whether the host is blocked; *outcome (NGX_SYMBOLICATE_BLOCKED_MAX bytes) is
 * then the outcome of the attempt, in the form of protocol/outcomes.h.
 */
ngx_uint_t ngx_http_symbolicate_denied_is(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source,
    const sym_url_t *url, ngx_str_t *outcome);

/* Records a failed attempt at the host. */
void ngx_http_symbolicate_denied_count(
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *source, const sym_url_t *url,
    ngx_str_t *outcome,
    ngx_msec_t msec);

/* Gets the number of blocked hosts; NGX_DECLINED: there is no list. */
ngx_int_t ngx_http_symbolicate_denied_hosts(uint32_t *n);

/* Writes a JSON array of the blocked hosts; nothing if there are none. */
#define NGX_SYMBOLICATE_BLOCKED_TEXT  SYM_DENY_TEXT_MAX

void ngx_http_symbolicate_denied_write(sym_out_t *out);


#endif /* _NGX_HTTP_SYMBOLICATE_DENIED_H_INCLUDED_ */
