
/*
 * ngx_http_symbolicate_loader.h - the connection of a worker to a loader.
 *
 * There is one for each configured socket.  A message is sent or queued as a
 * unit.  When a connection ends, queued messages are dropped, and a separate
 * event notifies all waiters.
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
 * Callbacks of the connection.  connected: it is new, and the loader knows no
 * earlier request; called again after WELCOME.  disconnected: it has ended.
 * unavailable: no loader is expected soon, so requests must stop waiting.
 * reply: the only answer to a call (DONE, STATS).  message: any other with a
 * ticket.
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
    ngx_queue_t                    out;         /* messages to send */
    ngx_uint_t                     nout;
    ngx_msec_t                     tried;       /* last connect() that failed */
    ngx_msec_t                     backoff;     /* 0: it did not fail */
    ngx_msec_t                     until;       /* how long it is expected to
                                                 * come back */
    unsigned                       welcome:1;   /* it was accepted */
    unsigned                       expected:1;  /* it was up a moment ago */
    unsigned                       refused:1;   /* the refusal was logged */
    ngx_event_t                    again;
    time_t                         logged;

    sym_hash_key_t                 hash_key;
    ngx_rbtree_t                   keys;        /* fetches by their key */
    ngx_rbtree_node_t              keys_sentinel;
    ngx_rbtree_t                   tickets;     /* and by their ticket */
    ngx_rbtree_node_t              tickets_sentinel;
    ngx_rbtree_t                   calls;       /* open calls by theirs */
    ngx_rbtree_node_t              calls_sentinel;
    uint32_t                       ticket;      /* the last one used */
    ngx_fd_t                       fd;          /* of the message that is being
                                                 * handled; -1: none, or its
                                                 * owner has taken it */
    ngx_queue_t                    abandoned;   /* pending fetches without a
                                                 * waiting request, by time */
    ngx_event_t                    abandoned_timer;
    ngx_uint_t                     npending;
    ngx_uint_t                     nbusy;       /* of these, those that a
                                                 * request waits for */
    ngx_http_symbolicate_notes_t  *notes;       /* NULL: none so far */
    ngx_http_symbolicate_webhook_t  *webhook;   /* NULL: none is configured */
    unsigned                       ready:1;     /* set up in this process */
};


/* Most messages in the queue for the loader. */
#define NGX_SYMBOLICATE_OUT_MAX    65536


/* Makes the loaders of the configuration, once it is read. */
ngx_int_t ngx_http_symbolicate_loaders_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_loader_events_t *events);

ngx_http_symbolicate_loader_t *ngx_http_symbolicate_loader_of(
    const ngx_http_symbolicate_loader_conf_t *conf);

/* The worker ends. */
void ngx_http_symbolicate_loaders_close(
    ngx_http_symbolicate_main_conf_t *smcf);

/* Connects unless connected; NGX_ERROR: no connection now. */
ngx_int_t ngx_http_symbolicate_loader_connect(
    ngx_http_symbolicate_loader_t *loader);

/* Without a connection: retries soon, if the loader was up a moment ago;
 * NGX_DECLINED: it is not expected. */
ngx_int_t ngx_http_symbolicate_loader_expect(
    ngx_http_symbolicate_loader_t *loader);

/* To be called when nbusy has changed: an idle connection may be closed. */
void ngx_http_symbolicate_loader_idle(ngx_http_symbolicate_loader_t *loader);

/* A ticket that no other open request has. */
uint32_t ngx_http_symbolicate_loader_ticket(
    ngx_http_symbolicate_loader_t *loader);
ngx_rbtree_node_t *ngx_http_symbolicate_loader_find(ngx_rbtree_t *tree,
    uint32_t ticket);

/* Sends m, with fd unless it is -1; the descriptor may be closed afterwards.
 * A message that cannot be sent ends the connection. */
void ngx_http_symbolicate_loader_send(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m, ngx_fd_t fd);


#endif /* _NGX_HTTP_SYMBOLICATE_LOADER_H_INCLUDED_ */
