/*
 * The counters of the metrics page: exact under contention, correct when
 * workers die, and written in the form that Prometheus reads.  Expected texts
 * are from https://prometheus.io/docs/instrumenting/exposition_formats/.
 */
#include "metrics/page.h"

#include <pthread.h>
#include <stdlib.h>

#include "tap.h"

#define MS UINT64_C(1000000)

enum { OTHER, V4, V5 };

static const sym_metrics_endpoint_t endpoints[SYM_METRICS_ENDPOINTS] = {
    [OTHER] = { "tecken", NULL },
    [V4] = { "tecken", "4" },
    [V5] = { "tecken", "5" },
};

static char text[1 << 21];

static bool
no_more(sym_out_t *out, size_t need)
{
    (void) out;
    (void) need;
    return false;
}


/* The page as a string in `text`. */
static const char *
page_of(const sym_metrics_t *m, const sym_metrics_store_t *stores, size_t n)
{
    sym_out_t out = { .pos = text, .end = text + sizeof(text) - 1 };
    sym_metrics_page_t page = { .metrics = m,
                                .endpoints = endpoints,
                                .workers = 2,
                                .memory = 1000,
                                .stores = stores,
                                .n_stores = n,
                                .version = SYM_STR("1.2.3") };

    out.more = no_more;
    sym_metrics_page(&page, &out);
    *out.pos = '\0';
    ok(!out.failed, "the page fits");
    return text;
}


/* The line must be on the page, once. */
static void
has_line(const char *page, const char *line)
{
    size_t len = strlen(line);
    unsigned n = 0;

    for (const char *p = page; (p = strstr(p, line)) != NULL; p += len) {
        n += (p == page || p[-1] == '\n') && p[len] == '\n';
    }

    ok(n == 1, "%s", line);
}


static void
test_histogram(void)
{
    static sym_metrics_t m;
    const char *page;

    /* a bound belongs to its own bucket: le is "less or equal" */
    sym_histogram_observe(&m.lookup, 0);
    sym_histogram_observe(&m.lookup, 10000);
    sym_histogram_observe(&m.lookup, 10001);
    sym_histogram_observe(&m.lookup, 700 * MS);
    sym_histogram_observe(&m.lookup, 100000 * MS);
    sym_histogram_observe(&m.lookup, 100000 * MS + 1);

    page = page_of(&m, NULL, 0);
    has_line(page, "# TYPE symbolicate_lookup_seconds histogram");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"0.00001\"} 2");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"0.00002\"} 3");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"0.5\"} 3");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"1\"} 4");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"50\"} 4");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"100\"} 5");
    has_line(page, "symbolicate_lookup_seconds_bucket{le=\"+Inf\"} 6");
    has_line(page, "symbolicate_lookup_seconds_count 6");
    /* 10000 + 10001 + 7e8 + 1e11 + 1e11 + 1 nanoseconds */
    has_line(page, "symbolicate_lookup_seconds_sum 200.700020002");
}


/* The first two workers count, since the page has two slots; a new worker is in
 * neither. */
static void
test_workers(void)
{
    static sym_metrics_t m;
    const char *page;

    sym_metrics_memory(&m, 0, 100);
    sym_metrics_memory(&m, 1, 20);
    sym_metrics_memory(&m, 2, 3);
    sym_metrics_memory(&m, SYM_METRICS_WORKERS, 4);
    sym_count(&m.refused[SYM_REFUSED_WHOLE], 5);
    sym_histogram_observe(&m.turn, 150 * MS);

    page = page_of(&m, NULL, 0);
    has_line(page, "symbolicate_memory_bytes 120");
    has_line(page, "symbolicate_memory_max_bytes 2000");
    has_line(page, "symbolicate_memory_refusals_total{of=\"worker\"} 5");
    has_line(page, "symbolicate_memory_refusals_total{of=\"request\"} 0");
    has_line(page, "symbolicate_turn_seconds_bucket{le=\"0.1\"} 0");
    has_line(page, "symbolicate_turn_seconds_bucket{le=\"0.2\"} 1");

    sym_metrics_worker(&m, 0, 77);
    has_line(page_of(&m, NULL, 0), "symbolicate_memory_bytes 20");
}


/* Each bound, as printed, is where its bucket ends. */
static void
test_bounds(void)
{
    bool is_right = true;

    for (unsigned i = 0; i < SYM_HISTOGRAM_BOUNDS; i++) {
        sym_histogram_t h = { { 0 }, 0 };
        double seconds = strtod(sym_histogram_bound(i).data, NULL);
        uint64_t ns = (uint64_t) (seconds * 1e9 + 0.5);

        sym_histogram_observe(&h, ns);
        sym_histogram_observe(&h, ns + 1);
        is_right = is_right && h.buckets[i] == 1 && h.buckets[i + 1] == 1;
    }

    ok(is_right, "printed and real bounds agree");
}


