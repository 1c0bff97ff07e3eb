/*
 * bench_positions - cost of one lookup by two numbers, from a store.
 *
 *     build/bench/bench_positions ppdb|sourcemap STORE NAME ID <LOOKUPS
 *
 * LOOKUPS: per line a .NET method and an offset, or a line and a column of a
 * script, hexadecimal.  Each round answers all of them, in order, down to file and
 * line, in one snapshot with a newly opened artifact.  Prints nanoseconds per
 * lookup: median, minimum and maximum.
 */
#include "bench.h"
#include "store/write_object.h"
#include "artifacts/ppdb/read/il.h"
#include "artifacts/sourcemap/read/sourcemap.h"

#define ROUNDS 21
#define WARMUP 2

typedef struct {
    uint32_t a, b;
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


static question_t *
read_questions(size_t *n)
{
    question_t *all = NULL;
    size_t size = 0;
    char line[64];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        char *rest;
        uint32_t a = (uint32_t) strtoul(line, &rest, 16);
        uint32_t b = (uint32_t) strtoul(rest, NULL, 16);

        if (*n == size) {
            size = size * 2 + 1024;
            all = realloc(all, size * sizeof(*all));
            if (all == NULL) {
                perror("bench_positions");
                exit(1);
            }
        }

        all[(*n)++] = (question_t){ a, b };
    }

    return all;
}


static void
ask_ppdb(const sym_extent_source_t *extents, const question_t *questions,
         size_t n)
{
    sym_arena_t arena = { 0 };
    sym_error_t err = { 0 };
    sym_il_frame_t frame;
    sym_ppdb_t ppdb;

    if (sym_il_open(&ppdb, &arena, extents, &err) != SYM_OK) {
        die("open", &err);
    }

    for (size_t i = 0; i < n; i++) {
        if (sym_il_answer(&ppdb, questions[i].a, questions[i].b, &frame)
            == SYM_OK) {
            sink += frame.line + frame.file.len;
        }
    }

    sym_arena_drop(&arena);
}


static void
ask_sourcemap(const sym_extent_source_t *extents, const question_t *questions,
              size_t n)
{
    sym_extent_view_t *views = calloc(extents->n, sizeof(*views));
    sym_error_t err = { 0 };
    sym_sourcemap_source_t file;
    sym_sourcemap_token_t token;
    sym_sourcemap_t map;

    if (views == NULL
        || sym_sourcemap_open(&map, extents->get, extents->ctx, &err) != SYM_OK)
    {
        die("open", &err);
    }

    sym_sourcemap_remember(&map, views);
    for (size_t i = 0; i < n; i++) {
        if (sym_sourcemap_lookup(&map, questions[i].a, questions[i].b, &token)
                == SYM_OK
            && sym_sourcemap_source(&map, token.source, &file) == SYM_OK)
        {
            sink += token.source_line + file.name.len;
        }
    }

    free(views);
}


static const struct {
    const char *name;
    sym_kind_t kind;
    void (*ask)(const sym_extent_source_t *extents, const question_t *questions,
                size_t n);
} kinds[] = {
    { "ppdb", SYM_KIND_PPDB, ask_ppdb },
    { "sourcemap", SYM_KIND_SOURCEMAP, ask_sourcemap },
};

static double
round_ns(unsigned kind, source_t *source, const question_t *questions, size_t n)
{
    const sym_extent_source_t extents = { .get = get,
                                          .ctx = source,
                                          .n = source->n_extents };
    double start = now_s();

    kinds[kind].ask(&extents, questions, n);
    return (now_s() - start) * 1e9 / (double) n;
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
    unsigned kind = 0;
    size_t n = 0;

    while (argc == 5 && kind < 2 && strcmp(argv[1], kinds[kind].name) != 0) {
        kind++;
    }

    if (argc != 5 || kind == 2) {
        fprintf(stderr, "usage: bench_positions ppdb|sourcemap STORE NAME ID "
                        "<LOOKUPS\n");
        return 2;
    }

    sym_module_key_t key = { .scope = SYM_STR(""),
                             .name = sym_cstr(argv[3]),
                             .id = sym_cstr(argv[4]) };
    sym_object_ref_named(&ref, key.name, key.id);
    if (sym_store_open_read(argv[2], &store, &err) != SYM_OK
        || sym_snapshot_begin(store, &source.snapshot, &err) != SYM_OK
        || sym_snapshot_object(source.snapshot, key.scope, &ref,
                               kinds[kind].kind, &record, &err)
               != SYM_OK)
    {
        die(argv[2], &err);
    }

    source.module_id = record.module_id;
    source.n_extents = record.extents;
    questions = read_questions(&n);

    for (int i = -WARMUP; i < ROUNDS; i++) {
        double ns = round_ns(kind, &source, questions, n);

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
