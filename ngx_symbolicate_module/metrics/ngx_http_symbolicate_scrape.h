
/*
 * ngx_http_symbolicate_scrape.h - the metrics page, once its figures are there.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SCRAPE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SCRAPE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Sends the page; what a content handler returns. */
ngx_int_t ngx_http_symbolicate_scrape(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_SCRAPE_H_INCLUDED_ */
