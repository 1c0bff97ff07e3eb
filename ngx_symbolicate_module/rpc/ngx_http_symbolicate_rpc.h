
/*
 * ngx_http_symbolicate_rpc.h - calls to the loader with a single answer.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_RPC_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_RPC_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/message.h"

#include "conf/ngx_http_symbolicate_worker.h"


/* A call to the loader, which one message answers. */
typedef struct ngx_http_symbolicate_rpc_s  ngx_http_symbolicate_rpc_t;

struct ngx_http_symbolicate_rpc_s {
    ngx_rbtree_node_t              by_ticket;
    ngx_http_symbolicate_loader_t *loader;      /* NULL: no call is open */
    void                         (*on_reply)(ngx_http_symbolicate_rpc_t *rpc,
                                       sym_rpc_message_t *m);
    void                          *data;
    ngx_fd_t                      *fd;          /* descriptor of the answer,
                                                 * during on_reply(); -1: none.
                                                 * An owner that takes it must
                                                 * set -1 */
};


/*
 * Sends m with a new ticket.  rpc->on_reply() is called once, later: with the
 * answer, or with NULL if the connection has ended; in that case, it is unknown
 * whether the loader has done the work.  The caller must limit the wait.
 * NGX_ERROR: there is no loader, and on_reply() will not be called.
 */
ngx_int_t ngx_http_symbolicate_rpc_call(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_rpc_t *rpc, sym_rpc_message_t *m);

/* Same with a descriptor, which may be closed afterwards. */
ngx_int_t ngx_http_symbolicate_rpc_call_with(
    ngx_http_symbolicate_loader_t *loader, ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m, ngx_fd_t fd);

/* Drops the call: its answer is ignored.  May be called at any time. */
void ngx_http_symbolicate_rpc_cancel(ngx_http_symbolicate_rpc_t *rpc);

/* For ngx_http_symbolicate_loader_events_t. */
void ngx_http_symbolicate_rpc_reply(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m);
void ngx_http_symbolicate_rpc_disconnected(
    ngx_http_symbolicate_loader_t *loader);


#endif /* _NGX_HTTP_SYMBOLICATE_RPC_H_INCLUDED_ */
