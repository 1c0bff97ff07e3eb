
/*
 * ngx_http_symbolicate_fetch.h - how missing modules are had.
 *
 * want.c     modules that requests of this worker wait for, each once
 * lane.c     which of them is fetched next
 * loader.c   the connection to the loader: who fetches, and what came of it
 * ask.c      other questions to the loader
 * fetch.c    one download: the sources in turn, the body in a file
 *
 * A request asks want.c, which asks the loader.  The loader elects one worker
 * of all to fetch; want.c then starts a fetch, and its outcome goes to the
 * loader.
 * What the loader says in the end is told to all requests that wait.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/hash.h"
#include "protocol/message.h"
#include "sources/layout.h"


/* A client that was told to ask again has so long to do so. */
#define NGX_SYMBOLICATE_ORPHAN_GRACE  10000


/* Most redirects that are followed for one file. */
#define NGX_SYMBOLICATE_HOPS  3

/* Longest address that one leads to. */
#define NGX_SYMBOLICATE_LOCATION_MAX  2048

/* Longest statuses list of "absent=". */
#define NGX_SYMBOLICATE_ABSENT_MAX  8


typedef struct ngx_http_symbolicate_share_s  ngx_http_symbolicate_share_t;


/* The downloads of this worker from one source. */
typedef struct {
    ngx_queue_t                    queue;
    ngx_queue_t                    shares;      /* that have waiting ones */
    ngx_http_symbolicate_share_t  *orphans;
    ngx_uint_t                     nshares;
    ngx_uint_t                     nrunning;
    ngx_uint_t                     nwants;
    unsigned                       alone:1;     /* there is no other source */
} ngx_http_symbolicate_lane_t;


/* A pending fetch in its lane. */
typedef struct {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_share_t  *share;       /* NULL: in no lane */
    ngx_msec_t                     since;       /* when it began, or when the
                                                 * last request left it */
    unsigned                       running:1;
    unsigned                       hoped:1;     /* its clients were told to ask
                                                 * again */
} ngx_http_symbolicate_slot_t;


/* A source of symbol files, as the counters know it. */
typedef struct {
    ngx_str_t                      name;
    ngx_uint_t                     slot;        /* once nginx has read all of
                                                 * its configuration */
    ngx_http_symbolicate_lane_t   *lane;        /* one for each name */
} ngx_http_symbolicate_metric_t;


typedef struct ngx_http_symbolicate_pending_s  ngx_http_symbolicate_pending_t;
typedef struct ngx_http_symbolicate_fetch_s  ngx_http_symbolicate_fetch_t;


/* A host that a source may send us to, and the location that asks it. */
typedef struct {
    ngx_str_t                      host;        /* perhaps with a port */
    ngx_str_t                      uri;         /* ends in a slash */
} ngx_http_symbolicate_redirect_t;


typedef struct {
    ngx_str_t                      name;
    ngx_str_t                      uri;         /* ends in a slash */
    ngx_array_t                   *redirects;   /* NULL: none is followed */
    sym_source_rules_t             rules;
    ngx_uint_t                     absent[NGX_SYMBOLICATE_ABSENT_MAX];
    ngx_uint_t                     nabsent;
    unsigned                       is_public:1;
    ngx_http_symbolicate_metric_t *metric;
    ngx_str_t                      conf_file;   /* where it is configured */
    ngx_uint_t                     conf_line;
} ngx_http_symbolicate_source_t;


/* What a location says about fetching. */
typedef struct {
    ngx_array_t                   *sources;     /* in the order of asking */
    ngx_http_conf_ctx_t           *server;      /* where their locations are */
    sym_rpc_ttl_t                 ttl;
    uint32_t                       ttl_public;  /* absent from a public one */
    ngx_msec_t                     timeout;     /* of one download */
    size_t                         min_rate;    /* of its body, bytes/s */
} ngx_http_symbolicate_fetch_policy_t;


/* A module of one source. */
typedef struct {
    ngx_http_symbolicate_source_t *source;
    sym_module_key_t               key;         /* scope: the source's name */
    sym_str_t                      id;          /* for its paths */
    sym_str_t                      canonical;   /* id whose paths were asked
                                                 * for already, or empty */
} ngx_http_symbolicate_wanted_t;


