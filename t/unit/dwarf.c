/*
 * What the symcache writer receives from given sections: functions and inlined
 * calls with all forms of addresses, names through all kinds of references, and
 * units that are broken.
 */
#include "dwarf_kit.h"
#include "fake_writer.h"
#include "tap.h"

static sym_dwarf_stats_t stats;

enum { UNIT = 1, FUNCTION, INLINED, ABSTRACT, NAMESPACE, TYPE, OTHERS };

#define CODE(k, code) uleb(&(k)->info, (code))
#define NAME(k, s) ((void) text(&(k)->info, (s)))
#define END(k) put((k), &(k)->info, 0, 1)


static void
reads(const sym_dwarf_input_t *in, const char *want, const char *name)
{
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    char *got;

    is_status(sym_dwarf_read(in, w, &stats, &err), SYM_OK, &err, name);
    got = fake_writer_text(w);
    is_str(sym_cstr(got), want, name);
    free(got);
    sym_writer_free(w);
}


static sym_dwarf_input_t
input(const kit_t *k)
{
    return (sym_dwarf_input_t){ .sections = kit_sections(k),
                                .is_big_endian = k->is_big };
}


static kit_t
kit(uint8_t version, uint8_t offset_size, uint8_t addr_size, bool is_big)
{
    return (kit_t){ .is_big = is_big,
                    .version = version,
                    .offset_size = offset_size,
                    .addr_size = addr_size };
}


/* Abbreviations that most tests share. */
static void
abbrevs(kit_t *k)
{
    unsigned offset = k->version >= 4       ? DW_FORM_sec_offset
                      : k->offset_size == 8 ? DW_FORM_data8
                                            : DW_FORM_data4;
    unsigned length = k->version >= 4 ? DW_FORM_udata : DW_FORM_addr;

    ABBREV(k, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1,
           DW_AT_comp_dir, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
           DW_AT_stmt_list, offset);
    ABBREV(k, FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string,
           DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, length);
    ABBREV(k, INLINED, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin,
           DW_FORM_ref4, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, length,
           DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data2);
    ABBREV(k, ABSTRACT, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string);
    ABBREV(k, NAMESPACE, DW_TAG_namespace, true, DW_AT_name, DW_FORM_string);
    ABBREV(k, TYPE, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_string);
}


/* The unit's first entry; its line table is at 0. */
static size_t
begin_unit(kit_t *k, unsigned language)
{
    size_t start = open_unit(k, 0);

    CODE(k, UNIT);
    put(k, &k->info, language, 1);
    NAME(k, "/src");
    PUT_ADDR(k, &k->info, 0);
    PUT_OFFSET(k, &k->info, 0);
    return start;
}


/* Its address range: high_pc is a length since DWARF 4. */
static void
put_range(kit_t *k, uint64_t low, uint64_t high)
{
    PUT_ADDR(k, &k->info, low);
    if (k->version >= 4) {
        uleb(&k->info, high - low);
    } else {
        PUT_ADDR(k, &k->info, high);
    }
}


/* 1000 line 10 a.c, 1004 line 7 b.h, 1008 line 11 a.c, up to 1010 */
static void
put_lines(kit_t *k)
{
    size_t header, start = open_lines(k, &header);
    static const uint8_t program[] = { DW_LNS_advance_line,
                                       9,
                                       DW_LNS_copy,
                                       DW_LNS_set_file,
                                       2,
                                       DW_LNS_advance_line,
                                       0x7d,
                                       DW_LNS_advance_pc,
                                       2,
                                       DW_LNS_copy,
                                       DW_LNS_set_file,
                                       1,
                                       DW_LNS_advance_line,
                                       4,
                                       DW_LNS_advance_pc,
                                       2,
                                       DW_LNS_copy };

    set_address(k, 0x1000);
    memcpy(k->line.data + k->line.n, program, sizeof(program));
    k->line.n += sizeof(program);
    end_sequence(k, 8);
    close_length(k, &k->line, start);
}


