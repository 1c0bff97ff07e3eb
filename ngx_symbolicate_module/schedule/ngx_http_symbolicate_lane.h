
/*
 * ngx_http_symbolicate_lane.h - chooses the next pending fetch of this worker.
 *
 * A lane belongs to a source, a slot to a pending fetch; both are in their
 * owner's memory.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"


/* Milliseconds for which an unstarted fetch waits for a client that was asked
 * to retry. */
#define NGX_SYMBOLICATE_ABANDONED_GRACE  10000


typedef struct ngx_http_symbolicate_share_s  ngx_http_symbolicate_share_t;


/* The downloads of this worker from one source. */
struct ngx_http_symbolicate_lane_s {
    ngx_queue_t                    queue;
    ngx_queue_t                    shares;      /* that have waiting slots */
    ngx_http_symbolicate_share_t  *abandoned;
    ngx_uint_t                     nshares;
    ngx_uint_t                     nrunning;
    ngx_uint_t                     npending;
    unsigned                       alone:1;     /* there is no other source */
    unsigned                       from_requests:1;
                                                /* lane of request sources */
};


/* A pending fetch in its lane. */
typedef struct ngx_http_symbolicate_slot_s  ngx_http_symbolicate_slot_t;

struct ngx_http_symbolicate_slot_s {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_share_t  *share;       /* NULL: in no lane */
    off_t                        (*received)(ngx_http_symbolicate_slot_t *slot);
                                                /* bytes received so far */
    unsigned                       running:1;
};


/* A request that waits for modules. */
typedef struct {
    ngx_uint_t                     pending;     /* modules not settled */
    ngx_queue_t                    waiters;     /* of this request */
    ngx_queue_t                    shares;      /* its shares of lanes */
    ngx_event_t                    timer;       /* ends the wait */
    void                         (*settled)(void *data, ngx_uint_t module,
                                       sym_rpc_message_t *m);
    void                         (*resume)(void *data);
    void                          *data;
} ngx_http_symbolicate_wait_t;


/* Makes the lanes of the configuration, once it is read. */
ngx_int_t ngx_http_symbolicate_lanes_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

ngx_http_symbolicate_lane_t *ngx_http_symbolicate_lane_of(
    const ngx_http_symbolicate_source_t *source);

/* Appends it to its request's share; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_slot_queue(
    ngx_http_symbolicate_slot_t *slot, ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_wait_t *wait);

/* Moves it to the share of another request; NULL: to the abandoned ones. */
void ngx_http_symbolicate_slot_move(ngx_http_symbolicate_slot_t *slot,
    ngx_http_symbolicate_wait_t *wait);

/* Removes it from its share: it has ended, or no longer waits. */
void ngx_http_symbolicate_slot_leave(ngx_http_symbolicate_slot_t *slot);

/* The slot that may start now, with at most `most` running; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_next(ngx_uint_t most);

/* The running slot to abort if none may start; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_victim(
    ngx_uint_t most);


#endif /* _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_ */
