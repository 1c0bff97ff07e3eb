/*
 * bench_cfi - size of the unwind rules of a file, and cost of a lookup.
 *
 *     build/bench/bench_cfi FILE
 *
 * Converts the file in memory, and looks up a million random addresses between
 * its first row and its last.  Prints bytes, rows, rules, milliseconds of the
 * conversion, and nanoseconds of a lookup: median, least and most.
 */
#include "bench.h"

#include <string.h>

#include "artifacts/cfi/read/cfi.h"
#include "formats/formats.h"

#define ROUNDS 21
#define LOOKUPS 1000000u

typedef struct {
    sym_extent_view_t *extents;
    uint32_t n;
    uint64_t bytes;
} made_t;

static uint64_t sink; /* keeps the compiler from removing the work */


static sym_status_t
take(void *ctx, uint32_t number, const uint8_t *data, size_t len,
     sym_error_t *err)
{
    made_t *m = ctx;
    uint8_t *copy = malloc(len);

    if (number >= m->n) {
        m->extents = realloc(m->extents, (number + 1) * sizeof(*m->extents));
        m->n = number + 1;
    }

    if (copy == NULL || m->extents == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    memcpy(copy, data, len);
    m->extents[number] = (sym_extent_view_t){ copy, len };
    m->bytes += len;
    return SYM_OK;
}


static sym_status_t
get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const made_t *m = ctx;

    if (number >= m->n) {
        return SYM_NOT_FOUND;
    }

    *data = m->extents[number].data;
    *len = m->extents[number].len;
    return SYM_OK;
}


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    sym_writer_stats_t stats;

    return output->finish(output->writer, output->info, take, ctx, &stats, err);
}


static void
note(void *ctx, const char *format, ...)
{
    (void) ctx;
    (void) format;
}


static sym_status_t
no_companion(void *ctx, const sym_companion_t *wanted,
             sym_companion_file_t *file)
{
    (void) ctx;
    (void) wanted;
    (void) file;
    return SYM_NOT_FOUND;
}


static sym_status_t
no_more(void *ctx, sym_str_t *data, sym_error_t *err)
{
    (void) ctx;
    (void) err;
    *data = SYM_STR("");
    return SYM_OK;
}


/* CPU time of this thread; the machine may have other work. */
static double
cpu_s(void)
{
    struct timespec t;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}


static double
round_ns(const sym_cfi_t *c, uint32_t first, uint32_t span)
{
    sym_cfi_rules_t rules;
    uint64_t state = 1;
    double start = cpu_s();

    for (unsigned i = 0; i < LOOKUPS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;

        if (sym_cfi_lookup(c, first + (uint32_t) ((state >> 32) * span >> 32),
                           &rules)
            == SYM_OK)
        {
            sink += (uint64_t) rules.cfa.offset;
        }
    }

    return (cpu_s() - start) * 1e9 / LOOKUPS;
}


int
main(int argc, char **argv)
{
    const sym_format_services_t services = { .unpacked_max = UINT64_MAX,
                                             .companion = no_companion,
                                             .note = note };
    made_t made = { .n = 0 };
    sym_format_file_t f = { .services = &services,
                            .kinds = 1u << SYM_KIND_CFI,
                            .next = no_more,
                            .put = put,
                            .ctx = &made };
    sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS];
    sym_error_t err = { 0 };
    sym_conversion_format_t format;
    double rounds[ROUNDS], ms;
    uint32_t n = 0, first;
    sym_cfi_t c;
    char text[256];

    if (argc != 2) {
        fprintf(stderr, "usage: bench_cfi FILE\n");
        return 2;
    }

    f.data = read_file(argv[1]);
    format = sym_format_find((const uint8_t *) f.data.data, f.data.len);
    ms = cpu_s();

    if (format == SYM_CONVERSION_UNKNOWN
        || sym_format_of(format)->convert(&f, 0, &err) != SYM_OK
        || sym_cfi_open(&c, get, &made, &err) != SYM_OK
        || sym_cfi_page(&c, 0, rows, &n) != SYM_OK)
    {
        fprintf(stderr, "bench_cfi: %s: %s\n", argv[1],
                sym_error_text(&err, text, sizeof(text)));
        return 1;
    }

    ms = (cpu_s() - ms) * 1e3;
    sym_cfi_remember(&c, calloc(made.n, sizeof(sym_extent_view_t)));
    first = rows[0].address;
    (void) sym_cfi_page(&c, c.n_pages - 1, rows, &n);

    for (int i = -1; i < ROUNDS; i++) {
        double ns = round_ns(&c, first, rows[n - 1].address - first);

        rounds[i < 0 ? 0 : i] = ns;
    }

    qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_double);
    printf("bytes %llu rows %llu rules %u convert %.1f ms lookup %.1f ns (%.1f "
           ".. %.1f)\n",
           (unsigned long long) made.bytes, (unsigned long long) c.n_rows,
           c.n_rules, ms, rounds[ROUNDS / 2], rounds[0], rounds[ROUNDS - 1]);
    return sink == 42;
}
