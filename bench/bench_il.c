/*
 * bench_il - cost of one lookup of an offset in a .NET method, from a store.
 *
 *     build/bench/bench_il STORE NAME ID <LOOKUPS
 *
 * LOOKUPS: a method and an offset per line, hexadecimal.  Each round answers
 * all of them, in order, down to file and line, in one snapshot with a newly
 * opened artifact.  Prints nanoseconds per lookup: median, minimum and maximum.
 */
#include "bench.h"
#include "store/write_object.h"
#include "artifacts/ppdb/read/il.h"

#define ROUNDS 21
#define WARMUP 2

typedef struct {
    uint32_t method, offset;
} question_t;

typedef struct {
    sym_snapshot_t *snapshot;
    uint64_t module_id;
    uint32_t n_extents;
} source_t;

static uint64_t sink; /* keeps the compiler from removing the work */


static sym_status_t
get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    source_t *s = ctx;

    return sym_snapshot_extent(s->snapshot, s->module_id, number, data, len);
}


static int
compare_double(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


static void
die(const char *what, const sym_error_t *err)
{
    char text[256];

    fprintf(stderr, "bench_il: %s: %s\n", what,
            sym_error_text(err, text, sizeof(text)));
    exit(1);
}


static question_t *
read_questions(size_t *n)
{
    question_t *all = NULL;
    size_t size = 0;
    char line[64];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        char *rest;
        uint32_t method = (uint32_t) strtoul(line, &rest, 16);
        uint32_t offset = (uint32_t) strtoul(rest, NULL, 16);

        if (*n == size) {
            size = size * 2 + 1024;
            all = realloc(all, size * sizeof(*all));
            if (all == NULL) {
                perror("bench_il");
                exit(1);
            }
        }

        all[(*n)++] = (question_t){ method, offset };
    }

    return all;
}


static double
round_ns(source_t *source, const question_t *questions, size_t n)
{
    const sym_extent_source_t extents = { .get = get,
                                          .ctx = source,
                                          .n = source->n_extents };
    sym_arena_t arena = { 0 };
    sym_error_t err = { 0 };
    sym_il_frame_t frame;
    sym_ppdb_t ppdb;
    double start = now_s();

    if (sym_il_open(&ppdb, &arena, &extents, &err) != SYM_OK) {
        die("open", &err);
    }

    for (size_t i = 0; i < n; i++) {
        if (sym_il_answer(&ppdb, questions[i].method, questions[i].offset,
                          &frame)
            == SYM_OK)
        {
            sink += frame.line + frame.file.len;
        }
    }

    start = (now_s() - start) * 1e9 / (double) n;
    sym_arena_drop(&arena);
    return start;
}


int
main(int argc, char **argv)
{
    sym_error_t err = { 0 };
    sym_object_record_t record;
    sym_object_ref_t ref;
    question_t *questions;
    sym_store_t *store;
    double rounds[ROUNDS];
    source_t source;
    size_t n = 0;

    if (argc != 4) {
        fprintf(stderr, "usage: bench_il STORE NAME ID <QUESTIONS\n");
        return 2;
    }

    sym_module_key_t key = { .scope = SYM_STR(""),
                             .name = sym_cstr(argv[2]),
                             .id = sym_cstr(argv[3]) };
    sym_object_ref_named(&ref, key.name, key.id);
    if (sym_store_open_read(argv[1], &store, &err) != SYM_OK
        || sym_snapshot_begin(store, &source.snapshot, &err) != SYM_OK
        || sym_snapshot_object(source.snapshot, key.scope, &ref, SYM_KIND_PPDB,
                               &record, &err)
               != SYM_OK)
    {
        die(argv[1], &err);
    }

    source.module_id = record.module_id;
    source.n_extents = record.extents;
    questions = read_questions(&n);

    for (int i = -WARMUP; i < ROUNDS; i++) {
        double ns = round_ns(&source, questions, n);

        if (i >= 0) {
            rounds[i] = ns;
        }
    }

    qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_double);
    printf("lookup %.1f ns (%.1f .. %.1f)\n", rounds[ROUNDS / 2], rounds[0],
           rounds[ROUNDS - 1]);
    sym_snapshot_end(source.snapshot);
    sym_store_close(store);
    free(questions);
    return sink == 42;
}
