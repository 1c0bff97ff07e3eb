
/*
 * ngx_http_symbolicate_counters.h - counters over all workers.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_COUNTERS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_COUNTERS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/request.h"
#include "metrics/counters.h"

#include "conf/ngx_http_symbolicate_source.h"


/* Declares their zone, while nginx reads its configuration. */
ngx_int_t ngx_http_symbolicate_counters_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

/* Lets this process count into that zone. */
void ngx_http_symbolicate_counters_process(
    ngx_http_symbolicate_main_conf_t *smcf);

sym_metrics_t *ngx_http_symbolicate_counters(void);

uint64_t ngx_http_symbolicate_clock_ns(void);

/* The clock of the history of the counters. */
uint64_t ngx_http_symbolicate_history_clock_s(void);

/* A request has ended.  endpoint: of sym_api_endpoint(); started_ns: by the
 * clock above; 0: it was not for symbols. */
void ngx_http_symbolicate_count_request(unsigned endpoint, sym_served_t served,
    ngx_uint_t status, uint64_t started_ns);

/* An answer is complete, or an error that names modules; m, n: its modules. */
void ngx_http_symbolicate_count_answer(const sym_request_stats_t *stats,
    const sym_need_t *m, uint32_t n);

/* A download of a source has ended. */
void ngx_http_symbolicate_count_fetch(ngx_uint_t slot, sym_outcome_t outcome,
    off_t bytes, ngx_msec_t msec);

/* A turn of this worker's event loop has ended; bytes: all that its requests
 * hold. */
void ngx_http_symbolicate_count_turn(uint64_t ns, size_t bytes);

/* A request was refused because memory was used up. */
void ngx_http_symbolicate_count_refused(sym_refused_t refused);

/* A module of a request waits for a fetch begun by another request. */
void ngx_http_symbolicate_count_join(void);

/* This worker's connection to the loader was opened or has ended, in any
 * previous state. */
void ngx_http_symbolicate_count_loader(ngx_uint_t connected);


#endif /* _NGX_HTTP_SYMBOLICATE_COUNTERS_H_INCLUDED_ */
