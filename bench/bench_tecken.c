/*
 * bench_tecken - cost of a v5 request, step by step, compared with jansson.
 *
 *     build/bench/bench_tecken STORE BODY.json...
 *
 * For each body (bench/bodies makes some whose frames all hit) it measures
 * jansson alone, our general reader, the reader for the usual form, and
 * everything from the body to the answer from STORE, with an empty and with a
 * warm answer cache.  They take turns in each round, so that a disturbance
 * affects all of them.  Prints the median of nanoseconds per frame, and the
 * answer's rate as a multiple of jansson's.
 */
#include <jansson.h>

#include "bench.h"
#include "api/tecken/tecken.h"

#define ROUNDS 31
#define WARMUP 3
#define ROUND_NS 2e6 /* a measurement is repeated until it took this long */
#define WINDOW 65536
#define RECENT ((size_t) 16 << 20)

typedef enum { JANSSON, GENERAL, DIRECT, WHOLE, AGAIN, WAYS } way_t;

typedef struct {
    sym_str_t body;
    sym_store_t *store;
    sym_snapshot_t *snapshot;
    sym_worker_cache_t *kept;
    sym_arena_t arena;
    char *window;
    uint32_t frames;
    uint64_t answer_bytes;
    uint64_t missing;
} bench_t;


/* Processor time of this process; others on the machine do not count. */
static double
cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
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
run_jansson(const bench_t *b)
{
    json_t *json = json_loadb(b->body.data, b->body.len, 0, NULL);

    if (json == NULL) {
        die("a body is not JSON", NULL);
    }

    json_decref(json);
}


static void
run_ours(bench_t *b, way_t way)
{
    static const sym_tecken_options_t options = { .version = 5,
                                                  .common.now_s = now_s };
    const sym_view_t view = { b->snapshot, way == AGAIN ? b->kept : NULL, 1 };
    sym_out_t out = { .more = more, .ctx = b };
    sym_request_t *t = sym_tecken_create(&b->arena, &options, b->body);
    sym_status_t rc = SYM_NOMEM;

    if (t != NULL) {
        rc = way == GENERAL ? sym_tecken_parse_general(t)
                            : sym_request_parse(t, UINT32_MAX);
    }

    if (rc == SYM_OK && (way == WHOLE || way == AGAIN)) {
        rc = sym_request_answer(t, &view, &out, UINT32_MAX);
        b->answer_bytes = out.before + (uint64_t) (out.pos - b->window);
    }

    if (rc != SYM_OK) {
        die("a body is refused", NULL);
    }

    b->frames = sym_request_stats(t)->frames;
    b->missing = sym_request_stats(t)->missing;
    sym_arena_drop(&b->arena);
}


/* Nanoseconds of one pass, of processor time. */
static double
time_way(bench_t *b, way_t way)
{
    double started = cpu_ns(), spent;
    unsigned n = 0;

    do {
        if (way == JANSSON) {
            run_jansson(b);
        } else {
            run_ours(b, way);
        }
        n++;
        spent = cpu_ns() - started;
    } while (spent < ROUND_NS);

    return spent / n;
}


static void
measure(bench_t *b, const char *name)
{
    static double times[WAYS][ROUNDS];
    double frames;

    for (int round = -WARMUP; round < ROUNDS; round++) {
        for (int way = 0; way < WAYS; way++) {
            times[way][round < 0 ? 0 : round] = time_way(b, (way_t) way);
        }
    }

    for (int way = 0; way < WAYS; way++) {
        qsort(times[way], ROUNDS, sizeof(double), compare_double);
    }

    frames = b->frames;
    printf("%s: %u frames, %llu bytes of answer, %llu modules missing\n", name,
           b->frames, (unsigned long long) b->answer_bytes,
           (unsigned long long) b->missing);
    printf("  ns/frame: jansson %.1f, general %.1f, direct %.1f, answer %.1f, "
           "again %.1f; %.2f and %.2f x jansson\n",
           times[JANSSON][ROUNDS / 2] / frames,
           times[GENERAL][ROUNDS / 2] / frames,
           times[DIRECT][ROUNDS / 2] / frames,
           times[WHOLE][ROUNDS / 2] / frames, times[AGAIN][ROUNDS / 2] / frames,
           times[JANSSON][ROUNDS / 2] / times[WHOLE][ROUNDS / 2],
           times[JANSSON][ROUNDS / 2] / times[AGAIN][ROUNDS / 2]);
}


int
main(int argc, char **argv)
{
    sym_error_t err = { 0 };
    bench_t b = { 0 };

    if (argc < 3) {
        fprintf(stderr, "usage: bench_tecken STORE BODY.json...\n");
        return 2;
    }

    b.window = malloc(WINDOW);
    if (b.window == NULL) {
        die("no memory", NULL);
    }

    b.kept = sym_worker_cache_create(RECENT);
    if (b.kept == NULL) {
        die("no memory", NULL);
    }

    if (sym_store_open_read(argv[1], &b.store, &err) != SYM_OK
        || sym_snapshot_begin(b.store, &b.snapshot, &err) != SYM_OK)
    {
        die(argv[1], &err);
    }

    for (int i = 2; i < argc; i++) {
        b.body = read_file(argv[i]);
        sym_arena_init(&b.arena, 0);
        measure(&b, argv[i]);
        free((char *) (uintptr_t) b.body.data);
    }

    sym_snapshot_end(b.snapshot);
    sym_store_close(b.store);
    sym_worker_cache_free(b.kept);
    free(b.window);
    return 0;
}
