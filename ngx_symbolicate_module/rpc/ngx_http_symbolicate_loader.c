
/*
 * ngx_http_symbolicate_loader.c - the connection to the loader.
 *
 * A worker has one connection for each socket, opened at its first use and
 * kept.  Messages are packets (docs/formats/loader-protocol.md), so no message
 * is ever half sent.  If there is no loader, requests fail at once, and the
 * worker tries to reconnect after growing pauses.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "rpc/ngx_http_symbolicate_loader.h"


#define NGX_SYMBOLICATE_BACKOFF_MIN  100
#define NGX_SYMBOLICATE_BACKOFF_MAX  5000

/* a restarted loader is ready by then */
#define NGX_SYMBOLICATE_PATIENCE     5000

/* number of messages handled in a row, before other events get their turn */
#define NGX_SYMBOLICATE_IN_BURST     64

#define NGX_SYMBOLICATE_LOADER_LOG_S  60

/* a timer keeps a worker from ending, whatever its time is */
#define NGX_SYMBOLICATE_LOADER_BUSY   60000


typedef struct {
    ngx_queue_t                    queue;
    size_t                         len;
    ngx_fd_t                       fd;
    uint8_t                        data[1];
} ngx_http_symbolicate_packet_t;


typedef union {
    struct cmsghdr                 cm;
    char                           space[CMSG_SPACE(sizeof(int))];
} ngx_http_symbolicate_control_t;


static void ngx_http_symbolicate_loader_close(
    ngx_http_symbolicate_loader_t *loader);
static void ngx_http_symbolicate_loader_read(ngx_event_t *ev);
static void ngx_http_symbolicate_loader_write(ngx_event_t *ev);
static void ngx_http_symbolicate_loader_lost(
    ngx_http_symbolicate_loader_t *loader, const char *what, ngx_err_t err);
static void ngx_http_symbolicate_loader_again(ngx_event_t *ev);
static void ngx_http_symbolicate_loader_busy(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_loader_open(
    ngx_http_symbolicate_loader_t *loader);
static void ngx_http_symbolicate_loader_put(
    ngx_http_symbolicate_loader_t *loader, sym_rpc_message_t *m, ngx_fd_t fd);
static void ngx_http_symbolicate_loader_sent(
    ngx_http_symbolicate_loader_t *loader, ngx_int_t rc);


ngx_int_t
ngx_http_symbolicate_loaders_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_loader_events_t *events)
{
    ngx_uint_t                            i;
    ngx_http_symbolicate_loader_t        *loaders;
    ngx_http_symbolicate_loader_conf_t  **conf;

    loaders = ngx_pcalloc(cf->pool, smcf->loaders.nelts
                                    * sizeof(ngx_http_symbolicate_loader_t));
    if (loaders == NULL) {
        return NGX_ERROR;
    }

    conf = smcf->loaders.elts;

    for (i = 0; i < smcf->loaders.nelts; i++) {
        loaders[i].path = conf[i]->path;
        loaders[i].events = events;
    }

    smcf->worker->loaders = loaders;

    return NGX_OK;
}


ngx_http_symbolicate_loader_t *
ngx_http_symbolicate_loader_of(const ngx_http_symbolicate_loader_conf_t *conf)
{
    return &conf->main->worker->loaders[conf->number];
}


/*
 * Closes a connection to a loader that came back while the worker was shutting
 * down; otherwise nginx reports it as a leak.
 */
void
ngx_http_symbolicate_loaders_close(ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                      i;
    ngx_http_symbolicate_loader_t  *loaders;

    loaders = smcf->worker->loaders;

    for (i = 0; i < smcf->loaders.nelts; i++) {
        if (loaders[i].connection) {
            ngx_http_symbolicate_loader_close(&loaders[i]);
        }
    }
}


