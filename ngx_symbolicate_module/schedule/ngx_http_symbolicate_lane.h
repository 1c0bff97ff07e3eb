
/*
 * ngx_http_symbolicate_lane.h - which pending fetch of this worker is next.
 *
 * A lane belongs to a source, a slot to a pending fetch; both are their owner's
 * memory.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"


/* Milliseconds for which a fetch that has not begun waits for a client that was
 * told to ask again. */
#define NGX_SYMBOLICATE_ABANDONED_GRACE  10000


typedef struct ngx_http_symbolicate_share_s  ngx_http_symbolicate_share_t;


/* The downloads of this worker from one source. */
struct ngx_http_symbolicate_lane_s {
    ngx_queue_t                    queue;
    ngx_queue_t                    shares;      /* that have waiting ones */
    ngx_http_symbolicate_share_t  *abandoned;
    ngx_uint_t                     nshares;
    ngx_uint_t                     nrunning;
    ngx_uint_t                     npending;
    unsigned                       alone:1;     /* there is no other source */
    unsigned                       from_requests:1;
                                                /* of sources of requests */
};


/* A pending fetch in its lane. */
typedef struct ngx_http_symbolicate_slot_s  ngx_http_symbolicate_slot_t;

struct ngx_http_symbolicate_slot_s {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_share_t  *share;       /* NULL: in no lane */
    off_t                        (*received)(ngx_http_symbolicate_slot_t *slot);
                                                /* bytes, while it runs */
    unsigned                       running:1;
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


/* Makes those of the configuration, once it is read. */
ngx_int_t ngx_http_symbolicate_lanes_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

ngx_http_symbolicate_lane_t *ngx_http_symbolicate_lane_of(
    const ngx_http_symbolicate_source_t *source);

/* Appends it to its request's share; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_slot_queue(
    ngx_http_symbolicate_slot_t *slot, ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_wait_t *wait);

/* Moves it to the share of another request; NULL: to the abandoned. */
void ngx_http_symbolicate_slot_move(ngx_http_symbolicate_slot_t *slot,
    ngx_http_symbolicate_wait_t *wait);

/* Takes it out of its share: it has ended, or does not wait any more. */
void ngx_http_symbolicate_slot_leave(ngx_http_symbolicate_slot_t *slot);

/* The slot that may begin now, if at most `most` may run; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_next(ngx_uint_t most);

/* When none may begin: the running slot to give up; NULL: none. */
ngx_http_symbolicate_slot_t *ngx_http_symbolicate_slot_victim(
    ngx_uint_t most);


#endif /* _NGX_HTTP_SYMBOLICATE_LANE_H_INCLUDED_ */