static void
test_requests(void)
{
    static sym_metrics_t m;
    const char *page;

    sym_metrics_request(&m, V5, SYM_SERVED_OK, 200);
    sym_metrics_request(&m, V5, SYM_SERVED_OK, 200);
    sym_metrics_request(&m, V4, SYM_SERVED_TOO_LARGE, 413);
    sym_metrics_request(&m, OTHER, SYM_SERVED_NONE, 0);
    sym_metrics_request(&m, OTHER, SYM_SERVED_NONE, 777);

    page = page_of(&m, NULL, 0);
    has_line(page, "symbolicate_requests_total{dialect=\"tecken\","
                   "version=\"5\",status=\"ok\",code=\"2xx\"} 2");
    has_line(page, "symbolicate_requests_total{dialect=\"tecken\","
                   "version=\"4\",status=\"ok\",code=\"2xx\"} 0");
    has_line(page, "symbolicate_requests_total{dialect=\"tecken\","
                   "version=\"4\",status=\"too_large\",code=\"4xx\"} 1");
    has_line(page, "symbolicate_requests_total{dialect=\"tecken\","
                   "version=\"none\",status=\"none\",code=\"none\"} 2");
    /* a rate sees the first event only if there was a zero before it */
    has_line(page, "symbolicate_requests_total{dialect=\"tecken\","
                   "version=\"4\",status=\"fetch_failed\",code=\"5xx\"} 0");
    has_line(page, "symbolicate_requests_total{dialect=\"tecken\","
                   "version=\"none\",status=\"unavailable\",code=\"5xx\"} 0");
    ok(strstr(page, "status=\"invalid\",code=\"5xx\"") == NULL,
       "unusual statuses without requests are not shown");
    has_line(page, "symbolicate_build_info{version=\"1.2.3\"} 1");
}


static void
test_sources(void)
{
    static sym_metrics_t m;
    char name[16];
    unsigned s3, folder;
    const char *page;

    s3 = sym_metrics_source(&m, SYM_STR("s3"));
    folder = sym_metrics_source(&m, SYM_STR("a\"b\\c\nd\xff"));
    ok(s3 != folder, "two names, two entries");
    is_u64(sym_metrics_source(&m, SYM_STR("s3")), s3, "found again");

    sym_metrics_fetch(&m, s3, SYM_OUTCOME_FOUND, 1000, 30 * MS);
    sym_metrics_fetch(&m, s3, SYM_OUTCOME_ABSENT, 11, 4 * MS);

    page = page_of(&m, NULL, 0);
    has_line(page, "symbolicate_fetches_total{source=\"s3\","
                   "outcome=\"found\"} 1");
    has_line(page, "symbolicate_fetches_total{source=\"s3\","
                   "outcome=\"failed\"} 0");
    has_line(page, "symbolicate_fetch_bytes_total{source=\"s3\"} 1011");
    has_line(page, "symbolicate_fetch_seconds_bucket{source=\"s3\","
                   "le=\"0.02\"} 1");
    has_line(page, "symbolicate_fetch_seconds_sum{source=\"s3\"} 0.034000000");
    /* \ " and newline are escaped; 0xff is not UTF-8 */
    has_line(page, "symbolicate_fetch_bytes_total{"
                   "source=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 0");
    ok(strstr(page, "\"other\"") == NULL,
       "no \"other\" while all have an entry");

    for (unsigned i = 2; i < SYM_METRICS_SOURCES; i++) {
        (void) snprintf(name, sizeof(name), "source%u", i);
        is_u64(sym_metrics_source(&m, sym_cstr(name)), i, name);
    }

    is_u64(sym_metrics_source(&m, SYM_STR("one more")), SYM_METRICS_OTHER,
           "the 257th counts as \"other\"");
    is_u64(sym_metrics_source(&m, SYM_STR("two more")), SYM_METRICS_OTHER,
           "... the 258th as well");
    is_u64(sym_metrics_source(&m, SYM_STR("source255")), 255,
           "... the 256th does not");

    sym_metrics_fetch(&m, SYM_METRICS_OTHER, SYM_OUTCOME_FAILED, 5, MS);
    page = page_of(&m, NULL, 0);
    has_line(page, "symbolicate_fetches_total{source=\"other\","
                   "outcome=\"failed\"} 1");
}


/* Two series of one name would make Prometheus refuse the whole page. */
static void
test_source_called_other(void)
{
    static sym_metrics_t m;

    is_u64(sym_metrics_source(&m, SYM_STR("other")), SYM_METRICS_OTHER,
           "a source named other");
    has_line(page_of(&m, NULL, 0),
             "symbolicate_fetch_bytes_total{source=\"other\"} 0");
}