static void
ngx_http_symbolicate_loader_init(ngx_http_symbolicate_loader_t *loader)
{
    ngx_queue_init(&loader->out);

    loader->hash_key = sym_hash_key();

    ngx_rbtree_init(&loader->keys, &loader->keys_sentinel,
                    ngx_rbtree_insert_value);
    ngx_rbtree_init(&loader->tickets, &loader->tickets_sentinel,
                    ngx_rbtree_insert_value);
    ngx_rbtree_init(&loader->calls, &loader->calls_sentinel,
                    ngx_rbtree_insert_value);
    ngx_rbtree_init(&loader->buckets, &loader->buckets_sentinel,
                    ngx_rbtree_insert_value);

    ngx_queue_init(&loader->abandoned);

    loader->again.handler = ngx_http_symbolicate_loader_again;
    loader->again.data = loader;
    loader->again.log = ngx_cycle->log;

    loader->busy.handler = ngx_http_symbolicate_loader_busy;
    loader->busy.data = loader;
    loader->busy.log = ngx_cycle->log;

    loader->ready = 1;
}


/* Returns a connected socket; -1: no loader is listening. */
static ngx_socket_t
ngx_http_symbolicate_loader_socket(ngx_http_symbolicate_loader_t *loader)
{
    int                 on;
    ngx_socket_t        s;
    struct sockaddr_un  addr;

    ngx_memzero(&addr, sizeof(struct sockaddr_un));

    addr.sun_family = AF_UNIX;
    ngx_cpystrn((u_char *) addr.sun_path, loader->path.data,
                sizeof(addr.sun_path));

    s = ngx_socket(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC|SOCK_NONBLOCK, 0);
    if (s == (ngx_socket_t) -1) {
        return s;
    }

    /*
     * room for many requests at once; any size that the system grants is enough
     */

    on = 1024 * 1024;
    (void) setsockopt(s, SOL_SOCKET, SO_SNDBUF, &on, sizeof(int));

    /* the socket is local, so it is connected or refused at once */

    if (connect(s, (struct sockaddr *) &addr, sizeof(struct sockaddr_un))
        == -1)
    {
        on = ngx_socket_errno;
        (void) ngx_close_socket(s);
        ngx_set_socket_errno(on);

        return (ngx_socket_t) -1;
    }

    return s;
}


ngx_int_t
ngx_http_symbolicate_loader_connect(ngx_http_symbolicate_loader_t *loader)
{
    if (!loader->ready) {
        ngx_http_symbolicate_loader_init(loader);
    }

    if (loader->connection) {
        return NGX_OK;
    }

    if (loader->backoff
        && ngx_current_msec - loader->tried < loader->backoff)
    {
        return NGX_ERROR;
    }

    if (ngx_http_symbolicate_loader_open(loader) != NGX_OK) {
        return NGX_ERROR;
    }

    loader->events->connected(loader);

    return loader->connection ? NGX_OK : NGX_ERROR;
}


/*
 * Connects and sends HELLO.  All other messages wait for WELCOME, which shows
 * what the loader supports.  A loader of the previous version closes the
 * connection; it then gets another HELLO in its own version.
 */
static ngx_int_t
ngx_http_symbolicate_loader_open(ngx_http_symbolicate_loader_t *loader)
{
    ngx_socket_t        s;
    ngx_connection_t   *c;
    sym_rpc_message_t   hello;

    s = ngx_http_symbolicate_loader_socket(loader);

    if (s == (ngx_socket_t) -1) {
        ngx_http_symbolicate_loader_lost(loader, "connect() failed",
                                         ngx_socket_errno);
        return NGX_ERROR;
    }

    c = ngx_get_connection(s, ngx_cycle->log);
    if (c == NULL) {
        (void) ngx_close_socket(s);
        ngx_http_symbolicate_loader_lost(loader, "no connection for it", 0);
        return NGX_ERROR;
    }

    c->data = loader;
    c->log = ngx_cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_http_symbolicate_loader_read;
    c->write->handler = ngx_http_symbolicate_loader_write;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);
    c->write->ready = 1;

    loader->connection = c;
    ngx_http_symbolicate_count_loader(1);

    c->idle = loader->nbusy == 0;

    if (ngx_handle_read_event(c->read, 0) != NGX_OK) {
        ngx_http_symbolicate_loader_lost(loader, "no event for its socket", 0);
        return NGX_ERROR;
    }

    ngx_memzero(&hello, sizeof(sym_rpc_message_t));

    hello.type = SYM_RPC_HELLO;
    hello.version = SYM_RPC_VERSION;

    ngx_http_symbolicate_loader_put(loader, &hello, -1);

    return NGX_OK;
}


