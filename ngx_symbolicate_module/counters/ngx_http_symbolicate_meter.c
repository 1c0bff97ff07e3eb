
/*
 * ngx_http_symbolicate_meter.c - measures the turns of a worker's event loop.
 *
 * A turn of the event loop begins and ends where nginx waits for events.  All
 * other connections of the worker wait for the end of a turn.  It is measured
 * in CPU time, so the load of the machine does not matter.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

#include "counters/ngx_http_symbolicate_counters.h"
#include "counters/ngx_http_symbolicate_meter.h"


/* Limit of a turn; longer ones are logged as errors. */
#define NGX_SYMBOLICATE_TURN_NS  (100 * 1000000)


static ngx_int_t ngx_http_symbolicate_meter_events(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);
static uint64_t ngx_http_symbolicate_meter_now(void);


static ngx_int_t  (*ngx_http_symbolicate_meter_next)(ngx_cycle_t *cycle,
    ngx_msec_t timer, ngx_uint_t flags);
static const sym_account_t  *ngx_http_symbolicate_meter_memory;
static uint64_t  ngx_http_symbolicate_meter_began;

uint64_t  ngx_http_symbolicate_turn_steps = NGX_SYMBOLICATE_STEPS;


void
ngx_http_symbolicate_meter_process(const sym_account_t *memory)
{
    ngx_http_symbolicate_meter_memory = memory;

    /* without a master process, a reload calls this again */

    if (ngx_event_actions.process_events != ngx_http_symbolicate_meter_events)
    {
        ngx_http_symbolicate_meter_next = ngx_event_actions.process_events;
        ngx_event_actions.process_events = ngx_http_symbolicate_meter_events;
    }

    /* the start of a worker does not count as a turn */

    ngx_http_symbolicate_meter_began = 0;
}


/* Replaces the function that waits for events. */
static ngx_int_t
ngx_http_symbolicate_meter_events(ngx_cycle_t *cycle, ngx_msec_t timer,
    ngx_uint_t flags)
{
    uint64_t  now, ns;

    now = ngx_http_symbolicate_meter_now();

    if (ngx_http_symbolicate_meter_began) {
        ns = now - ngx_http_symbolicate_meter_began;

        ngx_http_symbolicate_count_turn(ns,
                                    ngx_http_symbolicate_meter_memory->used);

        if (ns > NGX_SYMBOLICATE_TURN_NS) {
            ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                          "symbolicate: a turn of the event loop took %uL ms "
                          "of processor time", ns / 1000000);
        }
    }

    ngx_http_symbolicate_meter_began = now;
    ngx_http_symbolicate_turn_steps = NGX_SYMBOLICATE_STEPS;

    return ngx_http_symbolicate_meter_next(cycle, timer, flags);
}


static uint64_t
ngx_http_symbolicate_meter_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}
