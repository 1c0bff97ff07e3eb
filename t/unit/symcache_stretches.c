/*
 * A module is written in many stretches by one to four threads: the bytes are
 * the same, and each address has its own answer, also where a function overlaps
 * the next, where a symbol covers many stretches, and where numbers do not fit
 * 16 bits.
 */
#include "artifacts/symcache/write/shard.h"
#include "memory_extents.h"
#include "tap.h"
#include "thread_pool_kit.h"

/* Three stretches of functions, and three of symbols without functions. */
#define FUNCTIONS 36000u
#define SYMBOLS 60000u
#define STEP 0x40u
#define SYMBOLS_AT (FUNCTIONS * STEP + 0x1000)
#define WIDE_LINE 70000u

/* Every 7th function reaches into the next one. */
static uint32_t
size_of(uint32_t i)
{
    return i % 7 == 0 ? STEP + 8 : 0x20;
}


static uint32_t
text(sym_shard_t *part, const char *format, uint32_t i)
{
    char name[40];
    uint32_t id = SYM_NO_STRING;

    (void) snprintf(name, sizeof(name), format, i);
    (void) sym_shard_string(part, sym_cstr(name), false, &id);
    return id;
}


/* A call in it, and a call in that one; some calls are twins, some have no
 * position. */
static void
add_function(sym_shard_t *part, uint32_t i)
{
    const uint32_t addr = i * STEP;
    const uint32_t a = text(part, "a%u.c", i % 300), b = text(part, "b.h", 0);
    const sym_flat_node_t nodes[] = {
        { 0, text(part, "function%u", i), SYM_NO_STRING, 0 },
        { 0, text(part, "call%u", i % 1000), i % 5 == 0 ? SYM_NO_STRING : a,
          i % 5 == 0 ? 0 : 12 },
        { 1, text(part, "inner", 0), b, i % 11 == 0 ? WIDE_LINE : 3 },
    };
    const sym_segment_t segments[] = {
        { addr, 0, a, i + 1 },
        { addr + 4, 0, a, i + 1 }, /* has the same answer */
        { addr + 8, 2, b, i % 100 },
        { addr + 0xc, 1, b, 5 },
        { addr + 0x10, 0, SYM_NO_STRING, 0 },
    };

    (void) sym_shard_function(part,
                              &(sym_flat_function_t){ .addr = addr,
                                                      .size = size_of(i),
                                                      .nodes = nodes,
                                                      .n_nodes = 3,
                                                      .segments = segments,
                                                      .n_segments = 5 });
}


static void
write_by(unsigned threads, memory_extents_t *out, sym_writer_stats_t *stats)
{
    thread_pool_t pool = { .n = threads };
    const sym_thread_pool_t lent = { run, &pool };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    uint32_t id = 0;

    *out = (memory_extents_t){ 0 };
    sym_writer_lend(w, threads != 0 ? &lent : NULL);
    (void) sym_writer_string(w, SYM_STR("everything"), &id);
    (void) sym_writer_symbol(w, 4, SYMBOLS_AT - 0x14, id);

    for (uint32_t first = 0; first < FUNCTIONS; first += FUNCTIONS / 4) {
        sym_shard_t part;

        sym_shard_init(&part);
        for (uint32_t i = 0; i < FUNCTIONS / 4; i++) {
            add_function(&part, first + i);
        }
        (void) sym_writer_join(w, &part);
    }

    for (uint32_t i = 0; i < SYMBOLS; i++) {
        char name[20];

        (void) snprintf(name, sizeof(name), "symbol%u", i);
        (void) sym_writer_string(w, sym_cstr(name), &id);
        (void) sym_writer_public(w, SYMBOLS_AT + 8 * i, id);
    }
    (void) sym_writer_public(w, 0, id); /* a function keeps all of its range */

    is_status(
        sym_writer_finish(w, &(sym_module_info_t){ 0 }, memory_put, out, stats),
        SYM_OK, &err, "written");
    sym_writer_free(w);
}


static bool
is_count(const sym_writer_stats_t *a, const sym_writer_stats_t *b)
{
    return a->functions == b->functions && a->publics == b->publics
           && a->inlines == b->inlines && a->lines == b->lines
           && a->segments == b->segments && a->nodes == b->nodes
           && a->strings == b->strings && a->string_bytes == b->string_bytes
           && a->bytes == b->bytes && a->extents == b->extents
           && a->dropped == b->dropped && a->truncated == b->truncated
           && a->quality == b->quality;
}


