/*
 * A file of several chunks, read by one to five threads.  Output and counters
 * must be the same byte for byte, also when .debug_info arrives piece by piece
 * while it is read.
 */
#include "base/gauge.h"
#include "thread_pool_kit.h"
#include "dwarf_kit.h"
#include "memory_extents.h"
#include "tap.h"

enum { UNIT = 1, FUNCTION, CALL };

#define AT_PRODUCER 0x25

/* Some 11 MB: three chunks. */
#define UNITS 60000

/* Functions that name calls are this many units ahead, in another chunk. */
#define NAMED_BY (UNITS / 2)

/* Positions in the unit that differ from unit to unit. */
typedef struct {
    size_t function, name, addr, named_by, call_addr;
} places_t;

/* One unit, which is then repeated. */
static kit_t
kit(places_t *at)
{
    static const char padding[100];
    kit_t k = { .version = 4, .offset_size = 4, .addr_size = 8 };
    size_t start;

    ABBREV(&k, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1,
           AT_PRODUCER, DW_FORM_block1);
    ABBREV(&k, FUNCTION, DW_TAG_subprogram, true, DW_AT_linkage_name,
           DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
           DW_FORM_data1);
    ABBREV(&k, CALL, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin,
           DW_FORM_ref_addr, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
           DW_FORM_data1, DW_AT_call_line, DW_FORM_data1);

    start = open_unit(&k, 0);
    uleb(&k.info, UNIT);
    put(&k, &k.info, DW_LANG_C99, 1);
    put(&k, &k.info, sizeof(padding), 1);
    memcpy(k.info.data + k.info.n, padding, sizeof(padding));
    k.info.n += sizeof(padding);

    at->function = k.info.n;
    uleb(&k.info, FUNCTION);
    at->name = text(&k.info, "function00000");
    at->addr = k.info.n;
    PUT_ADDR(&k, &k.info, 0);
    put(&k, &k.info, 16, 1);
    uleb(&k.info, CALL);
    at->named_by = k.info.n;
    put(&k, &k.info, 0, 4);
    at->call_addr = k.info.n;
    PUT_ADDR(&k, &k.info, 0);
    put(&k, &k.info, 4, 1);
    put(&k, &k.info, 7, 1);
    put(&k, &k.info, 0, 2);
    close_length(&k, &k.info, start);
    return k;
}


static char *
units_of(const kit_t *k, const places_t *at)
{
    char *info = calloc(UNITS, k->info.n);

    for (uint64_t i = 0; i < UNITS; i++) {
        char *unit = info + i * k->info.n, name[16];
        uint64_t addr = 0x1000 + 16 * i, call = addr + 4;
        uint32_t named_by =
            (uint32_t) ((i + NAMED_BY) % UNITS * k->info.n + at->function);

        memcpy(unit, k->info.data, k->info.n);
        /* some names occur in more chunks than one */
        (void) snprintf(name, sizeof(name), "function%05u",
                        (unsigned) (i % 30011));
        memcpy(unit + at->name, name, 14);
        memcpy(unit + at->addr, &addr, sizeof(addr));
        memcpy(unit + at->call_addr, &call, sizeof(call));
        memcpy(unit + at->named_by, &named_by, sizeof(named_by));
    }

    return info;
}


static void
read_by(const sym_dwarf_input_t *in, unsigned threads, memory_extents_t *out,
        sym_dwarf_stats_t *stats)
{
    thread_pool_t pool = { .n = threads };
    const sym_thread_pool_t lent = { run, &pool };
    sym_dwarf_input_t with = *in;
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);

    with.pool = threads != 0 ? &lent : NULL;
    sym_writer_lend(w, with.pool);
    *out = (memory_extents_t){ 0 };
    is_status(sym_dwarf_read(&with, w, stats, &err), SYM_OK, &err, "read");
    is_status(
        sym_writer_finish(w, &(sym_module_info_t){ 0 }, memory_put, out, NULL),
        SYM_OK, &err, "written");
    sym_writer_free(w);
}


