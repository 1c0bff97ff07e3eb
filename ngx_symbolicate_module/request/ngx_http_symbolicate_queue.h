
/*
 * ngx_http_symbolicate_queue.h - turns of long requests and walks.
 *
 * The memory of a turn belongs to its owner, which must remove the turn from
 * the queue before it frees the memory.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_QUEUE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_QUEUE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


typedef struct {
    ngx_queue_t                    queue;
    void                         (*run)(void *data);
    void                          *data;
    unsigned                       queued:1;
    unsigned                       admitted:1;
} ngx_http_symbolicate_turn_t;


/*
 * Queues a turn: run() is called once, when it is first in the queue.  A turn
 * that is already queued keeps its position.
 */
void ngx_http_symbolicate_enqueue(ngx_http_symbolicate_turn_t *turn);

/* Removes a turn from its queue, if any; may run twice. */
void ngx_http_symbolicate_dequeue(ngx_http_symbolicate_turn_t *turn);

/*
 * True: the turn may hold a view of a store for many turns; only a few may do
 * so.  False: it is queued, and run() will be called.
 */
ngx_uint_t ngx_http_symbolicate_admit(ngx_http_symbolicate_turn_t *turn);

/*
 * Removes a turn from its queue, if any, and admits the next in line; may run
 * twice.
 */
void ngx_http_symbolicate_leave(ngx_http_symbolicate_turn_t *turn);


#endif /* _NGX_HTTP_SYMBOLICATE_QUEUE_H_INCLUDED_ */
