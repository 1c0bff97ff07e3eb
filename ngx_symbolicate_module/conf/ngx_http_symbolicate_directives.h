
/*
 * ngx_http_symbolicate_directives.h - directives of serving.
 *
 * Handlers for nginx's command table; directives of fetching and signing have
 * their own headers.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_DIRECTIVES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_DIRECTIVES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


/*
 * Range of a number, for cmd->post of set_number().  Counts have 32 bits in
 * core/.
 */
typedef struct {
    ngx_uint_t   min;
    ngx_uint_t   max;
    const char  *meaning;
} ngx_http_symbolicate_bounds_t;


/* A location has only one purpose and one handler. */
char *ngx_http_symbolicate_claim(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *slcf, ngx_uint_t is_claimed,
    void *handler);

/* Records the path of a location, if it has one. */
ngx_uint_t ngx_http_symbolicate_set_base(ngx_http_symbolicate_loc_conf_t *slcf,
    ngx_http_core_loc_conf_t *clcf);

char *ngx_http_symbolicate_set_store(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
/* cmd->post is the content handler of the location. */
char *ngx_http_symbolicate_set_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
/* For "symbolicate_health" and "symbolicate_metrics". */
char *ngx_http_symbolicate_set_page(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_symbolicate_set_number(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_symbolicate_set_memory(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Reads a size, or "off", which is 0. */
char *ngx_http_symbolicate_set_max_requests(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_symbolicate_set_proxy(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_symbolicate_set_results(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_symbolicate_set_cache(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_DIRECTIVES_H_INCLUDED_ */
