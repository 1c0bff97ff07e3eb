
/*
 * ngx_http_symbolicate_queue.h - turns of long requests and walks.
 *
 * The owner has the memory of its turn, and leaves the queue before it frees
 * it.
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


/* run() is called when its turn has come, once.  In line already: stays where
 * it is. */
void ngx_http_symbolicate_enqueue(ngx_http_symbolicate_turn_t *turn);

/* Takes it out of whatever queue it is in; may run twice. */
void ngx_http_symbolicate_dequeue(ngx_http_symbolicate_turn_t *turn);

/* True: it is one of the few that may hold a view of a store for many turns;
 * false: it is put in line, and run() will be called. */
ngx_uint_t ngx_http_symbolicate_admit(ngx_http_symbolicate_turn_t *turn);

/* Takes it out of whatever queue it is in, and lets the first in line be
 * admitted; may run twice. */
void ngx_http_symbolicate_leave(ngx_http_symbolicate_turn_t *turn);


#endif /* _NGX_HTTP_SYMBOLICATE_QUEUE_H_INCLUDED_ */
