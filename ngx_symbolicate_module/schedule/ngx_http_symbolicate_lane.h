
/*
 * ngx_http_symbolicate_lane.h - chooses the next pending fetch of this worker.
 *
 * A lane belongs to a source, and a slot belongs to a pending fetch; both are
 * in the memory of their owner.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"


/*
 * Milliseconds for which a fetch that has not started waits for a client that
 * was asked to retry.
 */
#define NGX_SYMBOLICATE_ABANDONED_GRACE  10000


typedef struct ngx_http_symbolicate_share_s  ngx_http_symbolicate_share_t;
typedef struct ngx_http_symbolicate_lanes_s  ngx_http_symbolicate_lanes_t;


/* Downloads of this worker from one source. */
struct ngx_http_symbolicate_lane_s {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_lanes_t  *all;         /* lanes with a common limit */
    ngx_queue_t                    shares;      /* shares that have waiting
                                                 * slots */
    ngx_http_symbolicate_share_t  *abandoned;
    ngx_uint_t                     nshares;
    ngx_uint_t                     nrunning;
    ngx_uint_t                     npending;
    unsigned                       alone:1;     /* there is no other source */
    unsigned                       from_requests:1;
                                                /* a lane of request sources */
};


/* A pending fetch in its lane. */
typedef struct ngx_http_symbolicate_slot_s  ngx_http_symbolicate_slot_t;

struct ngx_http_symbolicate_slot_s {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_share_t  *share;       /* NULL: not in a lane */
    off_t                        (*received)(ngx_http_symbolicate_slot_t *slot);
                                                /* returns the number of bytes
                                                 * received so far */
    unsigned                       running:1;
};


/* A request that waits for modules. */
typedef struct {
    ngx_uint_t                     pending;     /* number of modules that are
                                                 * not settled */
    ngx_queue_t                    waiters;     /* pending fetches of this
                                                 * request */
    ngx_queue_t                    shares;      /* the request's shares of
                                                 * lanes */
    ngx_event_t                    timer;       /* ends the wait */
    void                         (*settled)(void *data, ngx_uint_t module,
                                       sym_rpc_message_t *m);
    void                         (*resume)(void *data);
    void                          *data;
} ngx_http_symbolicate_wait_t;


/* Creates the lanes of the configuration, after it has been read. */
ngx_int_t ngx_http_symbolicate_lanes_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

/* for_peer: other nodes wait for the fetches. */
ngx_http_symbolicate_lane_t *ngx_http_symbolicate_lane_of(
    const ngx_http_symbolicate_source_t *source, ngx_uint_t for_peer);

/* Appends a slot to the share of its request; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_slot_queue(
    ngx_http_symbolicate_slot_t *slot, ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_wait_t *wait);

/* Moves a slot to the share of another request; NULL: to the abandoned ones. */
void ngx_http_symbolicate_slot_move(ngx_http_symbolicate_slot_t *slot,
    ngx_http_symbolicate_wait_t *wait);

/* Removes a slot from its share: its fetch has ended, or no longer waits. */
void ngx_http_symbolicate_slot_leave(ngx_http_symbolicate_slot_t *slot);

/*
 * Returns the slot that may start now, if at most `most` may run, and as many
 * for other nodes; NULL: none.
 */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_next(ngx_uint_t most);

/* Returns the running slot to abort if none may start; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_victim(
    ngx_uint_t most);


#endif /* _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_ */
