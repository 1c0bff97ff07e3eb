/*
 * bench_sentry - cost of a request of Sentry's API, without HTTP.
 *
 *     build/bench/bench_sentry STORE ROUNDS BODY.json...
 *
 * Processes the bodies in turn, in two rounds that warm the answer cache and
 * then ROUNDS more.  Prints the microseconds of processor time per request: of
 * parsing alone, and of parsing and answer.  To compare two builds count
 * instructions, which other processes on the machine do not affect:
 *
 *     perf stat -e instructions:u build/bench/bench_sentry ...
 */
#include "api/registry.h"
#include "bench.h"

#define WARMUP 2
#define WINDOW 65536
#define CACHE ((size_t) 32 << 20)

typedef struct {
    sym_store_t *store;
    sym_snapshot_t *snapshot;
    sym_worker_cache_t *caches;
    char *window;
    uint64_t frames, answer_bytes, missing;
} bench_t;


/* Processor time of this process; others on the machine do not count. */
static double
cpu_us(void)
{
    struct timespec t;

    (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}


/* The answer overwrites one window again and again. */
static bool
more(sym_out_t *out, size_t need)
{
    bench_t *b = out->ctx;

    if (out->pos != NULL) {
        out->before += (uint64_t) (out->pos - b->window);
    }
    out->pos = b->window;
    out->end = b->window + WINDOW;
    return need <= WINDOW;
}


static void
run(bench_t *b, sym_str_t body, bool answers)
{
    static const sym_request_options_t options = { .now_s = now_s };
    const sym_api_t *api = sym_api_find(SYM_STR("sentry"));
    const sym_api_call_t call = { .route = api->routes, .body = body };
    const sym_view_t view = { b->snapshot, b->caches, 1 };
    sym_out_t out = { .more = more, .ctx = b };
    sym_arena_t arena;
    sym_request_t *r;

    sym_arena_init(&arena, 0);
    r = sym_api_create(api, &arena, &options, &call);
    if (r == NULL || sym_request_parse(r, UINT32_MAX) != SYM_OK
        || (answers
            && sym_request_answer(r, &view, &out, UINT32_MAX) != SYM_OK))
    {
        die("a body is refused", NULL);
    }

    if (answers) {
        b->frames += sym_request_stats(r)->frames;
        b->missing += sym_request_stats(r)->missing;
        b->answer_bytes += out.before + (uint64_t) (out.pos - b->window);
    }
    sym_arena_drop(&arena);
}


static double
time_all(bench_t *b, const sym_str_t *bodies, int n, int rounds, bool answers)
{
    double started = cpu_us();

    for (int i = 0; i < rounds * n; i++) {
        run(b, bodies[i % n], answers);
    }

    return (cpu_us() - started) / ((double) rounds * n);
}


int
main(int argc, char **argv)
{
    sym_error_t err = { 0 };
    bench_t b = { 0 };
    sym_str_t *bodies;
    double parse, all;
    int n = argc - 3, rounds;

    rounds = n < 1 ? 0 : (int) strtol(argv[2], NULL, 10);
    if (rounds < 1) {
        fprintf(stderr, "usage: bench_sentry STORE ROUNDS BODY.json...\n");
        return 2;
    }

    b.window = malloc(WINDOW);
    b.caches = sym_worker_cache_create(CACHE);
    bodies = calloc((size_t) n, sizeof(*bodies));
    if (b.window == NULL || b.caches == NULL || bodies == NULL) {
        die("no memory", NULL);
    }

    if (sym_store_open_read(argv[1], &b.store, &err) != SYM_OK
        || sym_snapshot_begin(b.store, &b.snapshot, &err) != SYM_OK)
    {
        die(argv[1], &err);
    }

    for (int i = 0; i < n; i++) {
        bodies[i] = read_file(argv[3 + i]);
    }

    (void) time_all(&b, bodies, n, WARMUP, true);
    b.frames = b.missing = b.answer_bytes = 0;
    parse = time_all(&b, bodies, n, rounds, false);
    all = time_all(&b, bodies, n, rounds, true);

    printf("%.2f us a request, parsing %.2f; %.0f frames, %.0f bytes of "
           "answer, %.0f modules missing\n",
           all, parse, (double) b.frames / (rounds * n),
           (double) b.answer_bytes / (rounds * n),
           (double) b.missing / (rounds * n));

    for (int i = 0; i < n; i++) {
        free((char *) (uintptr_t) bodies[i].data);
    }
    free(bodies);
    sym_snapshot_end(b.snapshot);
    sym_store_close(b.store);
    sym_worker_cache_free(b.caches);
    free(b.window);
    return 0;
}