/* A call inlined into a function, in every shape of DWARF. */
static void
test_shape(uint8_t version, uint8_t offset_size, uint8_t addr_size, bool is_big)
{
    kit_t k = kit(version, offset_size, addr_size, is_big);
    sym_dwarf_input_t in;
    size_t start, header, origin;
    char name[64];

    abbrevs(&k);
    put_lines(&k);
    header = k.info.n;
    start = begin_unit(&k, DW_LANG_C99);
    origin = k.info.n - header;
    CODE(&k, ABSTRACT);
    NAME(&k, "inner");
    CODE(&k, FUNCTION);
    NAME(&k, "outer");
    put_range(&k, 0x1000, 0x100c);
    CODE(&k, INLINED);
    put(&k, &k.info, origin, 4);
    put_range(&k, 0x1004, 0x1008);
    put(&k, &k.info, 1, 1);
    put(&k, &k.info, 300, 2);
    END(&k);
    END(&k);
    END(&k);
    close_length(&k, &k.info, start);

    (void) snprintf(name, sizeof(name), "version %u, %u, %u, %s", version,
                    offset_size, addr_size, is_big ? "big" : "little");
    in = input(&k);
    reads(&in,
          "flat 1000+c outer\n"
          "  call 1 in 0 inner at 300 /src/a.c\n"
          "  1000 10 /src/a.c\n"
          "  1004 7 /src/inc/b.h in 1\n"
          "  1008 11 /src/a.c\n",
          name);
    is_u64(stats.units_broken, 0, "nothing is broken");
    is_u64(stats.functions, 1, "a function");
    is_u64(stats.functions_empty, 1, "an abstract function");
    is_u64(stats.inlines, 1, "a call");
}


/* DWARF 3 and 4: a list with a base of its own, and dropped and empty
 * ranges. */
static void
test_old_ranges(uint8_t addr_size)
{
    kit_t k = kit(4, 4, addr_size, false);
    uint64_t ones = UINT64_MAX >> (64 - 8 * addr_size);
    sym_dwarf_input_t in;
    size_t start;

    abbrevs(&k);
    ABBREV(&k, OTHERS, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string,
           DW_AT_ranges, DW_FORM_sec_offset);
    start = begin_unit(&k, DW_LANG_C99);
    CODE(&k, OTHERS);
    NAME(&k, "f");
    PUT_OFFSET(&k, &k.info, k.ranges.n);
    END(&k);
    close_length(&k, &k.info, start);

    const uint64_t list[] = { 0x2000, 0x2010, ones,     0x5000,   0x10, 0x20,
                              0x30,   0x30,   ones - 1, ones - 1, 0,    0 };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        PUT_ADDR(&k, &k.ranges, list[i]);
    }

    in = input(&k);
    in.sections.line.len = 0;
    reads(&in, "flat 2000+10 f\n  2000 0 -\nflat 5010+10 f\n  5010 0 -\n",
          "ranges of DWARF 4");
    is_u64(stats.units_no_lines, 1, "without lines");
    is_u64(stats.ranges_dropped, 1, "a dropped range");
}