void
ngx_http_symbolicate_loader_idle(ngx_http_symbolicate_loader_t *loader)
{
    ngx_connection_t  *c;

    /* notes may wait before there was any connection */

    if (!loader->ready) {
        ngx_http_symbolicate_loader_init(loader);
    }

    if (loader->nbusy && !loader->busy.timer_set) {
        ngx_add_timer(&loader->busy, NGX_SYMBOLICATE_LOADER_BUSY);

    } else if (loader->nbusy == 0 && loader->busy.timer_set) {
        ngx_del_timer(&loader->busy);
    }

    c = loader->connection;

    if (c == NULL) {
        return;
    }

    /* nginx closes idle connections only when it begins to shut down */

    c->idle = loader->nbusy == 0;

    if (c->idle && ngx_exiting) {
        c->close = 1;
        ngx_post_event(c->read, &ngx_posted_events);
    }
}


/*
 * A worker that is shutting down exits when no timer is left.  Requests that
 * wait for the loader have none, and uploads into buckets have one only while a
 * request of theirs is sent.
 */
static void
ngx_http_symbolicate_loader_busy(ngx_event_t *ev)
{
    ngx_add_timer(ev, NGX_SYMBOLICATE_LOADER_BUSY);
}


/* All tickets in a tree are different. */
ngx_rbtree_node_t *
ngx_http_symbolicate_loader_find(ngx_rbtree_t *tree, uint32_t ticket)
{
    ngx_rbtree_node_t  *node;

    node = tree->root;

    while (node != tree->sentinel) {

        if (ticket == node->key) {
            return node;
        }

        node = ticket < node->key ? node->left : node->right;
    }

    return NULL;
}


/* Tickets wrap around, so those in use are skipped. */
uint32_t
ngx_http_symbolicate_loader_ticket(ngx_http_symbolicate_loader_t *loader)
{
    do {
        loader->ticket++;

    } while (ngx_http_symbolicate_loader_find(&loader->tickets,
                                              loader->ticket)
             || ngx_http_symbolicate_loader_find(&loader->calls,
                                                 loader->ticket)
             || ngx_http_symbolicate_loader_find(&loader->buckets,
                                                 loader->ticket));

    return loader->ticket;
}


static void
ngx_http_symbolicate_loader_close(ngx_http_symbolicate_loader_t *loader)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_packet_t  *packet;

    if (loader->connection) {
        ngx_http_symbolicate_count_loader(0);
        ngx_close_connection(loader->connection);
        loader->connection = NULL;
    }

    while (!ngx_queue_empty(&loader->out)) {
        q = ngx_queue_head(&loader->out);
        ngx_queue_remove(q);

        packet = ngx_queue_data(q, ngx_http_symbolicate_packet_t, queue);

        if (packet->fd != -1) {
            (void) ngx_close_file(packet->fd);
        }

        ngx_free(packet);
    }

    loader->nout = 0;
}


/*
 * Handles a connection that failed or was lost.  If the loader was up, the
 * worker retries for some seconds before it fails waiting and new requests.  If
 * the loader was never up, there are no retries.
 */
static void
ngx_http_symbolicate_loader_lost(ngx_http_symbolicate_loader_t *loader,
    const char *what, ngx_err_t err)
{
    ngx_http_symbolicate_loader_close(loader);

    if (ngx_time() - loader->logged >= NGX_SYMBOLICATE_LOADER_LOG_S
        || loader->backoff == 0)
    {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, err,
                      "symbol loader \"unix:%V\": %s", &loader->path, what);
        loader->logged = ngx_time();
    }

    if (loader->welcome) {
        loader->welcome = 0;
        loader->expected = 1;
        loader->until = ngx_current_msec + NGX_SYMBOLICATE_PATIENCE;
    }

    loader->tried = ngx_current_msec;
    loader->backoff = loader->backoff ? loader->backoff * 2
                                      : NGX_SYMBOLICATE_BACKOFF_MIN;
    loader->backoff = ngx_min(loader->backoff, NGX_SYMBOLICATE_BACKOFF_MAX);

    loader->events->disconnected(loader);

    if (loader->npending == 0) {
        return;
    }

    if (ngx_http_symbolicate_loader_expect(loader) != NGX_OK) {
        loader->events->unavailable(loader,
                                    "the symbol loader is not running");
    }
}


