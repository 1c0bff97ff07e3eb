
/*
 * ngx_http_symbolicate_missing_state.h - a request's searches for modules;
 * shared by missing*.c.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_MISSING_STATE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_MISSING_STATE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"
#include "schedule/ngx_http_symbolicate_pending.h"


typedef struct {
    uint16_t                       step;        /* next source */
    unsigned                       ready:1;     /* found; it may be poor */
    unsigned                       better:1;    /* it was found at the start */
    unsigned                       waited:1;    /* it has waited for a source */
    unsigned                       tries:2;     /* number of starts */
    unsigned                       queued:1;    /* it waits in the queue to
                                                 * search sources */
    unsigned                       all:1;       /* searches all sources in
                                                 * parallel */
    unsigned                       upgrade:1;   /* ... for the benefit of later
                                                 * requests */
    uint16_t                       open;        /* number of sources that are
                                                 * searched in parallel */
    ngx_msec_t                     began;
    uint32_t                       next;        /* next in the queue */
} ngx_http_symbolicate_search_t;


struct ngx_http_symbolicate_missing_s {
    ngx_http_symbolicate_wait_t    wait;
    ngx_uint_t                     requested;   /* modules */
    ngx_uint_t                     failed;      /* modules */
    ngx_uint_t                     late;        /* number of modules still
                                                 * missing at the end */
    time_t                         retry;       /* seconds until a failed module
                                                 * may be retried */
    ngx_http_symbolicate_search_t *searches;    /* one for each need */
    uint32_t                       nsearches;
    uint32_t                       first;       /* first search in the queue */
    uint32_t                       last;
    uint32_t                       next;        /* next need to check */
    uint64_t                       patterns;    /* steps left for patterns */
    unsigned                       active:1;    /* from the first step until all
                                                 * needs are settled */
    unsigned                       over:1;      /* the time is over */
    ngx_msec_t                     end;
    ngx_msec_t                     began;       /* start of the current wait */
};


/*
 * Records that the module has failed, and may be retried after these seconds.
 */
void ngx_http_symbolicate_missing_failed(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m, time_t seconds);

/* Ends the wait for a module: it stays pending in this answer. */
void ngx_http_symbolicate_missing_put_off(
    ngx_http_symbolicate_lookup_t *lookup, sym_need_t *m);

/* Ends the search for a module: adds its waiting time. */
void ngx_http_symbolicate_missing_waited(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i);

/* Call this when all sources were searched, or enough of them. */
void ngx_http_symbolicate_missing_found(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i);

/*
 * Keeps the worst outcome of the sources, because failures may be temporary,
 * and malformed files may be replaced.
 */
void ngx_http_symbolicate_missing_weigh(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, sym_module_state_t state, uint32_t ttl, sym_str_t reason);

/*
 * Searches the next source that may have the module.  NGX_DONE: no source is
 * left; NGX_AGAIN: not in this turn; otherwise like
 * ngx_http_symbolicate_pending().
 */
ngx_int_t ngx_http_symbolicate_missing_ask(
    ngx_http_symbolicate_lookup_t *lookup, ngx_http_symbolicate_wait_t *wait,
    uint32_t i);

/*
 * NGX_OK: the module waits for a source, or is settled; NGX_AGAIN: not in this
 * turn.
 */
ngx_int_t ngx_http_symbolicate_missing_search(
    ngx_http_symbolicate_lookup_t *lookup, uint32_t i);

/* Answers 503 with each module and its reason. */
ngx_int_t ngx_http_symbolicate_missing_fail(
    ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_MISSING_STATE_H_INCLUDED_ */