/* DWARF 5: every kind of entry, with addresses and strings by number. */
static void
test_new_ranges(void)
{
    static const uint64_t addrs[] = { 0x1000, 0x1010, 0x7000, UINT64_MAX };
    kit_t k = kit(5, 4, 8, false);
    sym_dwarf_input_t in;
    size_t start, list;

    ABBREV(&k, UNIT, DW_TAG_compile_unit, true, DW_AT_low_pc, DW_FORM_addrx,
           DW_AT_str_offsets_base, DW_FORM_sec_offset, DW_AT_addr_base,
           DW_FORM_sec_offset, DW_AT_rnglists_base, DW_FORM_sec_offset);
    ABBREV(&k, FUNCTION, DW_TAG_subprogram, false, DW_AT_linkage_name,
           DW_FORM_strx1, DW_AT_ranges, DW_FORM_rnglistx);
    ABBREV(&k, OTHERS, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strx2,
           DW_AT_low_pc, DW_FORM_addrx1, DW_AT_high_pc, DW_FORM_data1);
    start = open_unit(&k, 0);
    CODE(&k, UNIT);
    uleb(&k.info, 2);
    put(&k, &k.info, 8, 4);
    put(&k, &k.info, 8, 4);
    put(&k, &k.info, 12, 4);
    CODE(&k, FUNCTION);
    put(&k, &k.info, 1, 1);
    uleb(&k.info, 1);
    CODE(&k, OTHERS);
    put(&k, &k.info, 0, 2);
    put(&k, &k.info, 1, 1);
    put(&k, &k.info, 4, 1);
    END(&k);
    close_length(&k, &k.info, start);

    put(&k, &k.str_offsets, 0, 8);
    put(&k, &k.str_offsets, text(&k.str, "plain"), 4);
    put(&k, &k.str_offsets, text(&k.str, "_Zlinked"), 4);
    put(&k, &k.addr, 0, 8);
    for (size_t i = 0; i < 4; i++) {
        put(&k, &k.addr, addrs[i], 8);
    }

    put(&k, &k.rnglists, 0, 8);
    put(&k, &k.rnglists, 2, 4); /* lists */
    list = k.rnglists.n;
    put(&k, &k.rnglists, 0, 4);
    put(&k, &k.rnglists, 8, 4); /* number 1: after the other two */
    ok(list == 12, "the base of lists");

    uleb(&k.rnglists, DW_RLE_offset_pair); /* from low_pc, 7000 */
    uleb(&k.rnglists, 0x10);
    uleb(&k.rnglists, 0x20);
    uleb(&k.rnglists, DW_RLE_startx_endx);
    uleb(&k.rnglists, 0);
    uleb(&k.rnglists, 1);
    uleb(&k.rnglists, DW_RLE_startx_length);
    uleb(&k.rnglists, 3); /* dropped */
    uleb(&k.rnglists, 8);
    uleb(&k.rnglists, DW_RLE_base_address);
    put(&k, &k.rnglists, 0x8000, 8);
    uleb(&k.rnglists, DW_RLE_offset_pair);
    uleb(&k.rnglists, 0);
    uleb(&k.rnglists, 4);
    uleb(&k.rnglists, DW_RLE_base_addressx);
    uleb(&k.rnglists, 2);
    uleb(&k.rnglists, DW_RLE_offset_pair);
    uleb(&k.rnglists, 0);
    uleb(&k.rnglists, 4);
    uleb(&k.rnglists, DW_RLE_start_end);
    put(&k, &k.rnglists, 0x9000, 8);
    put(&k, &k.rnglists, 0x9001, 8);
    uleb(&k.rnglists, DW_RLE_start_length);
    put(&k, &k.rnglists, 0x9100, 8);
    uleb(&k.rnglists, 0x80);
    uleb(&k.rnglists, DW_RLE_end_of_list);

    in = input(&k);
    reads(&in,
          "flat 1000+10 _Zlinked\n  1000 0 -\n"
          "flat 1010+4 plain\n  1010 0 -\n"
          "flat 7000+4 _Zlinked\n  7000 0 -\n"
          "flat 7010+10 _Zlinked\n  7010 0 -\n"
          "flat 8000+4 _Zlinked\n  8000 0 -\n"
          "flat 9000+1 _Zlinked\n  9000 0 -\n"
          "flat 9100+80 _Zlinked\n  9100 0 -\n",
          "ranges of DWARF 5");
}


/* Names through other units and the supplementary file, and references in a
 * circle. */
