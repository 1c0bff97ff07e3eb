
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


/* Declares the zone of the counters, while nginx reads its configuration. */
ngx_int_t ngx_http_symbolicate_counters_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

/* Makes this process use that zone. */
void ngx_http_symbolicate_counters_process(
    ngx_http_symbolicate_main_conf_t *smcf);

sym_metrics_t *ngx_http_symbolicate_counters(void);

uint64_t ngx_http_symbolicate_clock_ns(void);

/* The clock of the counters' history. */
uint64_t ngx_http_symbolicate_history_clock_s(void);

/*
 * Counts a request that has ended.  endpoint: from sym_api_endpoint();
 * started_ns: from the clock above; 0: the request was not for symbols.
 */
void ngx_http_symbolicate_count_request(unsigned endpoint, sym_served_t served,
    ngx_uint_t status, uint64_t started_ns);

/*
 * Counts a complete answer, or an error that names modules; m, n: its modules.
 */
void ngx_http_symbolicate_count_answer(const sym_request_stats_t *stats,
    const sym_need_t *m, uint32_t n);

/* Counts a download from a source that has ended. */
void ngx_http_symbolicate_count_fetch(ngx_uint_t slot, sym_outcome_t outcome,
    off_t bytes, ngx_msec_t msec);

/*
 * Counts a turn of this worker's event loop; bytes: total that its requests
 * hold.
 */
void ngx_http_symbolicate_count_turn(uint64_t ns, size_t bytes);

/* Counts a request that was refused because memory was used up. */
void ngx_http_symbolicate_count_refused(sym_refused_t refused);

/* A random secret of this server, which survives a reload. */
sym_str_t ngx_http_symbolicate_session_key(void);

/* This server's random name, until nginx ends. */
ngx_str_t ngx_http_symbolicate_node(void);

/*
 * Counts a module of a request that waits for a fetch begun by another request.
 */
void ngx_http_symbolicate_count_join(void);

/* Counts an artifact that was to be published for other nodes. */
void ngx_http_symbolicate_count_publish(sym_publish_outcome_t outcome);

/* Counts a node of the fleet that was to be notified of a change. */
void ngx_http_symbolicate_count_notification(sym_notify_outcome_t outcome);

/* Counts an artifact that was wanted before this server was ready. */
void ngx_http_symbolicate_count_warm(sym_warm_outcome_t outcome);

/*
 * Whether the stores of this server are being filled with what its fleet uses:
 * from the start of nginx, until ngx_http_symbolicate_is_warm() is called, or
 * the time for that is over.
 */
ngx_uint_t ngx_http_symbolicate_is_warming(void);
void ngx_http_symbolicate_is_warm(void);

/*
 * The state of this worker's connection to the loader has changed; may be
 * called twice with the same state.
 */
void ngx_http_symbolicate_count_loader(ngx_uint_t connected);


#endif /* _NGX_HTTP_SYMBOLICATE_COUNTERS_H_INCLUDED_ */