ngx_int_t
ngx_http_symbolicate_loader_expect(ngx_http_symbolicate_loader_t *loader)
{
    ngx_msec_int_t  left, pause;

    if (loader->again.timer_set) {
        return NGX_OK;
    }

    left = (ngx_msec_int_t) (loader->until - ngx_current_msec);

    if (!loader->expected || left <= 0) {
        loader->expected = 0;
        return NGX_DECLINED;
    }

    pause = (ngx_msec_int_t) (loader->tried + loader->backoff
                              - ngx_current_msec);
    pause = ngx_min(pause, left);

    ngx_add_timer(&loader->again, ngx_max(pause, 1));

    return NGX_OK;
}


/* The worker ends: no request waits any more. */
static void
ngx_http_symbolicate_loader_leave(ngx_http_symbolicate_loader_t *loader)
{
    loader->events->disconnected(loader);
    loader->events->unavailable(loader, "the worker is ending");
}


static void
ngx_http_symbolicate_loader_again(ngx_event_t *ev)
{
    ngx_http_symbolicate_loader_t *loader = ev->data;

    /* an exiting worker reconnects only for waiting requests */

    if (ngx_exiting && loader->nbusy == 0) {
        ngx_http_symbolicate_loader_leave(loader);
        return;
    }

    /* the backoff has expired: reconnect */

    loader->tried = ngx_current_msec - loader->backoff;

    (void) ngx_http_symbolicate_loader_connect(loader);
}


/* Sends a message.  NGX_AGAIN: the socket accepts nothing more now. */
static ngx_int_t
ngx_http_symbolicate_loader_packet(ngx_http_symbolicate_loader_t *loader,
    uint8_t *data, size_t len, ngx_fd_t fd)
{
    int                             err;
    ssize_t                         n;
    struct iovec                    iov;
    struct msghdr                   msg;
    ngx_http_symbolicate_control_t  control;

    ngx_memzero(&msg, sizeof(struct msghdr));
    ngx_memzero(&control, sizeof(ngx_http_symbolicate_control_t));

    iov.iov_base = data;
    iov.iov_len = len;
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;

    if (fd != -1) {
        control.cm.cmsg_len = CMSG_LEN(sizeof(int));
        control.cm.cmsg_level = SOL_SOCKET;
        control.cm.cmsg_type = SCM_RIGHTS;
        ngx_memcpy(CMSG_DATA(&control.cm), &fd, sizeof(int));

        msg.msg_control = (caddr_t) &control;
        msg.msg_controllen = sizeof(ngx_http_symbolicate_control_t);
    }

    do {
        n = sendmsg(loader->connection->fd, &msg, MSG_NOSIGNAL);
        err = ngx_socket_errno;
    } while (n == -1 && err == NGX_EINTR);

    if (n != -1) {
        return NGX_OK;
    }

    /* ETOOMANYREFS: the loader has not yet received earlier descriptors */

    if (err == NGX_EAGAIN || err == ENOBUFS || err == ETOOMANYREFS) {
        loader->connection->write->ready = 0;
        return NGX_AGAIN;
    }

    ngx_set_socket_errno(err);

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_loader_keep(ngx_http_symbolicate_loader_t *loader,
    uint8_t *data, size_t len, ngx_fd_t fd)
{
    ngx_http_symbolicate_packet_t  *packet;

    if (loader->nout == NGX_SYMBOLICATE_OUT_MAX) {
        return NGX_ERROR;
    }

    packet = ngx_alloc(offsetof(ngx_http_symbolicate_packet_t, data) + len,
                       ngx_cycle->log);
    if (packet == NULL) {
        return NGX_ERROR;
    }

    packet->len = len;
    packet->fd = -1;

    if (fd != -1) {
        packet->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);

        if (packet->fd == -1) {
            ngx_free(packet);
            return NGX_ERROR;
        }
    }

    ngx_memcpy(packet->data, data, len);

    ngx_queue_insert_tail(&loader->out, &packet->queue);
    loader->nout++;

    return loader->welcome
           ? ngx_handle_write_event(loader->connection->write, 0) : NGX_OK;
}


