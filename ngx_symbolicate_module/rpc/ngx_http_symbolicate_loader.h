
/*
 * ngx_http_symbolicate_loader.h - the connection of a worker to a loader.
 *
 * There is one for each configured socket.  A message is sent or queued whole.
 * When a connection ends, queued messages are dropped, and an event of its own
 * tells all that wait.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_LOADER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_LOADER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/hash.h"

#include "protocol/message.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"


/*
 * What the connection calls its users for.  connected: it is new, and its other
 * end knows no earlier question; once more after WELCOME.  disconnected: it has
 * ended.  unavailable: no loader is expected soon, so requests must not wait
 * longer.  reply: the only answer to a call (DONE, STATS).  message: any other
 * with a ticket.
 */
typedef struct {
    void                         (*connected)(
                                       ngx_http_symbolicate_loader_t *loader);
    void                         (*disconnected)(
                                       ngx_http_symbolicate_loader_t *loader);
    void                         (*unavailable)(
                                       ngx_http_symbolicate_loader_t *loader,
                                       const char *reason);
    void                         (*reply)(
                                       ngx_http_symbolicate_loader_t *loader,
                                       sym_rpc_message_t *m);
    void                         (*message)(
                                       ngx_http_symbolicate_loader_t *loader,
                                       sym_rpc_message_t *m);
} ngx_http_symbolicate_loader_events_t;


typedef struct ngx_http_symbolicate_notes_s  ngx_http_symbolicate_notes_t;
typedef struct ngx_http_symbolicate_webhook_s  ngx_http_symbolicate_webhook_t;


/* The loader of a socket, as this worker sees it. */
struct ngx_http_symbolicate_loader_s {
    ngx_str_t                      path;        /* ends in NUL */
    ngx_http_symbolicate_loader_events_t  *events;

    ngx_connection_t              *connection;  /* NULL: none */
    ngx_queue_t                    out;         /* messages to be sent */
    ngx_uint_t                     nout;
    ngx_msec_t                     tried;       /* last connect() that failed */
    ngx_msec_t                     backoff;     /* 0: it did not fail */
    ngx_msec_t                     until;       /* so long it is expected to
                                                 * come back */
    unsigned                       welcome:1;   /* the connection is taken */
    unsigned                       expected:1;  /* it was there a moment ago */
    unsigned                       refused:1;   /* it was told in the log */
    ngx_event_t                    again;
    time_t                         logged;

    sym_hash_key_t                 hash_key;
    ngx_rbtree_t                   keys;        /* pending ones by their key */
    ngx_rbtree_node_t              keys_sentinel;
    ngx_rbtree_t                   tickets;     /* and by their ticket */
    ngx_rbtree_node_t              tickets_sentinel;
    ngx_rbtree_t                   calls;       /* open calls by theirs */
    ngx_rbtree_node_t              calls_sentinel;
    uint32_t                       ticket;      /* the last one given */
    ngx_queue_t                    abandoned;   /* those that nobody waits for,
                                                 * by time */
    ngx_event_t                    abandoned_timer;
    ngx_uint_t                     npending;
    ngx_uint_t                     nbusy;       /* of these, those that a
                                                 * request waits for */
    ngx_http_symbolicate_notes_t  *notes;       /* NULL: there were none */
    ngx_http_symbolicate_webhook_t  *webhook;   /* NULL: none is configured */
    unsigned                       ready:1;     /* set up in this process */
};


/* Messages that wait for the loader to take them. */
#define NGX_SYMBOLICATE_OUT_MAX    65536


/* Makes those of the configuration, once it is read. */
ngx_int_t ngx_http_symbolicate_loaders_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_loader_events_t *events);

ngx_http_symbolicate_loader_t *ngx_http_symbolicate_loader_of(
    const ngx_http_symbolicate_loader_conf_t *conf);

/* The worker ends. */
void ngx_http_symbolicate_loaders_close(
    ngx_http_symbolicate_main_conf_t *smcf);

/* Connects unless connected; NGX_ERROR: there is no connection now. */
ngx_int_t ngx_http_symbolicate_loader_connect(
    ngx_http_symbolicate_loader_t *loader);

/* No connection: tries again soon, if the loader was there a moment ago;
 * NGX_DECLINED: it is not expected. */
ngx_int_t ngx_http_symbolicate_loader_expect(
    ngx_http_symbolicate_loader_t *loader);

/* Told when nbusy has changed: an idle connection may be closed. */
void ngx_http_symbolicate_loader_idle(ngx_http_symbolicate_loader_t *loader);

/* A number for a question, that no other open one has. */
uint32_t ngx_http_symbolicate_loader_ticket(
    ngx_http_symbolicate_loader_t *loader);
ngx_rbtree_node_t *ngx_http_symbolicate_loader_find(ngx_rbtree_t *tree,
    uint32_t ticket);

/* Sends m, with fd unless it is -1; the descriptor may be closed afterwards.
 * A message that cannot be sent ends the connection. */
void ngx_http_symbolicate_loader_send(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m, ngx_fd_t fd);


#endif /* _NGX_HTTP_SYMBOLICATE_LOADER_H_INCLUDED_ */