static void
test_references(void)
{
    kit_t k = kit(4, 4, 8, false), alt = kit(4, 4, 8, false);
    sym_dwarf_sections_t alt_sections;
    sym_dwarf_input_t in;
    size_t start, other, circle, in_alt, method;

    abbrevs(&alt);
    start = begin_unit(&alt, DW_LANG_C99);
    in_alt = alt.info.n;
    CODE(&alt, ABSTRACT);
    NAME(&alt, "in_alt");
    END(&alt);
    close_length(&alt, &alt.info, start);

    abbrevs(&k);
    ABBREV(&k, 7, DW_TAG_subprogram, false, DW_AT_abstract_origin,
           DW_FORM_ref_addr, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
           DW_FORM_udata);
    ABBREV(&k, 8, DW_TAG_subprogram, false, DW_AT_abstract_origin,
           DW_FORM_GNU_ref_alt, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
           DW_FORM_udata);
    ABBREV(&k, 9, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_GNU_strp_alt,
           DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_udata);
    ABBREV(&k, 200, DW_TAG_subprogram, false, DW_AT_specification,
           DW_FORM_ref_addr, DW_AT_linkage_name, DW_FORM_string,
           DW_AT_linkage_name, DW_FORM_string);

    start = begin_unit(&k, DW_LANG_C_plus_plus);
    CODE(&k, NAMESPACE);
    NAME(&k, "ns");
    CODE(&k, TYPE);
    NAME(&k, "T");
    method = k.info.n;
    CODE(&k, ABSTRACT);
    NAME(&k, "method");
    END(&k);
    END(&k);
    circle = k.info.n;
    CODE(&k, 7);
    put(&k, &k.info, circle, 4);
    put_range(&k, 0x5000, 0x5001);
    other = k.info.n;
    CODE(&k, 200);
    put(&k, &k.info, method, 4);
    NAME(&k, "_Zfirst");
    NAME(&k, "_Zsecond");
    END(&k);
    close_length(&k, &k.info, start);

    start = begin_unit(&k, DW_LANG_C_plus_plus);
    CODE(&k, 7);
    put(&k, &k.info, method, 4);
    put_range(&k, 0x1000, 0x1001);
    CODE(&k, 7);
    put(&k, &k.info, other, 4);
    put_range(&k, 0x2000, 0x2001);
    CODE(&k, 7);
    put(&k, &k.info, 0xfffff, 4); /* to nowhere */
    put_range(&k, 0x2800, 0x2801);
    CODE(&k, 8);
    put(&k, &k.info, in_alt, 4);
    put_range(&k, 0x3000, 0x3001);
    CODE(&k, 9);
    put(&k, &k.info, text(&alt.str, "alt_text"), 4);
    put_range(&k, 0x4000, 0x4001);
    END(&k);
    close_length(&k, &k.info, start);

    in = input(&k);
    alt_sections = kit_sections(&alt);
    in.alt = &alt_sections;
    reads(&in,
          "flat 5000+1 -\n  5000 0 -\n"
          "flat 1000+1 ns::T::method\n  1000 0 -\n"
          "flat 2000+1 _Zfirst\n  2000 0 -\n"
          "flat 2800+1 -\n  2800 0 -\n"
          "flat 3000+1 in_alt\n  3000 0 -\n"
          "flat 4000+1 alt_text\n  4000 0 -\n",
          "names from elsewhere");
    is_u64(stats.names_missing, 2, "a circle and a reference to nothing");

    in.alt = NULL;
    reads(&in,
          "flat 5000+1 -\n  5000 0 -\n"
          "flat 1000+1 ns::T::method\n  1000 0 -\n"
          "flat 2000+1 _Zfirst\n  2000 0 -\n"
          "flat 2800+1 -\n  2800 0 -\n"
          "flat 3000+1 -\n  3000 0 -\n"
          "flat 4000+1 -\n  4000 0 -\n",
          "without the supplementary file");
}


/* The name of a method whose type is declared in the function itself: a
 * circle.  Also types with names of the maximal length. */
static void
test_scopes(void)
{
    enum { LEVELS = 64, LONG = 600000 };
    static char long_text[LONG + 1];
    static char want[LONG + 512];
    kit_t k = kit(4, 4, 8, false);
    sym_dwarf_input_t in;
    size_t start, header, method, length = 0;

    abbrevs(&k);
    ABBREV(&k, 7, DW_TAG_subprogram, true, DW_AT_specification, DW_FORM_ref4);
    ABBREV(&k, 8, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_strp);
    ABBREV(&k, 9, DW_TAG_subprogram, true, DW_AT_language, DW_FORM_data1);
    ABBREV(&k, 10, DW_TAG_class_type, true, DW_AT_language, DW_FORM_data1);

    header = k.info.n;
    start = begin_unit(&k, DW_LANG_C_plus_plus);
    CODE(&k, 7);
    method = k.info.n;
    put(&k, &k.info, 0, 4);
    CODE(&k, TYPE);
    NAME(&k, "T");
    k.info.data[method] = (uint8_t) (k.info.n - header);
    CODE(&k, ABSTRACT);
    NAME(&k, "m");
    CODE(&k, FUNCTION);
    NAME(&k, "circle");
    put_range(&k, 0x1000, 0x1001);
    END(&k);
    END(&k);
    END(&k);

    CODE(&k, 8);
    put(&k, &k.info, 0, 4);
    CODE(&k, 8);
    put(&k, &k.info, 0, 4);
    CODE(&k, FUNCTION);
    NAME(&k, "long");
    put_range(&k, 0x2000, 0x2001);
    END(&k);
    END(&k);
    END(&k);

    CODE(&k, 9); /* without a name */
    put(&k, &k.info, 1, 1);
    CODE(&k, 10);
    put(&k, &k.info, 1, 1);
    CODE(&k, FUNCTION);
    NAME(&k, "lambda");
    put_range(&k, 0x3000, 0x3001);
    END(&k);
    END(&k);
    END(&k);
    END(&k);
    close_length(&k, &k.info, start);

    memset(long_text, 'x', LONG);
    in = input(&k);
    in.sections.str = sym_str(long_text, sizeof(long_text));

    length += (size_t) sprintf(want, "flat 1000+1 ");
    for (unsigned i = 0; i < LEVELS / 2; i++) {
        length += (size_t) sprintf(want + length, "m::T::");
    }
    (void) sprintf(want + length,
                   "circle\n  1000 0 -\n"
                   "flat 2000+1 %s::long\n  2000 0 -\n"
                   "flat 3000+1 (anonymous class)::lambda\n  3000 0 -\n",
                   long_text);
    reads(&in, want, "circular scopes, long ones, ones without names");
}