static void
test_links(void)
{
    static sym_metrics_t m;

    sym_metrics_worker(&m, 0, 100);
    sym_metrics_worker(&m, 1, 101);
    sym_metrics_link(&m, 0, 100, true);
    sym_metrics_link(&m, 1, 101, true);
    sym_metrics_link(&m, 1, 101, true);
    is_u64(sym_metrics_links(&m, 2), 2, "both are connected");
    is_u64(m.reconnects, 0, "for the first time");

    sym_metrics_link(&m, 0, 100, false);
    is_u64(sym_metrics_links(&m, 2), 1, "one has lost it");
    sym_metrics_link(&m, 0, 100, true);
    is_u64(sym_metrics_links(&m, 2), 2, "and has it back");
    is_u64(m.reconnects, 1, "which counts as a reconnect");

    /* 101 is killed without a report; 102 takes its slot */
    sym_metrics_worker(&m, 1, 102);
    is_u64(sym_metrics_links(&m, 2), 1, "a killed worker is not connected");
    sym_metrics_link(&m, 1, 102, true);
    is_u64(m.reconnects, 1, "its successor's first connection is no reconnect");

    /* a reload: 200 starts while 100 still works, and then exits */
    sym_metrics_worker(&m, 0, 200);
    sym_metrics_link(&m, 0, 200, true);
    sym_metrics_link(&m, 0, 100, false);
    is_u64(sym_metrics_links(&m, 2), 2,
           "the old worker's exit affects only itself");
    sym_metrics_link(&m, 0, 100, true);
    is_u64(m.reconnects, 1, "nor does it reconnect for another");

    is_u64(sym_metrics_links(&m, 1), 1, "fewer workers after a reload");
    sym_metrics_worker(&m, SYM_METRICS_WORKERS, 9);
    sym_metrics_link(&m, SYM_METRICS_WORKERS, 9, true);
    is_u64(sym_metrics_links(&m, UINT32_MAX), 2, "more workers than slots");

    has_line(page_of(&m, NULL, 0), "symbolicate_loader_connected 2");
    has_line(text, "symbolicate_loader_reconnects_total 1");
}


static void
test_stores(void)
{
    static sym_metrics_t m;
    const sym_metrics_store_t stores[] = { { .path = SYM_STR("/var/one"),
                                             .is_up = true,
                                             .stat = { .quota = 10,
                                                       .live_bytes = 4,
                                                       .file_bytes = 6,
                                                       .evicted = 3,
                                                       .readers = 2,
                                                       .ready = 7,
                                                       .absent = 8,
                                                       .failed = 9,
                                                       .malformed = 1 } },
                                           { .path = SYM_STR("/var/two"),
                                             .is_up = false } };
    const char *page = page_of(&m, stores, 2);

    has_line(page, "symbolicate_store_up{store=\"/var/one\"} 1");
    has_line(page, "symbolicate_store_up{store=\"/var/two\"} 0");
    has_line(page, "symbolicate_store_quota_bytes{store=\"/var/one\"} 10");
    has_line(page, "symbolicate_store_live_bytes{store=\"/var/one\"} 4");
    has_line(page, "symbolicate_store_file_bytes{store=\"/var/one\"} 6");
    has_line(page, "symbolicate_store_evicted_total{store=\"/var/one\"} 3");
    has_line(page, "symbolicate_store_readers{store=\"/var/one\"} 2");
    has_line(page, "symbolicate_store_modules{store=\"/var/one\","
                   "state=\"ready\"} 7");
    has_line(page, "symbolicate_store_modules{store=\"/var/one\","
                   "state=\"absent\"} 8");
    has_line(page, "symbolicate_store_modules{store=\"/var/one\","
                   "state=\"failed\"} 9");
    has_line(page, "symbolicate_store_modules{store=\"/var/one\","
                   "state=\"malformed\"} 1");
    ok(strstr(page, "bytes{store=\"/var/two\"") == NULL,
       "for a store that is down, only that fact");
}


#define THREADS 4
#define ROUNDS 50000

static sym_metrics_t shared;

static void *
hammer(void *arg)
{
    (void) arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        sym_metrics_request(&shared, V5, SYM_SERVED_OK, 200);
        sym_count(&shared.frames, 3);
        sym_metrics_fetch(&shared, 0, SYM_OUTCOME_FOUND, 7, MS);
    }

    return NULL;
}


static void
test_contention(void)
{
    const uint64_t n = UINT64_C(1) * THREADS * ROUNDS;
    pthread_t threads[THREADS];
    bool is_running = true;

    for (unsigned i = 0; i < THREADS; i++) {
        is_running =
            is_running && pthread_create(&threads[i], NULL, hammer, NULL) == 0;
    }

    ok(is_running, "threads run");
    for (unsigned i = 0; is_running && i < THREADS; i++) {
        (void) pthread_join(threads[i], NULL);
    }

    is_u64(shared.requests[V5][SYM_SERVED_OK][2], n, "requests: none is lost");
    is_u64(shared.frames, 3 * n, "frames: none is lost");
    is_u64(shared.sources[0].bytes, 7 * n, "bytes: none is lost");
    is_u64(shared.sources[0].seconds.sum_ns, n * MS, "time: none is lost");
}


int
main(void)
{
    test_histogram();
    test_workers();
    test_bounds();
    test_requests();
    test_sources();
    test_source_called_other();
    test_links();
    test_stores();
    test_contention();
    return done_testing();
}
