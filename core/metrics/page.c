#include "metrics/page.h"

#include <stdio.h>

#define NS_PER_S UINT64_C(1000000000)

typedef struct {
    const char *name;
    sym_str_t value;
} label_t;

/* Labels of one sample; histograms add `le`. */
#define LABELS_MAX 4

typedef struct {
    label_t list[LABELS_MAX];
    unsigned n;
} labels_t;

static const labels_t no_labels;


static void
write_text(sym_out_t *out, const char *text)
{
    sym_out_raw(out, sym_cstr(text));
}


static void
write_family(sym_out_t *out, const char *name, const char *type,
             const char *help)
{
    write_text(out, "# HELP symbolicate_");
    write_text(out, name);
    write_text(out, " ");
    write_text(out, help);
    write_text(out, "\n# TYPE symbolicate_");
    write_text(out, name);
    write_text(out, " ");
    write_text(out, type);
    write_text(out, "\n");
}


/* Writes a label: backslash, quote and newline are escaped, and invalid UTF-8
 * becomes U+FFFD, because a page must not contain it. */
static void
write_value(sym_out_t *out, sym_str_t value)
{
    size_t pos = 0;

    while (pos < value.len) {
        size_t start = pos;
        uint32_t c = sym_utf8_next(value, &pos);
        sym_str_t piece = sym_str(value.data + start, pos - start);

        if (c == '\\') {
            piece = SYM_STR("\\\\");
        } else if (c == '"') {
            piece = SYM_STR("\\\"");
        } else if (c == '\n') {
            piece = SYM_STR("\\n");
        } else if (c == 0xfffd) {
            piece = SYM_STR("\xef\xbf\xbd");
        }

        sym_out_raw(out, piece);
    }
}


static void
write_name(sym_out_t *out, const char *name, const char *suffix,
           const labels_t *labels)
{
    write_text(out, "symbolicate_");
    write_text(out, name);
    write_text(out, suffix);

    for (unsigned i = 0; i < labels->n; i++) {
        write_text(out, i == 0 ? "{" : ",");
        write_text(out, labels->list[i].name);
        write_text(out, "=\"");
        write_value(out, labels->list[i].value);
        write_text(out, "\"");
    }

    write_text(out, labels->n == 0 ? " " : "} ");
}


static void
write_sample(sym_out_t *out, const char *name, const labels_t *labels,
             uint64_t value)
{
    write_name(out, name, "", labels);
    sym_out_dec(out, value);
    write_text(out, "\n");
}


static void
write_seconds(sym_out_t *out, uint64_t ns)
{
    char fraction[sizeof(".000000000")];

    sym_out_dec(out, ns / NS_PER_S);
    (void) snprintf(fraction, sizeof(fraction), ".%09u",
                    (unsigned) (ns % NS_PER_S));
    write_text(out, fraction);
}


/* _count is the sum of the buckets, so they always agree, also under load. */
static void
write_histogram(sym_out_t *out, const char *name, const labels_t *labels,
                const sym_histogram_t *h)
{
    labels_t with = *labels;
    label_t *le = &with.list[with.n++];
    uint64_t count = 0;

    le->name = "le";

    for (unsigned i = 0; i <= SYM_HISTOGRAM_BOUNDS; i++) {
        count += sym_counted(&h->buckets[i]);
        le->value =
            i < SYM_HISTOGRAM_BOUNDS ? sym_histogram_bound(i) : SYM_STR("+Inf");
        write_name(out, name, "_bucket", &with);
        sym_out_dec(out, count);
        write_text(out, "\n");
    }

    write_name(out, name, "_sum", labels);
    write_seconds(out, sym_counted(&h->sum_ns));
    write_text(out, "\n");
    write_name(out, name, "_count", labels);
    sym_out_dec(out, count);
    write_text(out, "\n");
}


static void
write_count(sym_out_t *out, const char *name, const char *type,
            const char *help, uint64_t value)
{
    write_family(out, name, type, help);
    write_sample(out, name, &no_labels, value);
}


/* --- requests --- */