void
ngx_http_symbolicate_loader_send(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m, ngx_fd_t fd)
{
    size_t   len;
    uint8_t  data[SYM_RPC_MAX];

    if (loader->connection == NULL) {
        return;
    }

    if (loader->welcome && loader->nout == 0) {
        ngx_http_symbolicate_loader_put(loader, m, fd);
        return;
    }

    len = sym_rpc_write(m, data);

    ngx_http_symbolicate_loader_sent(loader,
        ngx_http_symbolicate_loader_keep(loader, data, len, fd));
}


/* Sends a message at once, before queued ones. */
static void
ngx_http_symbolicate_loader_put(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m, ngx_fd_t fd)
{
    size_t     len;
    uint8_t    data[SYM_RPC_MAX];
    ngx_int_t  rc;

    len = sym_rpc_write(m, data);

    rc = ngx_http_symbolicate_loader_packet(loader, data, len, fd);

    if (rc == NGX_AGAIN) {
        rc = ngx_http_symbolicate_loader_keep(loader, data, len, fd);
    }

    ngx_http_symbolicate_loader_sent(loader, rc);
}


static void
ngx_http_symbolicate_loader_sent(ngx_http_symbolicate_loader_t *loader,
    ngx_int_t rc)
{
    if (rc != NGX_OK) {

            /*
             * the caller does not expect the end here, so an event reports it
             */

        loader->connection->read->eof = 1;
        ngx_post_event(loader->connection->read, &ngx_posted_events);
    }
}


static void
ngx_http_symbolicate_loader_write(ngx_event_t *ev)
{
    ngx_int_t                       rc;
    ngx_queue_t                    *q;
    ngx_connection_t               *c;
    ngx_http_symbolicate_packet_t  *packet;
    ngx_http_symbolicate_loader_t  *loader;

    c = ev->data;
    loader = c->data;

    while (!ngx_queue_empty(&loader->out)) {
        q = ngx_queue_head(&loader->out);
        packet = ngx_queue_data(q, ngx_http_symbolicate_packet_t, queue);

        rc = ngx_http_symbolicate_loader_packet(loader, packet->data,
                                                packet->len, packet->fd);
        if (rc == NGX_AGAIN) {
            break;
        }

        if (rc != NGX_OK) {
            ngx_http_symbolicate_loader_lost(loader, "sendmsg() failed",
                                             ngx_socket_errno);
            return;
        }

        ngx_queue_remove(q);
        loader->nout--;

        if (packet->fd != -1) {
            (void) ngx_close_file(packet->fd);
        }

        ngx_free(packet);
    }

    if (ngx_handle_write_event(ev, 0) != NGX_OK) {
        ngx_http_symbolicate_loader_lost(loader, "no event for its socket", 0);
    }
}


static void
ngx_http_symbolicate_loader_welcome(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    if (loader->backoff) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "symbol loader \"unix:%V\" is there", &loader->path);
    }

    loader->welcome = 1;
    loader->refused = 0;
    loader->backoff = 0;
    loader->expected = 0;

    ngx_http_symbolicate_loader_write(loader->connection->write);
    loader->events->connected(loader);
}


static void
ngx_http_symbolicate_loader_close_fd(ngx_http_symbolicate_loader_t *loader)
{
    if (loader->fd != -1) {
        (void) ngx_close_file(loader->fd);
        loader->fd = -1;
    }
}


/* Returns the descriptor of a message, or -1.  The loader sends at most one. */
static ngx_fd_t
ngx_http_symbolicate_loader_fd(struct msghdr *msg)
{
    ngx_fd_t         fd;
    struct cmsghdr  *cm;

    cm = CMSG_FIRSTHDR(msg);

    if (cm == NULL || cm->cmsg_level != SOL_SOCKET
        || cm->cmsg_type != SCM_RIGHTS
        || cm->cmsg_len != CMSG_LEN(sizeof(int)))
    {
        return -1;
    }

    ngx_memcpy(&fd, CMSG_DATA(cm), sizeof(int));

    return fd;
}