static bool
is_same(const memory_extents_t *a, const memory_extents_t *b)
{
    bool same = a->n == b->n;

    for (uint32_t i = 0; same && i < a->n; i++) {
        same =
            a->extents[i].len == b->extents[i].len
            && memcmp(a->extents[i].data, b->extents[i].data, a->extents[i].len)
                   == 0;
    }

    return same;
}


/* "inner b.h:3 < outer a.c:12", or "". */
static const char *
answer_at(sym_symcache_t *sc, uint32_t addr)
{
    static char said[400], buf[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_level_t levels[SYM_LEVELS_MAX];
    sym_answer_t answer;
    size_t used = 0;

    said[0] = '\0';
    if (sym_symcache_lookup(sc, addr, levels, &answer) != SYM_OK) {
        return "damaged";
    }

    for (uint32_t i = 0; i < answer.n_levels; i++) {
        bool is_plain;
        size_t len = sym_symcache_string(sc, levels[i].name, buf, &is_plain);

        used += (size_t) snprintf(said + used, sizeof(said) - used, "%s%.*s",
                                  i == 0 ? "" : " < ", (int) len, buf);
        if (levels[i].file != SYM_NO_REF) {
            len = sym_symcache_string(sc, levels[i].file, buf, &is_plain);
            used +=
                (size_t) snprintf(said + used, sizeof(said) - used, " %.*s:%u",
                                  (int) len, buf, levels[i].line);
        }
    }

    return said;
}


/* The expected answer at an address, from add_function() and the symbols. */
static const char *
wanted_at(uint32_t addr)
{
    static char want[400];
    uint32_t i = addr / STEP, in = addr % STEP;

    if (addr >= SYMBOLS_AT) {
        (void) snprintf(want, sizeof(want), "symbol%u",
                        (addr - SYMBOLS_AT) / 8);
        return want;
    }

    if (addr >= SYMBOLS_AT - 0x10) {
        return "";
    }

    if (i >= FUNCTIONS || in >= size_of(i)) {
        return "everything"; /* after a function */
    }

    if (in < 8) {
        (void) snprintf(want, sizeof(want), "function%u a%u.c:%u", i, i % 300,
                        i + 1);
    } else if (in < 0x10) {
        char place[20] = "";
        char inner[40] = "";

        if (i % 5 != 0) {
            (void) snprintf(place, sizeof(place), " a%u.c:12", i % 300);
        }
        if (in < 0xc) {
            (void) snprintf(inner, sizeof(inner), "inner b.h:%u < ", i % 100);
        }
        (void) snprintf(want, sizeof(want), "%scall%u b.h:%u < function%u%s",
                        inner, i % 1000,
                        in >= 0xc     ? 5
                        : i % 11 == 0 ? WIDE_LINE
                                      : 3,
                        i, place);
    } else {
        (void) snprintf(want, sizeof(want), "function%u", i);
    }

    return want;
}


static void
test_answers(memory_extents_t *memory)
{
    sym_error_t err = { 0 };
    sym_symcache_t sc;
    uint32_t wrong = 0;

    is_status(sym_symcache_open(&sc, memory_get, memory, &err), SYM_OK, &err,
              "open");

    for (uint32_t addr = 0; addr < SYMBOLS_AT + 8 * SYMBOLS; addr += 4) {
        const char *said = answer_at(&sc, addr), *want = wanted_at(addr);

        if (strcmp(said, want) != 0 && wrong++ < 5) {
            printf("# at 0x%x: '%s', not '%s'\n", addr, said, want);
        }
    }

    is_u64(wrong, 0, "each address has its answer");
    is_u64(sc.damaged, 0, "nothing is damaged");
}


int
main(void)
{
    memory_extents_t first, other;
    sym_writer_stats_t stats = { 0 }, again = { 0 };

    write_by(0, &first, &stats);
    test_answers(&first);
    is_u64(stats.dropped, 1, "one symbol names nothing");
    is_u64(stats.segments,
           FUNCTIONS * 4 + SYMBOLS + FUNCTIONS - FUNCTIONS / 7 - 1,
           "no segment repeats the one before it");

    for (unsigned threads = 1; threads <= 4; threads++) {
        write_by(threads, &other, &again);
        ok(is_same(&first, &other), "%u threads write the same", threads);
        ok(is_count(&stats, &again), "... and count it");
        memory_free(&other);
    }

    memory_free(&first);
    return done_testing();
}