/* A function inside a method that has no code; one that is skipped by the
 * sibling reference; a call that reaches past the end of its caller. */
static void
test_nesting(void)
{
    kit_t k = kit(4, 4, 8, false);
    sym_dwarf_input_t in;
    size_t start, header, origin, sibling;

    abbrevs(&k);
    ABBREV(&k, 7, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string);
    ABBREV(&k, 8, DW_TAG_subroutine_type, true, DW_AT_sibling, DW_FORM_ref4);
    put_lines(&k);
    header = k.info.n;
    start = begin_unit(&k, DW_LANG_C99);
    origin = k.info.n - header;
    CODE(&k, ABSTRACT);
    NAME(&k, "a");

    CODE(&k, 8);
    sibling = k.info.n;
    put(&k, &k.info, 0, 4);
    put(&k, &k.info, 0x7f7f7f7f, 4); /* read as entries, they break the unit */
    k.info.data[sibling] = (uint8_t) (k.info.n - header);

    CODE(&k, 7);
    NAME(&k, "codeless");
    CODE(&k, FUNCTION);
    NAME(&k, "nested");
    put_range(&k, 0x1000, 0x1010);
    CODE(&k, INLINED);
    put(&k, &k.info, origin, 4);
    put_range(&k, 0x1004, 0x1008);
    put(&k, &k.info, 1, 1);
    put(&k, &k.info, 5, 2);
    CODE(&k, INLINED);
    put(&k, &k.info, origin, 4);
    put_range(&k, 0x1006, 0x100a); /* ends after its caller */
    put(&k, &k.info, 9, 1);        /* no such file */
    put(&k, &k.info, 6, 2);
    END(&k);
    END(&k);
    END(&k);
    END(&k);
    END(&k);
    close_length(&k, &k.info, start);

    in = input(&k);
    reads(&in,
          "flat 1000+10 nested\n"
          "  call 1 in 0 a at 5 /src/a.c\n"
          "  call 2 in 1 a at 6 -\n"
          "  1000 10 /src/a.c\n"
          "  1004 7 /src/inc/b.h in 1\n"
          "  1006 7 /src/inc/b.h in 2\n"
          "  1008 11 /src/a.c in 2\n"
          "  100a 11 /src/a.c\n",
          "nested");
    is_u64(stats.units_broken, 0, "the type was skipped");
}


/* ctx: symbols in order, the last one without a name. */
static sym_dwarf_symbol_t
symbol(void *ctx, uint64_t addr)
{
    sym_dwarf_symbol_t none = { .end = UINT64_MAX };

    for (const sym_dwarf_symbol_t *s = ctx; s->name.len != 0; s++) {
        if (addr < s->begin) {
            none.end = s->begin;
            break;
        }

        if (addr < s->end) {
            return *s;
        }
    }

    return none;
}


/* The linker has placed the parts of a function next to each other. */
static void
test_parts_that_touch(void)
{
    kit_t k = kit(4, 4, 8, false);
    const uint64_t list[] = { 0x1004, 0x1010, 0x1000, 0x1004, 0, 0 };
    sym_dwarf_symbol_t halves[] = { { SYM_STR("f.cold"), 0x1000, 0x1004 },
                                    { SYM_STR("f"), 0x1004, 0x2000 },
                                    { .name = { NULL, 0 } } };
    sym_dwarf_input_t in;
    size_t start;

    abbrevs(&k);
    ABBREV(&k, 7, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string,
           DW_AT_ranges, DW_FORM_sec_offset);
    put_lines(&k);
    start = begin_unit(&k, DW_LANG_C99);
    CODE(&k, 7);
    NAME(&k, "f");
    PUT_OFFSET(&k, &k.info, k.ranges.n);
    END(&k);
    close_length(&k, &k.info, start);

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        PUT_ADDR(&k, &k.ranges, list[i]);
    }

    in = input(&k);
    reads(&in,
          "flat 1000+10 f\n  1000 10 /src/a.c\n"
          "  1004 7 /src/inc/b.h\n  1008 11 /src/a.c\n",
          "without symbols they are one");

    in.symbol = symbol;
    in.symbol_ctx = halves;
    reads(&in,
          "flat 1000+4 f.cold\n  1000 10 /src/a.c\n"
          "flat 1004+c f\n  1004 7 /src/inc/b.h\n  1008 11 /src/a.c\n",
          "each symbol has its own function");
}


