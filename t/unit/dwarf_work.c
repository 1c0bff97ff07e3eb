/*
 * Few bytes that cause much work: the work is counted, and stays within the
 * budget of docs/formats/dwarf.md, 4.
 */
#include <string.h>
#include <time.h>

#include "dwarf_kit.h"
#include "fake_writer.h"
#include "tap.h"

enum { UNIT = 1, WHOLE, CALL, PARTED, LINED };

#define CODE(k, code) uleb(&(k)->info, (code))
#define END(k) put((k), &(k)->info, 0, 1)

/* Calls of the writer. */
typedef struct {
    size_t records, nodes, segments;
} work_t;

static sym_dwarf_stats_t stats;


static work_t
work_of_sections(sym_dwarf_sections_t sections)
{
    sym_dwarf_input_t in = { .sections = sections };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    work_t work = { 0 };

    is_status(sym_dwarf_read(&in, w, &stats, &err), SYM_OK, &err, "read");
    work.records = w->n_records;
    for (size_t i = 0; i < w->n_records; i++) {
        work.nodes += w->records[i].flat.n_nodes;
        work.segments += w->records[i].flat.n_segments;
    }

    sym_writer_free(w);
    return work;
}


static work_t
work_of(const kit_t *k)
{
    return work_of_sections(kit_sections(k));
}


static uint64_t
budget_of(const kit_t *k)
{
    return (1u << 20)
           + SYM_DWARF_REREAD_MAX
                 * (uint64_t) (k->info.n + k->abbrev.n + k->line.n
                               + k->ranges.n);
}


static uint64_t
price_of(work_t work)
{
    return work.records * SYM_DWARF_RECORD_PRICE
           + work.nodes * SYM_DWARF_NODE_PRICE
           + work.segments * SYM_DWARF_SEGMENT_PRICE;
}


/* The budget ended the work. */
static void
is_bounded(const kit_t *k, work_t work, const char *name)
{
    ok(price_of(work) <= budget_of(k),
       "%s: %zu records, %zu nodes, %zu "
       "segments are within the budget",
       name, work.records, work.nodes, work.segments);
    ok(stats.units_broken != 0, "%s: a unit is given up", name);
    is_u64(stats.first_broken.status, SYM_LIMIT, name);
}


static kit_t
kit(void)
{
    kit_t k = { .version = 4, .offset_size = 4, .addr_size = 8 };

    ABBREV(&k, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1,
           DW_AT_low_pc, DW_FORM_addr);
    ABBREV(&k, WHOLE, DW_TAG_subprogram, true, DW_AT_low_pc, DW_FORM_addr,
           DW_AT_high_pc, DW_FORM_data4);
    ABBREV(&k, CALL, DW_TAG_inlined_subroutine, true, DW_AT_low_pc,
           DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4);
    ABBREV(&k, PARTED, DW_TAG_subprogram, false, DW_AT_ranges,
           DW_FORM_sec_offset);
    return k;
}


static size_t
begin_unit(kit_t *k, unsigned language)
{
    size_t start = open_unit(k, 0);

    CODE(k, UNIT);
    put(k, &k->info, language, 1);
    PUT_ADDR(k, &k->info, 0x1000);
    return start;
}


static void
put_ranges(kit_t *k, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        put(k, &k->ranges, 32 * i + 16, 8);
        put(k, &k->ranges, 32 * i + 32, 8);
    }
    put(k, &k->ranges, 0, 16);
}


static void
put_whole(kit_t *k, unsigned code, unsigned size)
{
    CODE(k, code);
    PUT_ADDR(k, &k->info, 0x1000);
    put(k, &k->info, size, 4);
}


/* Nested calls, all cut into pieces by another function: each piece is a record
 * with all of the calls. */
static void
test_calls_by_ranges(void)
{
    enum { DEPTH = 400, RANGES = 400 };
    kit_t k = kit();
    size_t start = begin_unit(&k, DW_LANG_C99);
    work_t work;

    put_ranges(&k, RANGES);
    put_whole(&k, WHOLE, 32 * RANGES);
    for (unsigned i = 0; i < DEPTH; i++) {
        put_whole(&k, CALL, 32 * RANGES);
    }
    for (unsigned i = 0; i < DEPTH + 1; i++) {
        END(&k);
    }
    CODE(&k, PARTED);
    put(&k, &k.info, 0, 4);
    END(&k);
    close_length(&k, &k.info, start);

    work = work_of(&k);
    is_bounded(&k, work, "calls by ranges");
    ok(price_of(work) > budget_of(&k) / 2, "most of the budget was used");
}


