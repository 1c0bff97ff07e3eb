/*
 * page.h - the counters as text for Prometheus.
 *
 * Format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/.
 * Each count is exact, but the counts of one page may differ by a few requests.
 */
#ifndef SYM_METRICS_PAGE_H
#define SYM_METRICS_PAGE_H

#include "jobs/jobs.h"
#include "json/out.h"
#include "metrics/counters.h"
#include "metrics/loader.h"
#include "store/store.h"

#define SYM_METRICS_PAGE_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct {
    sym_str_t path;
    bool is_up; /* false: the store could not be read, and stat is undefined */
    sym_store_stat_t stat;
} sym_metrics_store_t;

typedef struct {
    sym_str_t path; /* path of the loader's socket */
    bool is_up;     /* false: the loader did not answer, and stats are
                       undefined */
    sym_loader_stats_t stats;
} sym_metrics_loader_t;

typedef struct {
    const sym_metrics_t *metrics;
    const sym_metrics_endpoint_t *endpoints; /* array of SYM_METRICS_ENDPOINTS
                                                items */
    unsigned workers;                        /* expected number */
    uint64_t memory;                         /* limit for each worker; 0: no
                                                limit */
    const sym_metrics_store_t *stores;
    size_t n_stores;
    const sym_metrics_loader_t *loaders;
    size_t n_loaders;
    const sym_jobs_stat_t *jobs;   /* NULL: jobs are off */
    const uint32_t *blocked_hosts; /* NULL: hosts are never blocked */
    sym_str_t version;             /* version of this program */
} sym_metrics_page_t;

void sym_metrics_page(const sym_metrics_page_t *page, sym_out_t *out);

#endif
