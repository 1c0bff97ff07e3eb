
/*
 * ngx_http_symbolicate_warm.h - fills the store of a new node with what its
 * fleet uses most, before the node says that it is ready.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_WARM_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_WARM_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


/*
 * Makes this worker a member of its fleets, if it is the one that does such
 * work for its node: it fills the stores, unless that was done before the
 * worker started, and adds what the node uses to the lists.  NGX_ERROR: no
 * memory.
 */
ngx_int_t ngx_http_symbolicate_warm_process(
    ngx_http_symbolicate_main_conf_t *smcf);


#endif /* _NGX_HTTP_SYMBOLICATE_WARM_H_INCLUDED_ */