/*
 * Handles a message.  NGX_OK: one was handled; NGX_AGAIN: no message;
 * NGX_ERROR: the connection has ended.
 */
static ngx_int_t
ngx_http_symbolicate_loader_receive(ngx_http_symbolicate_loader_t *loader)
{
    ssize_t            n;
    uint8_t            data[SYM_RPC_MAX];
    sym_error_t        err;
    struct iovec       iov;
    struct msghdr      msg;
    sym_rpc_message_t  m;

    union {
        struct cmsghdr  cm;
        char            space[CMSG_SPACE(sizeof(int))];
    } control;

    iov.iov_base = data;
    iov.iov_len = SYM_RPC_MAX;

    ngx_memzero(&msg, sizeof(struct msghdr));
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control.space;
    msg.msg_controllen = sizeof(control);

    do {
        n = recvmsg(loader->connection->fd, &msg, MSG_CMSG_CLOEXEC);
    } while (n == -1 && ngx_socket_errno == NGX_EINTR);

    if (n == -1 && ngx_socket_errno == NGX_EAGAIN) {
        return NGX_AGAIN;
    }

    if (n <= 0) {
        ngx_http_symbolicate_loader_lost(loader, "it went away",
                                         n == 0 ? 0 : ngx_socket_errno);
        return NGX_ERROR;
    }

    loader->fd = ngx_http_symbolicate_loader_fd(&msg);

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_rpc_read(data, n, &m, &err) != SYM_OK) {
        ngx_http_symbolicate_loader_close_fd(loader);
        ngx_http_symbolicate_loader_lost(loader, "it sent what is no message",
                                         0);
        return NGX_ERROR;
    }

    switch (m.type) {

    case SYM_RPC_WELCOME:
        ngx_http_symbolicate_loader_welcome(loader, &m);
        break;

    case SYM_RPC_REFUSED:

        if (!loader->refused) {
            ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                          "symbol loader \"unix:%V\" refuses: %*s",
                          &loader->path, m.text.len, m.text.data);
            loader->refused = 1;
        }

        return NGX_OK;

    case SYM_RPC_DONE:
    case SYM_RPC_STATS:
        loader->events->reply(loader, &m);
        break;

    default:
        loader->events->message(loader, &m);
    }

    ngx_http_symbolicate_loader_close_fd(loader);

    return loader->connection ? NGX_OK : NGX_ERROR;
}


static void
ngx_http_symbolicate_loader_read(ngx_event_t *ev)
{
    ngx_int_t                       rc;
    ngx_uint_t                      n;
    ngx_connection_t               *c;
    ngx_http_symbolicate_loader_t  *loader;

    c = ev->data;
    loader = c->data;

    /*
     * an idle connection is closed when the worker ends, unless a request came
     * in the meantime; worker_shutdown_timeout also closes others
     */

    if (c->close && loader->nbusy && !c->error) {
        c->close = 0;
    }

    if (c->close) {
        ngx_http_symbolicate_loader_close(loader);
        loader->welcome = 0;
        ngx_http_symbolicate_loader_leave(loader);
        return;
    }

    if (ev->eof) {
        ngx_http_symbolicate_loader_lost(loader, "it takes no more messages",
                                         0);
        return;
    }

    for (n = 0; n < NGX_SYMBOLICATE_IN_BURST; n++) {
        rc = ngx_http_symbolicate_loader_receive(loader);

        if (rc == NGX_ERROR) {
            return;
        }

        if (rc == NGX_AGAIN) {
            ev->ready = 0;
            break;
        }
    }

    if (n == NGX_SYMBOLICATE_IN_BURST) {
        ngx_post_event(ev, &ngx_posted_next_events);
        return;
    }

    if (ngx_handle_read_event(ev, 0) != NGX_OK) {
        ngx_http_symbolicate_loader_lost(loader, "no event for its socket", 0);
    }
}