/*
 * A symbol without a size covers functions whose own symbols were stripped.  It
 * names none of them, but it does name all records of the function that begins
 * at its address.
 */
static void
test_foreign_symbols(void)
{
    kit_t k = kit(4, 4, 8, false);
    const uint64_t list[] = { 0x1000, 0x1002, 0x1008, 0x100a, 0, 0 };
    sym_dwarf_symbol_t symbols[] = { { SYM_STR("before"), 0x0ff8, 0x1004 },
                                     { SYM_STR("public"), 0x1004, 0x2000 },
                                     { .name = { NULL, 0 } } };
    sym_dwarf_input_t in;
    size_t start;

    abbrevs(&k);
    ABBREV(&k, 7, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string,
           DW_AT_ranges, DW_FORM_sec_offset);
    put_lines(&k);
    start = begin_unit(&k, DW_LANG_C99);
    CODE(&k, 7);
    NAME(&k, "f");
    PUT_OFFSET(&k, &k.info, k.ranges.n);
    CODE(&k, FUNCTION);
    NAME(&k, "g");
    put_range(&k, 0x1002, 0x1004);
    CODE(&k, FUNCTION);
    NAME(&k, "h");
    put_range(&k, 0x1004, 0x1008);
    END(&k);
    close_length(&k, &k.info, start);

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        PUT_ADDR(&k, &k.ranges, list[i]);
    }

    in = input(&k);
    in.symbol = symbol;
    in.symbol_ctx = symbols;
    reads(&in,
          "flat 1000+2 f\n  1000 10 /src/a.c\n"
          "flat 1002+2 g\n  1002 10 /src/a.c\n"
          "flat 1004+4 public\n  1004 7 /src/inc/b.h\n"
          "flat 1008+2 f\n  1008 11 /src/a.c\n",
          "a symbol names the function that begins with it");

    symbols[0] = (sym_dwarf_symbol_t){ SYM_STR("f.part.0"), 0x1000, 0x2000 };
    symbols[1].name.len = 0;
    reads(&in,
          "flat 1000+2 f.part.0\n  1000 10 /src/a.c\n"
          "flat 1002+2 g\n  1002 10 /src/a.c\n"
          "flat 1004+4 h\n  1004 7 /src/inc/b.h\n"
          "flat 1008+2 f.part.0\n  1008 11 /src/a.c\n",
          "and all records of it, but not others between them");
}


/* Lines of code outside of any function, such as assembler; and atos'
 * remainders. */
static void
test_lines_alone(void)
{
    kit_t k = kit(4, 4, 8, false);
    sym_dwarf_symbol_t symbols[] = { { SYM_STR("from_symbol"), 0x1000, 0x1002 },
                                     { SYM_STR("from_symbol"), 0x1004, 0x1006 },
                                     { SYM_STR("from_symbol"), 0x100a, 0x100c },
                                     { SYM_STR("from_symbol"), 0x2001, 0x2002 },
                                     { .name = { NULL, 0 } } };
    sym_dwarf_input_t in;
    size_t start;

    abbrevs(&k);
    put_lines(&k);
    start = begin_unit(&k, DW_LANG_C99);
    CODE(&k, FUNCTION);
    NAME(&k, "f");
    put_range(&k, 0x1000, 0x1002);
    END(&k);
    CODE(&k, FUNCTION);
    NAME(&k, "_OUTLINED_FUNCTION_0");
    put_range(&k, 0x2000, 0x2004);
    END(&k);
    END(&k);
    close_length(&k, &k.info, start);

    in = input(&k);
    reads(&in,
          "flat 1000+2 f\n  1000 10 /src/a.c\n"
          "flat 2000+4 _OUTLINED_FUNCTION_0\n  2000 0 -\n"
          "flat 1004+c -\n  1004 7 /src/inc/b.h\n  1008 11 /src/a.c\n",
          "without symbols; lines that continue after a function are padding");

    in.symbol = symbol;
    in.symbol_ctx = symbols;
    in.has_statements = true;
    reads(&in,
          "flat 1000+2 from_symbol\n  1000 10 /src/a.c\n"
          "flat 2000+4 _OUTLINED_FUNCTION_0\n  2000 0 -\n"
          "  atos 2000+4 11 /src/a.c\n"
          "flat 1004+2 from_symbol\n  1004 7 /src/inc/b.h\n"
          "flat 1006+4 -\n  1006 7 /src/inc/b.h\n  1008 11 /src/a.c\n"
          "flat 100a+2 from_symbol\n  100a 11 /src/a.c\n"
          "flat 100c+4 -\n  100c 11 /src/a.c\n",
          "symbols name them, also after code without one; atos: no row means "
          "the end of the unit's lines");
}


