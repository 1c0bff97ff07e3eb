
/*
 * ngx_http_symbolicate_rpc.c - calls to the loader, and their answers.
 *
 * These calls have one answer and concern no fetch: INVALIDATE, STAT.  A call
 * does not outlive its connection.  Unlike a pending fetch, it is not repeated
 * automatically: its owner decides.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_worker.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_rpc.h"


ngx_int_t
ngx_http_symbolicate_rpc_call(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_rpc_t *rpc, sym_rpc_message_t *m)
{
    return ngx_http_symbolicate_rpc_call_with(loader, rpc, m, -1);
}


ngx_int_t
ngx_http_symbolicate_rpc_call_with(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_rpc_t *rpc, sym_rpc_message_t *m, ngx_fd_t fd)
{
    if (ngx_http_symbolicate_loader_connect(loader) != NGX_OK) {
        return NGX_ERROR;
    }

    rpc->loader = loader;
    rpc->by_ticket.key = ngx_http_symbolicate_loader_ticket(loader);

    ngx_rbtree_insert(&loader->calls, &rpc->by_ticket);

    loader->nbusy++;
    ngx_http_symbolicate_loader_idle(loader);

    m->ticket = (uint32_t) rpc->by_ticket.key;
    ngx_http_symbolicate_loader_send(loader, m, fd);

    return NGX_OK;
}


void
ngx_http_symbolicate_rpc_cancel(ngx_http_symbolicate_rpc_t *rpc)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = rpc->loader;

    if (loader == NULL) {
        return;
    }

    rpc->loader = NULL;
    ngx_rbtree_delete(&loader->calls, &rpc->by_ticket);

    loader->nbusy--;
    ngx_http_symbolicate_loader_idle(loader);
}


static ngx_http_symbolicate_rpc_t *
ngx_http_symbolicate_rpc_of(ngx_rbtree_node_t *node)
{
    return (ngx_http_symbolicate_rpc_t *)
           ((u_char *) node - offsetof(ngx_http_symbolicate_rpc_t, by_ticket));
}


void
ngx_http_symbolicate_rpc_reply(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_rbtree_node_t           *node;
    ngx_http_symbolicate_rpc_t  *rpc;

    node = ngx_http_symbolicate_loader_find(&loader->calls, m->ticket);

    if (node == NULL) {
        return;                 /* the owner has ended the call */
    }

    rpc = ngx_http_symbolicate_rpc_of(node);

    ngx_http_symbolicate_rpc_cancel(rpc);

    rpc->fd = &loader->fd;
    rpc->on_reply(rpc, m);
}


void
ngx_http_symbolicate_rpc_disconnected(ngx_http_symbolicate_loader_t *loader)
{
    ngx_http_symbolicate_rpc_t  *rpc;

        /* a callback may cancel other calls */

    while (loader->calls.root != loader->calls.sentinel) {
        rpc = ngx_http_symbolicate_rpc_of(loader->calls.root);

        ngx_http_symbolicate_rpc_cancel(rpc);
        rpc->on_reply(rpc, NULL);
    }
}
