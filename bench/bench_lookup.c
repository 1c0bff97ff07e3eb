/*
 * bench_lookup - cost of one address lookup, from a store.
 *
 *     build/bench/bench_lookup STORE NAME ID [LOOKUPS]
 *
 * Addresses are drawn evenly from the part of the address space where the
 * module has code.  Each round looks all of them up in one snapshot with a
 * newly opened symcache; the first rounds are not counted, so pages are
 * resident ("hot"), though for a large module not in the processor's cache.
 * Prints nanoseconds per lookup, decoded down to file and line of every inlined
 * call, and again with every name unpacked: median, minimum and maximum of the
 * rounds.
 */
#include "bench.h"
#include "store/write_object.h"
#include "artifacts/symcache/read/reader.h"

#define ROUNDS 21
#define WARMUP 2
#define GROUP 16 /* like requests */

typedef struct {
    sym_snapshot_t *snapshot;
    uint64_t module_id;
} source_t;

typedef enum { SINGLE, LOOKUP, NAMES } what_t;

static uint64_t sink; /* keeps the compiler from removing the work */

static sym_status_t
get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    source_t *s = ctx;

    return sym_snapshot_extent(s->snapshot, s->module_id, number, data, len);
}


static uint64_t
random64(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}


static int
compare_u32(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


static void
open_module(sym_symcache_t *sc, source_t *source, sym_extent_view_t **table)
{
    sym_error_t err = { 0 };

    if (sym_symcache_open(sc, get, source, &err) != SYM_OK) {
        die("open", &err);
    }

    *table = calloc(sc->n_extents, sizeof(**table));
    sym_symcache_remember(sc, *table);
}


/* Draws addresses that have a line: addresses after the last public symbol
 * belong to it, too, but are cheap to look up. */
static void
draw(source_t *source, uint32_t *addrs, size_t n)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    uint64_t state = 88172645463325252u, limit = (uint64_t) 1 << 32;
    sym_extent_view_t *table;
    sym_answer_t answer;
    sym_symcache_t sc;

    open_module(&sc, source, &table);

    for (size_t got = 0, tries = 0; got < n; tries++) {
        uint64_t addr = random64(&state) % limit;

        if (tries == 2048 && got < 1024 && limit > 4096) {
            limit /= 2; /* mostly empty: look lower */
            got = tries = 0;
        }

        (void) sym_symcache_lookup(&sc, addr, levels, &answer);
        if (answer.n_levels != 0 && levels[0].line != 0) {
            addrs[got++] = (uint32_t) addr;
        }
    }

    free(table);
}


static double
round_ns(source_t *source, const uint32_t *addrs, size_t n, what_t what)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_probe_t group[GROUP];
    sym_extent_view_t *table;
    sym_answer_t answer;
    sym_symcache_t sc;
    bool is_plain;
    double start;

    open_module(&sc, source, &table);
    start = now_s();

    for (size_t i = 0; i < n; i++) {
        if (what == SINGLE) {
            (void) sym_symcache_lookup(&sc, addrs[i], levels, &answer);
        } else {
            if (i % GROUP == 0) {
                uint32_t m = n - i < GROUP ? (uint32_t) (n - i) : GROUP;

                for (uint32_t k = 0; k < m; k++) {
                    sym_symcache_seek(&sc, addrs[i + k], &group[k]);
                }
                sym_symcache_lead(group, m);
            }
            if (i % GROUP == 0
                || !sym_symcache_is_same(&group[i % GROUP],
                                         &group[i % GROUP - 1]))
            {
                (void) sym_symcache_answer(&group[i % GROUP], levels, &answer);
            }
        }
        sink += answer.function_addr + levels[0].line + answer.n_levels;

        for (uint32_t k = 0; what == NAMES && k < answer.n_levels; k++) {
            sink += sym_symcache_string(&sc, levels[k].name, text, &is_plain);
            sink += sym_symcache_string(&sc, levels[k].file, text, &is_plain);
        }
    }

    start = (now_s() - start) * 1e9 / (double) n;
    free(table);
    return start;
}


static void
measure(source_t *source, const char *label, const uint32_t *addrs, size_t n,
        what_t what)
{
    double rounds[ROUNDS];

    for (int i = -WARMUP; i < ROUNDS; i++) {
        double ns = round_ns(source, addrs, n, what);

        if (i >= 0) {
            rounds[i] = ns;
        }
    }

    qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_double);
    printf("%-24s %8.1f ns  (%.1f .. %.1f)\n", label, rounds[ROUNDS / 2],
           rounds[0], rounds[ROUNDS - 1]);
}


int
main(int argc, char **argv)
{
    sym_error_t err = { 0 };
    sym_object_record_t record;
    sym_object_ref_t ref;
    sym_symcache_counts_t counts;
    sym_extent_view_t *table;
    sym_symcache_t sc;
    sym_store_t *store;
    source_t source;
    uint32_t *addrs;
    size_t n;

    if (argc < 4) {
        fprintf(stderr, "usage: bench_lookup STORE NAME ID [LOOKUPS]\n");
        return 2;
    }

    n = argc > 4 ? strtoul(argv[4], NULL, 10) : 200000;
    addrs = calloc(n, sizeof(*addrs));

    sym_module_key_t key = { .scope = SYM_STR(""),
                             .name = sym_cstr(argv[2]),
                             .id = sym_cstr(argv[3]) };
    sym_object_ref_named(&ref, key.name, key.id);
    if (sym_store_open_read(argv[1], &store, &err) != SYM_OK
        || sym_snapshot_begin(store, &source.snapshot, &err) != SYM_OK
        || sym_snapshot_object(source.snapshot, key.scope, &ref,
                               SYM_KIND_SYMCACHE, &record, &err)
               != SYM_OK)
    {
        die(argv[1], &err);
    }

    source.module_id = record.module_id;
    open_module(&sc, &source, &table);
    sym_symcache_counts(&sc, &counts);
    free(table);
    printf("%s: %llu functions, %llu segments, %llu nodes, %llu bytes\n",
           argv[2], (unsigned long long) counts.functions,
           (unsigned long long) counts.segments,
           (unsigned long long) counts.nodes, (unsigned long long) sc.bytes);

    draw(&source, addrs, n);
    measure(&source, "random, one by one", addrs, n, SINGLE);
    measure(&source, "random, lookup", addrs, n, LOOKUP);
    measure(&source, "random, with names", addrs, n, NAMES);
    qsort(addrs, n, sizeof(*addrs), compare_u32);
    measure(&source, "sorted, one by one", addrs, n, SINGLE);
    measure(&source, "sorted, lookup", addrs, n, LOOKUP);
    measure(&source, "sorted, with names", addrs, n, NAMES);

    sym_snapshot_end(source.snapshot);
    sym_store_close(store);
    free(addrs);
    return sink == 42;
}