/* A row the given number of bytes after the last one. */
static void
put_row(kit_t *k, unsigned bytes, int lines, bool is_new_stmt)
{
    kit_bytes_t *b = &k->line;

    put(k, b, DW_LNS_advance_pc, 1);
    uleb(b, bytes / 2);
    put(k, b, DW_LNS_advance_line, 1);
    sleb(b, lines);
    if (is_new_stmt) {
        put(k, b, DW_LNS_negate_stmt, 1);
    }
    put(k, b, DW_LNS_copy, 1);
}


/* The answer of the line table, and addresses for which atos shows another
 * one. */
static void
test_statements(void)
{
    kit_t k = kit(4, 4, 8, false);
    sym_dwarf_input_t in;
    size_t start, origin, header, lines = open_lines(&k, &header);

    set_address(&k, 0x1000);
    put_row(&k, 0, 45, false);
    put_row(&k, 8, 2, false);  /* 1008: 48 */
    put_row(&k, 8, -48, true); /* 1010: 0, no statement */
    put_row(&k, 4, 48, false); /* 1014: 48, none */
    put_row(&k, 4, 2, false);  /* 1018: 50, none */
    put_row(&k, 4, 0, true);   /* 101c: 50 */
    put_row(&k, 4, 1, false);  /* 1020: 51 */
    put_row(&k, 0, 1, false);  /* 1020: 52 */
    put_row(&k, 8, 1, true);   /* 1028: 53, none */
    put_row(&k, 4, 1, true);   /* 102c: 54 */
    put_row(&k, 4, 1, true);   /* 1030: 55, none */
    end_sequence(&k, 8);
    close_length(&k, &k.line, lines);

    abbrevs(&k);
    start = begin_unit(&k, DW_LANG_C99);
    origin = k.info.n; /* from the first unit */
    CODE(&k, ABSTRACT);
    NAME(&k, "call");
    CODE(&k, FUNCTION);
    NAME(&k, "f");
    put_range(&k, 0x1000, 0x1024);
    CODE(&k, INLINED);
    put(&k, &k.info, origin, 4);
    put_range(&k, 0x1012, 0x1016);
    put(&k, &k.info, 1, 1);
    put(&k, &k.info, 7, 2);
    END(&k);
    END(&k);
    END(&k);
    close_length(&k, &k.info, start);

    in = input(&k);
    in.has_statements = true;
    reads(&in,
          "flat 1000+24 f\n  call 1 in 0 call at 7 /src/a.c\n"
          "  1000 46 /src/a.c\n  1008 48 /src/a.c\n  1010 0 /src/a.c\n"
          "  1012 0 /src/a.c in 1\n  1014 48 /src/a.c in 1\n"
          "  1016 48 /src/a.c\n  1018 50 /src/a.c\n  1020 52 /src/a.c\n"
          "  atos 1010+4 48 /src/a.c\n  atos 1018+4 48 /src/a.c\n"
          "  atos 1020+4 51 /src/a.c\n"
          "flat 102c+c -\n  102c 54 /src/a.c\n  1030 55 /src/a.c\n"
          "  atos 1030+8 54 /src/a.c\n",
          "statements");
}


/* Addresses outside the unit's ranges are not its own, even if its lines
 * continue there. */
static void
test_lines_beyond(void)
{
    kit_t k = kit(4, 4, 8, false);
    sym_dwarf_input_t in;
    size_t start;

    ABBREV(&k, UNIT, DW_TAG_compile_unit, false, DW_AT_language, DW_FORM_data1,
           DW_AT_comp_dir, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
           DW_AT_high_pc, DW_FORM_udata, DW_AT_stmt_list, DW_FORM_sec_offset);
    put_lines(&k);
    start = open_unit(&k, 0);
    CODE(&k, UNIT);
    put(&k, &k.info, DW_LANG_C99, 1);
    NAME(&k, "/src");
    put_range(&k, 0x1000, 0x1006);
    PUT_OFFSET(&k, &k.info, 0);
    close_length(&k, &k.info, start);

    in = input(&k);
    reads(&in, "flat 1000+6 -\n  1000 10 /src/a.c\n  1004 7 /src/inc/b.h\n",
          "lines beyond the unit's addresses");
}