/* Many units read the same long list of ranges.  Once the budget is spent it is
 * not read again. */
static void
test_lists_by_units(void)
{
    enum { UNITS = 200, RANGES = 500 };
    kit_t k = kit();
    work_t work;

    put_ranges(&k, RANGES);
    for (unsigned i = 0; i < UNITS; i++) {
        size_t start = begin_unit(&k, DW_LANG_C99);

        CODE(&k, PARTED);
        put(&k, &k.info, 0, 4);
        END(&k);
        close_length(&k, &k.info, start);
    }

    work = work_of(&k);
    is_bounded(&k, work, "lists by units");
    ok(stats.functions < UNITS, "%u units, of which %u were read", UNITS,
       (unsigned) stats.functions);
}


/* Many units share a line table, and each walks all of it. */
static void
test_lines_by_units(void)
{
    enum { UNITS = 250, ROWS = 7000 };
    kit_t k = kit();
    size_t header, start = open_lines(&k, &header);

    set_address(&k, 0x1000);
    for (unsigned i = 0; i < ROWS; i++) {
        put(&k, &k.line, 0xff, 1); /* a row at some later address */
    }
    end_sequence(&k, 2);
    close_length(&k, &k.line, start);

    ABBREV(&k, LINED, DW_TAG_compile_unit, true, DW_AT_stmt_list,
           DW_FORM_sec_offset);
    for (unsigned i = 0; i < UNITS; i++) {
        start = open_unit(&k, 0);
        CODE(&k, LINED);
        put(&k, &k.info, 0, 4);
        END(&k);
        close_length(&k, &k.info, start);
    }

    is_bounded(&k, work_of(&k), "lines by units");
    is_u64(stats.rows, ROWS, "the table was read once");
}


/* Puts the kit's bytes into a section with more room. */
static void
move(kit_t *k, uint8_t *to, size_t *n)
{
    memcpy(to + *n, k->info.data, k->info.n);
    *n += k->info.n;
    k->info.n = 0;
}


/* DWARF 2: calls outside of their function, each before all of them.  Searching
 * the function around each would visit all of them: 20,000,000,000 steps. */
static void
test_calls_outside(void)
{
    enum { CALLS = 200000, CALL_BYTES = 14, COLD = 0x100000, SIZE = 1 << 20 };
    static uint8_t info[CALLS * CALL_BYTES + 256];
    kit_t k = kit();
    kit_t length = { .offset_size = 4 };
    sym_dwarf_sections_t sections;
    size_t n = 0;
    clock_t before;
    work_t work;

    k.version = 2;
    (void) begin_unit(&k, DW_LANG_C89);
    put_whole(&k, WHOLE, 16);
    for (unsigned i = 0; i < CALLS; i++) {
        CODE(&k, CALL);
        PUT_ADDR(&k, &k.info, COLD + i);
        put(&k, &k.info, SIZE - i, 4);
        END(&k);
        move(&k, info, &n);
    }
    END(&k);
    CODE(&k, WHOLE);
    PUT_ADDR(&k, &k.info, COLD);
    put(&k, &k.info, SIZE, 4);
    END(&k);
    END(&k);
    move(&k, info, &n);

    PUT_OFFSET(&length, &length.info, n - 4);
    memcpy(info, length.info.data, length.info.n);
    sections = kit_sections(&k);
    sections.info = sym_str((const char *) info, n);

    before = clock();
    work = work_of_sections(sections);
    ok(clock() - before < 2 * CLOCKS_PER_SEC, "calls outside: fast enough");
    is_u64(stats.inlines, CALLS, "... all were read");
    ok(work.nodes >= CALLS, "... %zu nodes for %u calls", work.nodes, CALLS);
}


int
main(void)
{
    test_calls_by_ranges();
    test_lists_by_units();
    test_lines_by_units();
    test_calls_outside();
    return done_testing();
}