static labels_t
request_labels(const sym_metrics_endpoint_t *e, sym_served_t served,
               unsigned class)
{
    static const char *const classes[SYM_STATUS_CLASSES] = { "none", "1xx",
                                                             "2xx",  "3xx",
                                                             "4xx",  "5xx" };

    return (labels_t){ { { "dialect", sym_cstr(e->api) }, /* the first name of
                                                             the metric */
                         { "version",
                           sym_cstr(e->version != NULL ? e->version : "none") },
                         { "status", sym_served_word(served) },
                         { "code", sym_cstr(classes[class]) } },
                       4 };
}


/* Returns the usual HTTP status class of an outcome. */
static unsigned
usual_class(sym_served_t served)
{
    static const unsigned char classes[SYM_SERVED_STATES] = {
        [SYM_SERVED_NONE] = 4,         [SYM_SERVED_OK] = 2,
        [SYM_SERVED_INVALID] = 4,      [SYM_SERVED_TOO_LARGE] = 4,
        [SYM_SERVED_UNSUPPORTED] = 4,  [SYM_SERVED_FAILED] = 5,
        [SYM_SERVED_UNAVAILABLE] = 5,  [SYM_SERVED_PARTIAL] = 2,
        [SYM_SERVED_FETCH_FAILED] = 5, [SYM_SERVED_PENDING] = 2,
        [SYM_SERVED_BUSY] = 5
    };

    return classes[served];
}


/* A rate needs an initial 0, or it misses the first request.  So each usual
 * status has a row from the start; other classes get one when they occur. */
static void
write_endpoint(sym_out_t *out, const char *name,
               const sym_metrics_endpoint_t *endpoint,
               const uint64_t counters[SYM_SERVED_STATES][SYM_STATUS_CLASSES])
{
    for (unsigned i = 0; i < SYM_SERVED_STATES * SYM_STATUS_CLASSES; i++) {
        unsigned class = i % SYM_STATUS_CLASSES;
        unsigned served = i / SYM_STATUS_CLASSES;
        uint64_t n = sym_counted(&counters[served][class]);

        if (n != 0 || class == usual_class(served)) {
            labels_t labels = request_labels(endpoint, served, class);

            write_sample(out, name, &labels, n);
        }
    }
}


static void
write_requests(sym_out_t *out, const sym_metrics_page_t *page)
{
    static const char name[] = "requests_total";

    write_family(out, name, "counter",
                 "Requests by API, version, status and response code.");

    for (unsigned i = 0; i < SYM_METRICS_ENDPOINTS; i++) {
        if (page->endpoints[i].api != NULL) {
            write_endpoint(out, name, &page->endpoints[i],
                           page->metrics->requests[i]);
        }
    }
}


static void
write_modules(sym_out_t *out, const sym_metrics_t *m)
{
    static const char name[] = "modules_total";

    write_family(out, name, "counter",
                 "Modules that frames of answered requests refer to.");

    for (unsigned i = 0; i < SYM_OUTCOMES; i++) {
        labels_t labels = { { { "outcome", sym_outcome_word(i) } }, 1 };

        write_sample(out, name, &labels, sym_counted(&m->modules[i]));
    }
}


static void
write_outcomes(sym_out_t *out, const char *name, const char *help,
               const char *const *words, const uint64_t *counters, unsigned n)
{
    write_family(out, name, "counter", help);

    for (unsigned i = 0; i < n; i++) {
        labels_t labels = { { { "outcome", sym_cstr(words[i]) } }, 1 };

        write_sample(out, name, &labels, sym_counted(&counters[i]));
    }
}


