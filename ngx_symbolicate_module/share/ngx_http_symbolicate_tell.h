
/*
 * ngx_http_symbolicate_tell.h - notifies the other nodes of a fleet of changed
 * files.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_TELL_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_TELL_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"


/* A request that all nodes get; the texts are copied. */
typedef struct {
    ngx_uint_t                     method;      /* POST or DELETE */
    ngx_str_t                      path;        /* below the location of the
                                                 * nodes, not encoded */
    ngx_str_t                      args;
    sym_str_t                      body;        /* JSON; or empty */
} ngx_http_symbolicate_news_t;


/*
 * Sends the request to all nodes of the policy, in the background.  A node that
 * does not answer is asked again for some minutes.  NGX_BUSY: too many requests
 * wait already.
 */
ngx_int_t ngx_http_symbolicate_tell(
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_news_t *news);

/*
 * A file of a source was replaced by an upload to this node: removes its
 * artifacts from the bucket, then notifies all nodes.  Failures are logged.
 */
void ngx_http_symbolicate_tell_replaced(
    ngx_http_symbolicate_fetch_policy_t *policy, sym_str_t source,
    sym_str_t path);

/* Call this when a worker exits: logs the nodes that were not notified. */
void ngx_http_symbolicate_tell_exit(void);

/* For $symbolicate_node: the address of the node that gets r; NULL: r is no
 * such request. */
ngx_str_t *ngx_http_symbolicate_tell_node(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_TELL_H_INCLUDED_ */