/* The loader of a socket, as this worker sees it. */
typedef struct {
    ngx_str_t                      path;        /* ends in NUL */

    ngx_connection_t              *connection;  /* NULL: none */
    ngx_queue_t                    out;         /* messages to be sent */
    ngx_uint_t                     nout;
    ngx_msec_t                     tried;       /* last connect() that failed */
    ngx_msec_t                     backoff;     /* 0: it did not fail */
    ngx_uint_t                     patience;    /* tries before those who wait
                                                 * are told; 0: none */
    unsigned                       welcome:1;   /* the connection is taken */
    unsigned                       old:1;       /* HELLO is the version before's
                                                 */
    unsigned                       refused:1;   /* it was told in the log */
    ngx_event_t                    again;
    time_t                         logged;

    sym_hash_key_t                 hash_key;
    ngx_rbtree_t                   keys;        /* wants by their key */
    ngx_rbtree_node_t              keys_sentinel;
    ngx_rbtree_t                   tickets;     /* and by their ticket */
    ngx_rbtree_node_t              tickets_sentinel;
    ngx_rbtree_t                   asks;        /* questions by theirs */
    ngx_rbtree_node_t              asks_sentinel;
    uint32_t                       ticket;      /* the last one given */
    ngx_queue_t                    orphans;     /* wants that nobody waits for,
                                                 * by time */
    ngx_event_t                    orphaned;
    ngx_uint_t                     nwants;
    ngx_uint_t                     nbusy;       /* of these, those that a
                                                 * request waits for */
    unsigned                       ready:1;     /* set up in this process */
} ngx_http_symbolicate_loader_t;


/* A question to the loader that is answered by one message. */
typedef struct ngx_http_symbolicate_rpc_s  ngx_http_symbolicate_rpc_t;

struct ngx_http_symbolicate_rpc_s {
    ngx_rbtree_node_t              by_ticket;
    ngx_http_symbolicate_loader_t *loader;      /* NULL: not asked, or told */
    void                         (*told)(ngx_http_symbolicate_rpc_t *ask,
                                       sym_rpc_message_t *m);
    void                          *data;
};


/* A request that waits for modules. */
typedef struct {
    ngx_uint_t                     pending;     /* modules not settled */
    ngx_queue_t                    waiters;     /* of this request */
    ngx_queue_t                    shares;      /* of it, in the lanes */
    ngx_event_t                    timer;       /* ends the waiting */
    void                         (*settled)(void *data, ngx_uint_t module,
                                       sym_rpc_message_t *m);
    void                         (*resume)(void *data);
    void                          *data;
} ngx_http_symbolicate_wait_t;


/* --- want.c --- */

/* A flag of a NEGATIVE that the worker made itself: no loader is running. */
#define NGX_SYMBOLICATE_NO_LOADER  1

/*
 * Makes `wait` wait for a module; settled() is called for it once, never at
 * once, with READY or NEGATIVE; and resume(), never at once, when no module is
 * pending any more or the time is over.  settled() may want another one for the
 * same wait.  NGX_DECLINED: there is no loader; NGX_BUSY: so much is waited for
 * that it is to be asked for later; nothing will be called then.
 */
ngx_int_t ngx_http_symbolicate_pending(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *how, ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_wait_t *wait, ngx_uint_t module);

/* The request does not wait any more.  keep: its client was told to ask again,
 * so what it waited for goes on. */
void ngx_http_symbolicate_unwant(ngx_http_symbolicate_wait_t *wait,
    ngx_uint_t keep);

/* A message of the loader with a ticket. */
void ngx_http_symbolicate_pending_told(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m);

/* The connection is new: everything is asked for again. */
void ngx_http_symbolicate_pending_again(ngx_http_symbolicate_loader_t *loader);

/* There is no loader: nobody shall wait for it. */
void ngx_http_symbolicate_pending_none(ngx_http_symbolicate_loader_t *loader,
    const char *reason);

/* A download of so many bytes goes on: the lease shall grow. */
void ngx_http_symbolicate_pending_more(ngx_http_symbolicate_pending_t *want,
    off_t need);

/* Fetches begin that have a place by now. */
void ngx_http_symbolicate_pending_next(void);

/* A timer: wants that nobody came back for are given up. */
void ngx_http_symbolicate_pending_forget(ngx_event_t *ev);

/* The worker ends, and no request waits. */
void ngx_http_symbolicate_pending_end(ngx_http_symbolicate_loader_t *loader);

/* A fetch has come to its end. */
void ngx_http_symbolicate_pending_fetched(ngx_http_symbolicate_pending_t *want,
    ngx_http_symbolicate_fetch_t *fetch);


/* --- lane.c --- */

/* At the end of its request's share; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_slot_queue(
    ngx_http_symbolicate_slot_t *place, ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_wait_t *wait);

/* To the share of another request; NULL: of none. */
void ngx_http_symbolicate_slot_move(ngx_http_symbolicate_slot_t *place,
    ngx_http_symbolicate_wait_t *wait);

/* It waits no more, or has ended. */
void ngx_http_symbolicate_slot_leave(ngx_http_symbolicate_slot_t *place);

/* The one that may begin now, `most` running at a time; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_next(ngx_uint_t most);

/* When none may: the running one that has to give its place up; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_victim(
    ngx_uint_t most);


/* --- loader.c --- */

