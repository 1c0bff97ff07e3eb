
/*
 * ngx_http_symbolicate_queue.c - turns of long requests.
 *
 * In each turn of its event loop, a worker runs one slice of one long request,
 * round robin.  So a short request waits for one slice, not for all long
 * requests.  Walks over a store take turns in the same way.
 *
 * Only a limited number of long requests may use the store at a time, because
 * each holds a reader slot; the others wait in a queue.  A request that waits
 * for its client leaves the queue.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "counters/ngx_http_symbolicate_meter.h"
#include "request/ngx_http_symbolicate_queue.h"


#define NGX_SYMBOLICATE_ADMITTED  16


static void ngx_http_symbolicate_queue_init(void);
static void ngx_http_symbolicate_turn(ngx_event_t *ev);
static void ngx_http_symbolicate_keep(ngx_event_t *ev);


static ngx_queue_t  ngx_http_symbolicate_ready;
static ngx_queue_t  ngx_http_symbolicate_waiting;
static ngx_uint_t   ngx_http_symbolicate_admitted;
static ngx_event_t  ngx_http_symbolicate_turn_event;
static ngx_event_t  ngx_http_symbolicate_keep_event;

/* for nginx's debug log, which treats a timer's data as a connection */
static ngx_connection_t  ngx_http_symbolicate_no_connection;


static void
ngx_http_symbolicate_queue_init(void)
{
    if (ngx_http_symbolicate_turn_event.handler) {
        return;
    }

    ngx_queue_init(&ngx_http_symbolicate_ready);
    ngx_queue_init(&ngx_http_symbolicate_waiting);

    ngx_http_symbolicate_turn_event.handler = ngx_http_symbolicate_turn;
    ngx_http_symbolicate_keep_event.handler = ngx_http_symbolicate_keep;

    ngx_http_symbolicate_no_connection.fd = (ngx_socket_t) -1;
    ngx_http_symbolicate_keep_event.data = &ngx_http_symbolicate_no_connection;
}


void
ngx_http_symbolicate_enqueue(ngx_http_symbolicate_turn_t *turn)
{
    if (turn->queued) {
        return;
    }

    ngx_http_symbolicate_queue_init();

    ngx_queue_insert_tail(&ngx_http_symbolicate_ready, &turn->queue);
    turn->queued = 1;

    ngx_http_symbolicate_turn_event.log = ngx_cycle->log;
    ngx_post_event(&ngx_http_symbolicate_turn_event, &ngx_posted_next_events);

    /*
     * a worker that is shutting down exits when no timer is left, but a queued
     * request has no timer
     */

    if (!ngx_http_symbolicate_keep_event.timer_set) {
        ngx_http_symbolicate_keep_event.log = ngx_cycle->log;
        ngx_add_timer(&ngx_http_symbolicate_keep_event, 60000);
    }
}


static void
ngx_http_symbolicate_turn(ngx_event_t *ev)
{
    ngx_queue_t                  *q;
    ngx_http_symbolicate_turn_t  *turn;

    /* the queue is empty, because its tasks were removed */

    if (!ngx_queue_empty(&ngx_http_symbolicate_ready)) {
        q = ngx_queue_head(&ngx_http_symbolicate_ready);
        turn = ngx_queue_data(q, ngx_http_symbolicate_turn_t, queue);

        ngx_http_symbolicate_dequeue(turn);

        ngx_http_symbolicate_turn_steps = NGX_SYMBOLICATE_STEPS_TURN;
        turn->run(turn->data);
    }

    if (!ngx_queue_empty(&ngx_http_symbolicate_ready)) {
        ngx_post_event(ev, &ngx_posted_next_events);

    } else if (ngx_http_symbolicate_keep_event.timer_set) {
        ngx_del_timer(&ngx_http_symbolicate_keep_event);
    }
}


static void
ngx_http_symbolicate_keep(ngx_event_t *ev)
{
    if (!ngx_queue_empty(&ngx_http_symbolicate_ready)) {
        ngx_add_timer(ev, 60000);
    }
}


void
ngx_http_symbolicate_dequeue(ngx_http_symbolicate_turn_t *turn)
{
    if (turn->queued) {
        ngx_queue_remove(&turn->queue);
        turn->queued = 0;
    }
}


ngx_uint_t
ngx_http_symbolicate_admit(ngx_http_symbolicate_turn_t *turn)
{
    if (turn->admitted) {
        return 1;
    }

    if (ngx_http_symbolicate_admitted < NGX_SYMBOLICATE_ADMITTED) {
        ngx_http_symbolicate_admitted++;
        turn->admitted = 1;
        return 1;
    }

    ngx_http_symbolicate_queue_init();

    ngx_queue_insert_tail(&ngx_http_symbolicate_waiting, &turn->queue);
    turn->queued = 1;

    return 0;
}


void
ngx_http_symbolicate_leave(ngx_http_symbolicate_turn_t *turn)
{
    ngx_queue_t                  *q;
    ngx_http_symbolicate_turn_t  *next;

    ngx_http_symbolicate_dequeue(turn);

    if (!turn->admitted) {
        return;
    }

    turn->admitted = 0;
    ngx_http_symbolicate_admitted--;

    ngx_http_symbolicate_queue_init();

    if (ngx_queue_empty(&ngx_http_symbolicate_waiting)) {
        return;
    }

    q = ngx_queue_head(&ngx_http_symbolicate_waiting);
    next = ngx_queue_data(q, ngx_http_symbolicate_turn_t, queue);

    ngx_http_symbolicate_dequeue(next);
    ngx_http_symbolicate_enqueue(next);
}