static void
write_fleet(sym_out_t *out, const sym_metrics_t *m)
{
    static const char *const published[SYM_PUBLISH_OUTCOMES] = {
        [SYM_PUBLISH_DONE] = "done",
        [SYM_PUBLISH_PRESENT] = "present",
        [SYM_PUBLISH_FAILED] = "failed",
        [SYM_PUBLISH_DROPPED] = "dropped",
    };
    static const char *const notified[SYM_NOTIFY_OUTCOMES] = {
        [SYM_NOTIFY_DONE] = "done",
        [SYM_NOTIFY_FAILED] = "failed",
        [SYM_NOTIFY_REFUSED] = "refused",
        [SYM_NOTIFY_DROPPED] = "dropped",
    };
    static const char *const warmed[SYM_WARM_OUTCOMES] = {
        [SYM_WARM_DONE] = "done",
        [SYM_WARM_PRESENT] = "present",
        [SYM_WARM_ABSENT] = "absent",
        [SYM_WARM_FAILED] = "failed",
    };

    write_outcomes(out, "published_total",
                   "Artifacts that were put into the bucket of the fleet.",
                   published, m->published, SYM_PUBLISH_OUTCOMES);
    write_outcomes(out, "notified_total",
                   "Notifications of nodes of the fleet of changed files.",
                   notified, m->notified, SYM_NOTIFY_OUTCOMES);
    write_outcomes(out, "warmed_total",
                   "Artifacts that the fleet uses, and that were wanted before "
                   "this node was ready.",
                   warmed, m->warmed, SYM_WARM_OUTCOMES);
}


/* --- workers --- */

static void
write_workers(sym_out_t *out, const sym_metrics_page_t *page)
{
    static const char refusals[] = "memory_refusals_total";
    const sym_metrics_t *m = page->metrics;

    write_family(out, "turn_seconds", "histogram",
                 "Processor time of a turn of a worker's event loop.");
    write_histogram(out, "turn_seconds", &no_labels, &m->turn);

    write_count(out, "memory_bytes", "gauge",
                "Bytes that requests hold (symbolicate_memory).",
                sym_metrics_memory_all(m, page->workers));
    write_count(out, "memory_max_bytes", "gauge",
                "Bytes that requests may hold, of all workers.",
                page->memory * page->workers);

    write_family(out, refusals, "counter",
                 "Requests that were refused for lack of memory.");
    for (unsigned i = SYM_REFUSED_WHOLE; i < SYM_REFUSED_STATES; i++) {
        labels_t labels = { { { "of", sym_refused_word(i) } }, 1 };

        write_sample(out, refusals, &labels, sym_counted(&m->refused[i]));
    }
}


/* --- fetches --- */

static bool
source_labels(const sym_metrics_source_t *source, labels_t *labels)
{
    uint32_t len = __atomic_load_n(&source->len, __ATOMIC_ACQUIRE);

    *labels = (labels_t){ { { "source", sym_str(source->name, len) } }, 1 };
    return len != 0;
}


static void
write_fetches(sym_out_t *out, const sym_metrics_source_t *source)
{
    labels_t labels;

    if (!source_labels(source, &labels)) {
        return;
    }

    labels.list[labels.n++].name = "outcome";

    for (unsigned i = 0; i < SYM_OUTCOME_PENDING; i++) {
        labels.list[1].value = sym_outcome_word(i);
        write_sample(out, "fetches_total", &labels,
                     sym_counted(&source->fetches[i]));
    }
}


static void
write_sources(sym_out_t *out, const sym_metrics_t *m)
{
    const unsigned n = SYM_METRICS_SOURCES + 1;
    labels_t labels;

    write_family(out, "fetches_total", "counter",
                 "Fetches of symbol files, by source.");
    for (unsigned i = 0; i < n; i++) {
        write_fetches(out, &m->sources[i]);
    }

    write_family(out, "fetch_bytes_total", "counter",
                 "Bytes of symbol files fetched, as they came.");
    for (unsigned i = 0; i < n; i++) {
        if (source_labels(&m->sources[i], &labels)) {
            write_sample(out, "fetch_bytes_total", &labels,
                         sym_counted(&m->sources[i].bytes));
        }
    }

    write_family(out, "fetch_seconds", "histogram", "Time that fetches took.");
    for (unsigned i = 0; i < n; i++) {
        if (source_labels(&m->sources[i], &labels)) {
            write_histogram(out, "fetch_seconds", &labels,
                            &m->sources[i].seconds);
        }
    }
}


/* --- stores --- */

typedef struct {
    const char *name, *type, *help;
} family_t;