/* Messages that wait for the loader to take them. */
#define NGX_SYMBOLICATE_OUT_MAX    65536


ngx_http_symbolicate_loader_t *ngx_http_symbolicate_loader_add(ngx_conf_t *cf,
    ngx_str_t *path);

/* Makes sure of a connection; NGX_ERROR: there is none to be had now. */
ngx_int_t ngx_http_symbolicate_loader_connect(
    ngx_http_symbolicate_loader_t *loader);

/* Of one that is connected. */
void ngx_http_symbolicate_loader_close(
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


/* --- ask.c --- */

/*
 * Sends m with a ticket of its own; ask->told() is called once, never at once:
 * with the answer, or with NULL when the connection has ended, and nobody knows
 * whether the loader did what it was asked for.  How long to wait is up to the
 * caller.  NGX_ERROR: there is no loader; told() will not be called.
 */
ngx_int_t ngx_http_symbolicate_rpc_call(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_rpc_t *ask, sym_rpc_message_t *m);

/* The answer does not matter any more; may be called at any time. */
void ngx_http_symbolicate_unask(ngx_http_symbolicate_rpc_t *ask);

/* The loader's answer to a question. */
void ngx_http_symbolicate_rpc_told(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m);

/* The connection has ended: nothing that was asked will be answered. */
void ngx_http_symbolicate_rpc_none(ngx_http_symbolicate_loader_t *loader);


/* --- fetch.c --- */

/* What is to be fetched. */
typedef struct {
    ngx_http_symbolicate_source_t *first;       /* to be asked */
    ngx_uint_t                     others;      /* the rest of the location's
                                                 * sources may have it, too */
    sym_str_t                      name;
    sym_str_t                      id;
    sym_str_t                      canonical;   /* as of what is wanted */
    ngx_uint_t                     files;       /* a bit for each
                                                 * sym_source_file_t */
} ngx_http_symbolicate_object_t;

/* Whatever a source may have of a module. */
#define NGX_SYMBOLICATE_FILES      ((1 << SYM_SOURCE_FILES) - 1)

/* What came of it: state READY: there is a file. */
typedef struct {
    sym_module_state_t             state;
    ngx_fd_t                       fd;
    off_t                          offset;
    off_t                          length;
    off_t                          need;        /* the lease was too small: what
                                                 * it takes at least; 0: it was
                                                 * not */
    ngx_str_t                      source;      /* URL of the file */
    ngx_str_t                      reason;
    ngx_str_t                      attempts;
    ngx_uint_t                     next;        /* place to be asked after the
                                                 * one that has the file */
    unsigned                       offer:1;     /* there are such, and they may
                                                 * have better */
    unsigned                       unsized:1;   /* what it needs in all nobody
                                                 * knows */
} ngx_http_symbolicate_fetch_result_t;

/* What a download may put into a temporary file. */
typedef struct {
    off_t                          bytes;
    unsigned                       whole:1;     /* the loader has no more */
} ngx_http_symbolicate_lease_t;

/*
 * Ends in ngx_http_symbolicate_pending_fetched(), never at once.  object is
 * copied.  next, attempts: of an outcome that was offered and found too poor; 0
 * and empty at first.  NULL: no memory.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_start(
    ngx_http_symbolicate_pending_t *want, ngx_http_symbolicate_fetch_policy_t *how,
    ngx_http_symbolicate_object_t *object, ngx_http_symbolicate_lease_t *lease,
    ngx_uint_t next, ngx_str_t *attempts);

/* The answer to asking for more: another lease. */
void ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease);

/* A download that still runs is cut off.  NGX_AGAIN: that is not possible now,
 * and nothing was done. */
ngx_int_t ngx_http_symbolicate_fetch_free(
    ngx_http_symbolicate_fetch_t *fetch);

ngx_http_symbolicate_fetch_result_t *ngx_http_symbolicate_fetch_result(
    ngx_http_symbolicate_fetch_t *fetch);


/* A phase handler: paths go out as they were encoded for the source. */
ngx_int_t ngx_http_symbolicate_fetch_encode(ngx_http_request_t *r);

/* r, if it is a fetch's, is not sent as it should be; whatever it ends with,
 * its source has failed.  trouble: static. */
void ngx_http_symbolicate_fetch_refuse(ngx_http_request_t *r,
    const char *trouble);

/* The path of the module that r fetches, encoded, below its source; NULL: r
 * fetches none. */
ngx_str_t *ngx_http_symbolicate_fetch_path(ngx_http_request_t *r);


/* --- missing.c --- */

/* What a location says of requests that miss something. */
typedef enum {
    ngx_http_symbolicate_on_failure_503 = 0,
    ngx_http_symbolicate_on_failure_partial
} ngx_http_symbolicate_on_failure_e;


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_ */