/* The second of three units is broken: the others are kept. */
static void
test_broken(void)
{
    kit_t k = kit(4, 4, 8, false);
    sym_dwarf_input_t in;
    char text_of[128];

    abbrevs(&k);
    for (uint64_t i = 0; i < 3; i++) {
        size_t start = begin_unit(&k, DW_LANG_C99);

        CODE(&k, FUNCTION);
        NAME(&k, i == 0 ? "a" : i == 1 ? "b" : "c");
        put_range(&k, 0x1000 + 0x1000 * i, 0x1001 + 0x1000 * i);
        CODE(&k, i == 1 ? 99 : ABSTRACT);
        NAME(&k, "x");
        CODE(&k, FUNCTION);
        NAME(&k, "last");
        put_range(&k, 0x10000 + 0x10000 * i, 0x10001 + 0x10000 * i);
        END(&k);
        END(&k);
        END(&k);
        close_length(&k, &k.info, start);
    }

    in = input(&k);
    reads(&in,
          "flat 1000+1 a\n  1000 0 -\nflat 10000+1 last\n  10000 0 -\n"
          "flat 2000+1 b\n  2000 0 -\n"
          "flat 3000+1 c\n  3000 0 -\nflat 30000+1 last\n  30000 0 -\n",
          "a broken unit");
    is_u64(stats.units, 3, "units");
    is_u64(stats.units_broken, 1, "one is broken");
    is_str(
        sym_cstr(sym_error_text(&stats.first_broken, text_of, sizeof(text_of))),
        "malformed: no such abbreviation (.debug_info, byte 105)", "why");
}


/* Many entries point into a long string, each one byte further.  Copying the
 * names would grow with the square, so the reader stops naming functions. */
static void
test_names_in_names(void)
{
    enum { ENTRIES = 200, TEXT = 100000 };
    static kit_t k;
    static char long_text[TEXT];
    sym_error_t err = { 0 };
    sym_dwarf_input_t in;
    sym_writer_t *w = sym_writer_create(&err);
    size_t start, named = 0;

    k = kit(4, 4, 8, false);
    ABBREV(&k, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1);
    ABBREV(&k, FUNCTION, DW_TAG_subprogram, false, DW_AT_linkage_name,
           DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
           DW_FORM_data1);
    start = open_unit(&k, 0);
    CODE(&k, UNIT);
    put(&k, &k.info, DW_LANG_C99, 1);
    for (uint64_t i = 0; i < ENTRIES; i++) {
        CODE(&k, FUNCTION);
        put(&k, &k.info, i, 4);
        put(&k, &k.info, 0x1000 + 16 * i, 8);
        put(&k, &k.info, 16, 1);
    }
    END(&k);
    close_length(&k, &k.info, start);

    memset(long_text, 'x', TEXT - 1);
    in = input(&k);
    in.sections.str = sym_str(long_text, TEXT);
    is_status(sym_dwarf_read(&in, w, &stats, &err), SYM_OK, &err,
              "overlapping names");
    is_u64(w->n_records, ENTRIES, "every function is kept");
    for (size_t i = 0; i < w->n_records; i++) {
        named += w->records[i].flat.nodes[0].name != SYM_NO_STRING;
    }

    /* 32 times 103 KB, and 1 MiB, of 100 KB each */
    ok(named > 38 && named < 50, "%zu of %d names were read", named, ENTRIES);
    sym_writer_free(w);
}


int
main(void)
{
    for (uint8_t version = 2; version <= 5; version++) {
        for (uint8_t bits = 0; bits < 8; bits++) {
            test_shape(version, bits & 1 ? 8 : 4, bits & 2 ? 8 : 4,
                       (bits & 4) != 0);
        }
    }

    test_old_ranges(4);
    test_old_ranges(8);
    test_new_ranges();
    test_references();
    test_scopes();
    test_nesting();
    test_parts_that_touch();
    test_foreign_symbols();
    test_lines_alone();
    test_statements();
    test_lines_beyond();
    test_broken();
    test_names_in_names();
    return done_testing();
}