static const family_t store_families[] = {
    { "store_live_bytes", "gauge", "Bytes that modules take in the store." },
    { "store_file_bytes", "gauge", "Size of the store's file." },
    { "store_quota_bytes", "gauge", "Bytes that the store may take on disk." },
    { "store_evicted_total", "counter",
      "Modules evicted since the store was made." },
    { "store_readers", "gauge", "Reader slots that are taken." },
};

#define STORE_FAMILIES (sizeof(store_families) / sizeof(store_families[0]))


static uint64_t
store_value(const sym_store_stat_t *stat, unsigned family)
{
    const uint64_t values[STORE_FAMILIES] = { stat->live_bytes,
                                              stat->file_bytes, stat->quota,
                                              stat->evicted, stat->readers };

    return values[family];
}


static labels_t
store_labels(const sym_metrics_store_t *store)
{
    return (labels_t){ { { "store", store->path } }, 1 };
}


static void
write_store_modules(sym_out_t *out, const sym_metrics_store_t *store)
{
    const sym_store_stat_t *stat = &store->stat;
    const struct {
        sym_str_t word;
        uint64_t n;
    } states[] = { { SYM_STR("ready"), stat->ready },
                   { SYM_STR("absent"), stat->absent },
                   { SYM_STR("failed"), stat->failed },
                   { SYM_STR("malformed"), stat->malformed } };
    labels_t labels = store_labels(store);

    labels.list[labels.n++].name = "state";

    for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        labels.list[1].value = states[i].word;
        write_sample(out, "store_modules", &labels, states[i].n);
    }
}


static void
write_stores(sym_out_t *out, const sym_metrics_store_t *stores, size_t n)
{
    write_family(out, "store_up", "gauge", "1: the store can be read.");
    for (size_t i = 0; i < n; i++) {
        labels_t labels = store_labels(&stores[i]);

        write_sample(out, "store_up", &labels, stores[i].is_up);
    }

    for (unsigned f = 0; f < STORE_FAMILIES; f++) {
        const family_t *family = &store_families[f];

        write_family(out, family->name, family->type, family->help);
        for (size_t i = 0; i < n; i++) {
            labels_t labels = store_labels(&stores[i]);

            if (stores[i].is_up) {
                write_sample(out, family->name, &labels,
                             store_value(&stores[i].stat, f));
            }
        }
    }

    write_family(out, "store_modules", "gauge",
                 "Modules in the store (ready), and paths by outcome.");
    for (size_t i = 0; i < n; i++) {
        if (stores[i].is_up) {
            write_store_modules(out, &stores[i]);
        }
    }
}


/* --- loaders --- */

static labels_t
loader_labels(const sym_metrics_loader_t *loader)
{
    return (labels_t){ { { "loader", loader->path } }, 1 };
}


static void
write_loader_conversions(sym_out_t *out, const sym_metrics_loader_t *loader)
{
    const sym_conversions_t *c = &loader->stats.conversions;
    labels_t labels = loader_labels(loader);
    label_t *format = &labels.list[labels.n++];
    label_t *outcome = &labels.list[labels.n++];

    format->name = "format";
    outcome->name = "outcome";

    for (unsigned i = 0; i < SYM_CONVERSION_FORMATS * SYM_CONVERSION_ENDS; i++)
    {
        unsigned f = i / SYM_CONVERSION_ENDS, end = i % SYM_CONVERSION_ENDS;

        format->value = sym_conversion_format_word(f);
        outcome->value =
            sym_cstr(sym_module_state_name(sym_conversion_end(end)));
        write_sample(out, "loader_conversions_total", &labels,
                     c->ended[f][end]);
    }
}


static void
write_loader_values(sym_out_t *out, const sym_metrics_loader_t *loaders,
                    size_t n)
{
    for (unsigned v = 0; v < SYM_LOADER_VALUES; v++) {
        const sym_loader_row_t *row = sym_loader_row(v);

        write_family(out, row->family, row->type, row->help);
        for (size_t i = 0; i < n; i++) {
            labels_t labels = loader_labels(&loaders[i]);

            if (loaders[i].is_up && loaders[i].stats.has_value[v]) {
                write_sample(out, row->family, &labels,
                             loaders[i].stats.values[v]);
            }
        }
    }
}