static bool
is_same(const memory_extents_t *a, const memory_extents_t *b)
{
    if (a->n != b->n) {
        return false;
    }

    for (uint32_t i = 0; i < a->n; i++) {
        if (a->extents[i].len != b->extents[i].len
            || memcmp(a->extents[i].data, b->extents[i].data, a->extents[i].len)
                   != 0)
        {
            return false;
        }
    }

    return true;
}


/* --- bytes that arrive while they are read --- */

#define STEP ((size_t) 100000)

typedef struct {
    const char *from;
    char *to;
    size_t len;
    bool is_begun; /* atomic */
    bool has_failed;
    sym_gauge_t there;
} supply_t;

/* One thread supplies the bytes, the others read. */
static void
bring(void *ctx)
{
    supply_t *s = ctx;

    if (__atomic_exchange_n(&s->is_begun, true, __ATOMIC_RELAXED)) {
        return;
    }

    for (size_t at = 0, n; at < s->len; at += n) {
        n = s->len - at < STEP ? s->len - at : STEP;
        memcpy(s->to + at, s->from + at, n);
        sym_gauge_add(&s->there, n);
    }

    sym_gauge_add(&s->there, SYM_GAUGE_END);
}


static bool
wait_for(void *ctx, uint64_t n)
{
    supply_t *s = ctx;

    sym_gauge_wait(&s->there, n);
    return !s->has_failed || n <= s->len;
}


/* Only `len` bytes arrive. */
static void
read_supplied(const sym_dwarf_input_t *in, size_t len, unsigned threads,
              memory_extents_t *out, sym_dwarf_stats_t *stats)
{
    size_t all = in->sections.info.len;
    supply_t s = { .from = in->sections.info.data,
                   .to = malloc(all),
                   .len = len,
                   .has_failed = len < all };
    const sym_dwarf_supply_t supply = { bring, wait_for, &s };
    sym_dwarf_input_t with = *in;

    memset(s.to, 0xff, all);
    sym_gauge_init(&s.there, 0);
    with.sections.info.data = s.to;
    with.supply = &supply;
    read_by(&with, threads, out, stats);
    sym_gauge_free(&s.there);
    free(s.to);
}


static void
test_supply(const sym_dwarf_input_t *in, const memory_extents_t *alone,
            const sym_dwarf_stats_t *stats)
{
    memory_extents_t others;
    sym_dwarf_stats_t other_stats;

    for (unsigned threads = 0; threads <= THREADS_MAX; threads++) {
        read_supplied(in, in->sections.info.len, threads, &others,
                      &other_stats);
        ok(is_same(alone, &others), "%u threads that wait write the same",
           threads);
        ok(memcmp(stats, &other_stats, sizeof(other_stats)) == 0,
           "and count the same");
        memory_free(&others);
    }

    read_supplied(in, in->sections.info.len / 2, 2, &others, &other_stats);
    ok(other_stats.units < UNITS, "bytes that never arrive are not read");
    is_u64(other_stats.units_broken, 0, "and nothing else instead");
    memory_free(&others);
}


int
main(void)
{
    places_t at;
    kit_t k = kit(&at);
    char *info = units_of(&k, &at);
    sym_dwarf_input_t in = { .sections = kit_sections(&k) };
    memory_extents_t alone, others;
    sym_dwarf_stats_t stats, other_stats;

    in.sections.info = sym_str(info, UNITS * k.info.n);
    read_by(&in, 0, &alone, &stats);
    is_u64(stats.units, UNITS, "all units");
    is_u64(stats.functions, UNITS, "all functions");
    is_u64(stats.inlines, UNITS, "all calls");
    is_u64(stats.names_missing, 0, "all names");

    for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
        read_by(&in, threads, &others, &other_stats);
        ok(is_same(&alone, &others), "%u threads write the same", threads);
        ok(memcmp(&stats, &other_stats, sizeof(stats)) == 0,
           "and count the same");
        memory_free(&others);
    }

    test_supply(&in, &alone, &stats);
    memory_free(&alone);
    free(info);
    return done_testing();
}
