
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
 * Callbacks of the connection.  connected: it is new, and the loader does not
 * know earlier requests; called again after WELCOME.  disconnected: it has
 * ended.  unavailable: no loader is expected soon, so requests must stop
 * waiting.  reply: the single answer to a call (DONE, STATS).  message: any
 * other message with a ticket.
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


/* The loader at a socket, as seen by this worker. */
struct ngx_http_symbolicate_loader_s {
    ngx_str_t                      path;        /* ends in NUL */
    ngx_http_symbolicate_loader_events_t  *events;

    ngx_connection_t              *connection;  /* NULL: none */
    ngx_queue_t                    out;         /* messages to send */
    ngx_uint_t                     nout;
    ngx_msec_t                     tried;       /* time of the last connect()
                                                 * that failed */
    ngx_msec_t                     backoff;     /* 0: connect() did not fail */
    ngx_msec_t                     until;       /* time until which it is
                                                 * expected to come back */
    unsigned                       welcome:1;   /* the loader accepted the
                                                 * connection */
    unsigned                       expected:1;  /* the loader was up a moment
                                                 * ago */
    unsigned                       refused:1;   /* the refusal was logged */
    ngx_event_t                    again;
    time_t                         logged;

    sym_hash_key_t                 hash_key;
    ngx_rbtree_t                   keys;        /* fetches by key */
    ngx_rbtree_node_t              keys_sentinel;
    ngx_rbtree_t                   tickets;     /* fetches by ticket */
    ngx_rbtree_node_t              tickets_sentinel;
    ngx_rbtree_t                   calls;       /* open calls by ticket */
    ngx_rbtree_node_t              calls_sentinel;
    ngx_rbtree_t                   buckets;     /* uploads to buckets by ticket,
                                                 * until DONE */
    ngx_rbtree_node_t              buckets_sentinel;
    uint32_t                       ticket;      /* last ticket used */
    ngx_fd_t                       fd;          /* descriptor of the message
                                                 * that is being handled; -1:
                                                 * none, or its owner has taken
                                                 * it */
    ngx_queue_t                    abandoned;   /* pending fetches without a
                                                 * waiting request, by time */
    ngx_event_t                    abandoned_timer;
    ngx_uint_t                     npending;
    ngx_uint_t                     nbusy;       /* number of pending fetches
                                                 * that a request waits for,
                                                 * and of open calls */
    ngx_event_t                    busy;        /* timer while there are any */
    ngx_http_symbolicate_notes_t  *notes;       /* NULL: none so far */
    ngx_http_symbolicate_webhook_t  *webhook;   /* NULL: none is configured */
    unsigned                       ready:1;     /* initialized in this
                                                 * process */
};


/* Maximum number of messages in the queue for the loader. */
#define NGX_SYMBOLICATE_OUT_MAX    65536


/* Creates the loaders of the configuration, after it has been read. */
ngx_int_t ngx_http_symbolicate_loaders_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_loader_events_t *events);

ngx_http_symbolicate_loader_t *ngx_http_symbolicate_loader_of(
    const ngx_http_symbolicate_loader_conf_t *conf);

/* Call this when the worker ends. */
void ngx_http_symbolicate_loaders_close(
    ngx_http_symbolicate_main_conf_t *smcf);

/* Connects, unless already connected; NGX_ERROR: not connected. */
ngx_int_t ngx_http_symbolicate_loader_connect(
    ngx_http_symbolicate_loader_t *loader);

/*
 * For the case without a connection: retries soon if the loader was up a moment
 * ago; NGX_DECLINED: it is not expected to come back.
 */
ngx_int_t ngx_http_symbolicate_loader_expect(
    ngx_http_symbolicate_loader_t *loader);

/* Call this when nbusy has changed: a worker does not end while it is not 0,
 * and an idle connection may be closed. */
void ngx_http_symbolicate_loader_idle(ngx_http_symbolicate_loader_t *loader);

/* Returns a ticket that no other open request has. */
uint32_t ngx_http_symbolicate_loader_ticket(
    ngx_http_symbolicate_loader_t *loader);
ngx_rbtree_node_t *ngx_http_symbolicate_loader_find(ngx_rbtree_t *tree,
    uint32_t ticket);

/* Sends m, with fd unless it is -1; the descriptor may be closed afterwards.
 * A message that cannot be sent ends the connection. */
void ngx_http_symbolicate_loader_send(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m, ngx_fd_t fd);


#endif /* _NGX_HTTP_SYMBOLICATE_LOADER_H_INCLUDED_ */