static void
write_loaders(sym_out_t *out, const sym_metrics_loader_t *loaders, size_t n)
{
    write_family(out, "loader_up", "gauge", "1: the loader answers.");
    for (size_t i = 0; i < n; i++) {
        labels_t labels = loader_labels(&loaders[i]);

        write_sample(out, "loader_up", &labels, loaders[i].is_up);
    }

    write_loader_values(out, loaders, n);

    write_family(out, "loader_conversions_total", "counter",
                 "Converted modules, by format and outcome.");
    for (size_t i = 0; i < n; i++) {
        if (loaders[i].is_up && loaders[i].stats.has_ended) {
            write_loader_conversions(out, &loaders[i]);
        }
    }

    write_family(out, "loader_conversion_seconds", "histogram",
                 "Time that conversions took.");
    for (size_t i = 0; i < n; i++) {
        if (loaders[i].is_up && loaders[i].stats.has_seconds) {
            labels_t labels = loader_labels(&loaders[i]);

            write_histogram(out, "loader_conversion_seconds", &labels,
                            &loaders[i].stats.conversions.seconds);
        }
    }
}


/* --- jobs --- */

static void
write_jobs(sym_out_t *out, const sym_jobs_stat_t *jobs)
{
    write_count(out, "requests_running", "gauge",
                "Requests that symbolicate_max_requests counts.",
                jobs->running);
    write_count(out, "jobs_running", "gauge",
                "Those of them whose clients got an id.", jobs->jobs);
    write_count(out, "jobs_lost_total", "counter",
                "Jobs whose worker ended before them.", jobs->lost);
    write_count(out, "results", "gauge",
                "Ended jobs that can be asked for, or could be a minute ago.",
                jobs->results);
    write_count(out, "results_bytes", "gauge", "Bytes of these results.",
                jobs->bytes);
    write_count(out, "results_max_bytes", "gauge",
                "Room for results (symbolicate_results).", jobs->max_bytes);
    write_count(out, "results_expired_total", "counter",
                "Results that have expired.", jobs->expired);
}


void
sym_metrics_page(const sym_metrics_page_t *page, sym_out_t *out)
{
    const sym_metrics_t *m = page->metrics;
    labels_t version = { { { "version", page->version } }, 1 };

    write_family(out, "build_info", "gauge", "Always 1; the version.");
    write_sample(out, "build_info", &version, 1);

    write_requests(out, page);
    write_count(out, "frames_total", "counter", "Frames of answered requests.",
                sym_counted(&m->frames));
    write_modules(out, m);

    write_family(out, "request_seconds", "histogram",
                 "From a request's header to the end of its answer.");
    write_histogram(out, "request_seconds", &no_labels, &m->request);
    write_family(out, "lookup_seconds", "histogram",
                 "Time that an answered request spent in lookups.");
    write_histogram(out, "lookup_seconds", &no_labels, &m->lookup);

    write_workers(out, page);

    if (page->jobs != NULL) {
        write_jobs(out, page->jobs);
    }

    write_sources(out, m);
    if (page->blocked_hosts != NULL) {
        write_count(out, "blocked_hosts", "gauge",
                    "Hosts of requests' sources that kept failing and are "
                    "blocked.",
                    *page->blocked_hosts);
        write_count(out, "blocked_fetches_total", "counter",
                    "Fetches that failed because their host is blocked.",
                    sym_counted(&m->blocked));
    }
    write_count(out, "joins_total", "counter",
                "Modules that waited for a fetch of another request.",
                sym_counted(&m->joins));
    write_fleet(out, m);
    write_count(out, "loader_connected", "gauge",
                "Workers that are connected to the loader.",
                sym_metrics_links(m, page->workers));
    write_count(out, "loader_reconnects_total", "counter",
                "Connections to the loader that replaced a lost one.",
                sym_counted(&m->reconnects));

    write_loaders(out, page->loaders, page->n_loaders);
    write_stores(out, page->stores, page->n_stores);
}
