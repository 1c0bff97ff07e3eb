
/*
 * ngx_http_symbolicate_missing_state.h - a request's searches for modules, for
 * their own files.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_MISSING_STATE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_MISSING_STATE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"
#include "schedule/ngx_http_symbolicate_pending.h"


typedef struct {
    uint16_t                       step;        /* the next source */
    unsigned                       ready:1;     /* found, maybe a poor one */
    unsigned                       better:1;    /* found at the start */
    unsigned                       waited:1;    /* for a source, so far */
    unsigned                       tries:2;     /* how often it was started */
    unsigned                       queued:1;    /* sources are to be queried */
    unsigned                       all:1;       /* all sources in parallel */
    unsigned                       upgrade:1;   /* ... for later requests */
    uint16_t                       open;        /* sources that are queried in
                                                 * parallel */
    ngx_msec_t                     began;
    uint32_t                       next;        /* in the queue */
} ngx_http_symbolicate_search_t;


struct ngx_http_symbolicate_missing_s {
    ngx_http_symbolicate_wait_t    wait;
    ngx_uint_t                     requested;   /* modules */
    ngx_uint_t                     failed;      /* modules */
    ngx_uint_t                     late;        /* modules, at the end */
    time_t                         retry;       /* seconds until a failed module
                                                 * may be retried */
    ngx_http_symbolicate_search_t *searches;    /* one a need */
    uint32_t                       nsearches;
    uint32_t                       first;       /* of those that are queued */
    uint32_t                       last;
    uint32_t                       next;        /* need to check next */
    uint64_t                       patterns;    /* steps of the request */
    unsigned                       active:1;    /* from the first step until all
                                                 * needs are settled */
    unsigned                       over:1;      /* the time is */
    ngx_msec_t                     end;
    ngx_msec_t                     began;       /* start of the current wait */
};


/* The module has failed, and may be retried after these seconds. */
void ngx_http_symbolicate_missing_failed(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m, time_t seconds);

/* The module is not waited for: it stays pending in this answer. */
void ngx_http_symbolicate_missing_put_off(
    ngx_http_symbolicate_lookup_t *lookup, sym_need_t *m);

/* The search for a module has ended: adds its waiting time. */
void ngx_http_symbolicate_missing_waited(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i);

/* All sources were queried, or enough of them. */
void ngx_http_symbolicate_missing_found(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i);

/* Keeps the worst outcome of the sources: failures may be temporary, malformed
 * files may be replaced. */
void ngx_http_symbolicate_missing_weigh(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, sym_module_state_t state, uint32_t ttl, sym_str_t reason);

/* Queries the next source that may have the module.  NGX_DONE: no source is
 * left; NGX_AGAIN: not in this turn; else as ngx_http_symbolicate_pending(). */
ngx_int_t ngx_http_symbolicate_missing_ask(
    ngx_http_symbolicate_lookup_t *lookup, ngx_http_symbolicate_wait_t *wait,
    uint32_t i);

/* NGX_OK: it waits for a source, or is settled; NGX_AGAIN: not in this turn. */
ngx_int_t ngx_http_symbolicate_missing_search(
    ngx_http_symbolicate_lookup_t *lookup, uint32_t i);

/* Answers 503 with each module and its reason. */
ngx_int_t ngx_http_symbolicate_missing_fail(
    ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_MISSING_STATE_H_INCLUDED_ */
