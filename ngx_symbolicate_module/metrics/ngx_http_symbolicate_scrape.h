
/*
 * ngx_http_symbolicate_scrape.h - sends the metrics page when its statistics
 * have arrived.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SCRAPE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SCRAPE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* A task that sends the page; returns the result of a content handler. */
ngx_int_t ngx_http_symbolicate_scrape(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_SCRAPE_H_INCLUDED_ */
