
/*
 * ngx_http_symbolicate_given.h - the sources that a request has brought along.
 *
 * They outlive their request, for as long as a download that it began.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_GIVEN_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_GIVEN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"


/*
 * Copies the list, for which the caller holds one reference.  policy: the
 * location's.  NGX_BUSY: the sources of all requests take too much memory;
 * NGX_ERROR: out of memory.
 */
ngx_int_t ngx_http_symbolicate_given_create(ngx_http_request_t *r,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_fetch_policy_t *policy, const sym_given_t *list,
    ngx_http_symbolicate_given_t **given);

void ngx_http_symbolicate_given_hold(ngx_http_symbolicate_given_t *given);
void ngx_http_symbolicate_given_release(ngx_http_symbolicate_given_t *given);

/* What takes the place of the location's. */
ngx_http_symbolicate_fetch_policy_t *ngx_http_symbolicate_given_policy(
    ngx_http_symbolicate_given_t *given);
const sym_scopes_t *ngx_http_symbolicate_given_scopes(
    ngx_http_symbolicate_given_t *given);


#endif /* _NGX_HTTP_SYMBOLICATE_GIVEN_H_INCLUDED_ */
