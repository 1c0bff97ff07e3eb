/*
 * A symcache returns what was added to it: the rules for the owner of an
 * address (docs/use/compat.md), names, files, lines, inline chains, and sizes
 * from one byte to many extents.
 */
#include "memory_extents.h"
#include "artifacts/symcache/write/shard.h"
#include "tap.h"
#include "base/language.h"

static sym_error_t err;
static memory_extents_t memory;
static sym_symcache_t sc;
static sym_level_t levels[SYM_LEVELS_MAX];
static sym_answer_t answer;


static sym_writer_t *
begin(void)
{
    memory_free(&memory);
    err = (sym_error_t){ 0 };
    return sym_writer_create(&err);
}


static uint32_t
name(sym_writer_t *w, const char *text)
{
    uint32_t id = 0;

    (void) sym_writer_string(w, sym_cstr(text), &id);
    return id;
}


static sym_writer_stats_t
finish(sym_writer_t *w)
{
    sym_module_info_t info = { .debug_id = SYM_STR("ABC1"),
                               .debug_file = SYM_STR("module.pdb") };
    sym_writer_stats_t stats = { 0 };

    is_status(sym_writer_finish(w, &info, memory_put, &memory, &stats), SYM_OK,
              &err, "finish");
    sym_writer_free(w);
    is_status(sym_symcache_open(&sc, memory_get, &memory, &err), SYM_OK, &err,
              "open");
    return stats;
}


/* "inner at f.c:3 < outer at g.c:9 @start", or "-" for nothing. */
static const char *
describe(uint64_t addr)
{
    static char text[70000], buf[SYM_STRING_MAX + SYM_STRING_SLACK];
    size_t used = 0, len;
    bool is_plain;

    if (sym_symcache_lookup(&sc, addr, levels, &answer) != SYM_OK) {
        return "damaged";
    }

    if (answer.n_levels == 0) {
        return "-";
    }

    for (uint32_t i = 0; i < answer.n_levels; i++) {
        len = sym_symcache_string(&sc, levels[i].name, buf, &is_plain);
        used += (size_t) snprintf(text + used, sizeof(text) - used, "%s%.*s",
                                  i == 0 ? "" : " < ", (int) len, buf);
        if (levels[i].file != SYM_NO_REF) {
            len = sym_symcache_string(&sc, levels[i].file, buf, &is_plain);
            used += (size_t) snprintf(text + used, sizeof(text) - used,
                                      " at %.*s:%u", (int) len, buf,
                                      levels[i].line);
        }
    }

    (void) snprintf(text + used, sizeof(text) - used, " @%x+%x",
                    answer.function_addr, answer.function_size);
    return text;
}


static void
at(uint64_t addr, const char *want)
{
    char label[64];

    (void) snprintf(label, sizeof(label), "at 0x%llx",
                    (unsigned long long) addr);
    is_str(sym_cstr(describe(addr)), want, label);
}


static void
test_plain_function(void)
{
    sym_writer_t *w = begin();
    uint32_t a = name(w, "a.c"), b = name(w, "b.c");
    sym_line_t lines[] = { { 0x1010, 0x10, 7, a },
                           { 0x1028, 8, 9, b },
                           { 0x1030, 8, 0, a },
                           { 0x1038, 0x100, 5, SYM_NO_STRING } };
    sym_function_t f = { .addr = 0x1000,
                         .size = 0x40,
                         .name = name(w, "main"),
                         .lines = lines,
                         .n_lines = 4 };

    (void) sym_writer_function(w, &f);
    sym_writer_stats_t stats = finish(w);

    is_u64(stats.quality, SYM_QUALITY_LINES, "quality: lines");
    is_u64(stats.extents, 1, "a small module is one extent");
    ok(stats.bytes < 400, "of few bytes: %llu",
       (unsigned long long) stats.bytes);
    at(0, "-");
    at(0xfff, "-");
    at(0x1000, "main @1000+40"); /* before the first line record */
    at(0x100f, "main @1000+40");
    at(0x1010, "main at a.c:7 @1000+40");
    at(0x1027, "main at a.c:7 @1000+40"); /* a gap: the line before it */
    at(0x1028, "main at b.c:9 @1000+40");
    at(0x1030, "main at a.c:0 @1000+40");
    at(0x1038, "main @1000+40"); /* unknown file: no line either */
    at(0x103f, "main @1000+40");
    at(0x1040, "-"); /* no address past a function's end has its name */
    at(0x100001000, "-");
    at(UINT64_MAX, "-");
}


/* Names that are never shown would take room. */
static void
test_late_publics(void)
{
    sym_writer_t *w = begin();
    sym_function_t f = { .addr = 0x1000, .size = 0x40, .name = name(w, "f") };
    sym_writer_stats_t stats;
    uint32_t id;

    (void) sym_writer_function(w, &f);
    f.addr = 0x1020; /* overlaps, and ends after it */
    f.size = 0x60;
    (void) sym_writer_function(w, &f);
    f.addr = 0x1080; /* starts right after it */
    f.size = 0x10;
    (void) sym_writer_function(w, &f);
    (void) sym_writer_late_public(w, 0x1000, SYM_STR("at its beginning"));
    (void) sym_writer_late_public(w, 0x107f, SYM_STR("in the second"));
    (void) sym_writer_late_public(w, 0x108f, SYM_STR("in the last byte"));
    (void) sym_writer_late_public(w, 0xff0, SYM_STR("before"));
    (void) sym_writer_late_public(w, 0x1090, SYM_STR("behind"));
    f.addr = 0x1100;
    (void) sym_writer_function(w, &f);
    (void) sym_writer_late_public(w, 0x1108, SYM_STR("in a later one"));
    (void) sym_writer_late_public(w, 0x1110, SYM_STR("behind"));
    ok(sym_writer_find(w, SYM_STR("behind"), &id)
           && !sym_writer_find(w, SYM_STR("at its beginning"), &id)
           && !sym_writer_find(w, SYM_STR("in the second"), &id)
           && !sym_writer_find(w, SYM_STR("in the last byte"), &id)
           && !sym_writer_find(w, SYM_STR("in a later one"), &id),
       "names of late symbols are kept only if they are shown");
    stats = finish(w);

    is_u64(stats.publics, 7, "late symbols are counted");
    is_u64(stats.dropped, 4, "... also those without an address of their own");
    at(0xff0, "before @ff0+10");
    at(0x1000, "f @1000+40");
    at(0x1080, "f @1080+10");
    at(0x1090, "behind @1090+70");
    at(0x1110, "behind @1110+0");
}


/* A symbol with a size does not cover addresses after its end. */
static void
test_symbol_sizes(void)
{
    sym_writer_t *w = begin();
    sym_function_t f = { .addr = 0x2000, .size = 0x100, .name = name(w, "f") };

    (void) sym_writer_symbol(w, 0x1000, 0x10, name(w, "sized"));
    (void) sym_writer_symbol(w, 0x1100, 0, name(w, "open"));
    (void) sym_writer_symbol(w, 0x1200, 0x80, name(w, "around"));
    (void) sym_writer_symbol(w, 0x1240, 0x10, name(w, "inner"));
    (void) sym_writer_symbol(w, 0x1ff0, 0x40, name(w, "long"));
    (void) sym_writer_symbol(w, 0x2000, 0x120, name(w, "padded"));
    (void) sym_writer_symbol(w, 0x4000, 0x100, name(w, "cut"));
    (void) sym_writer_symbol(w, 0x4080, 0x100, name(w, "next"));
    (void) sym_writer_symbol(w, 0xfffffff0, 0x10, name(w, "last"));
    (void) sym_writer_function(w, &f);
    f.addr = 0x4010;
    f.size = 0x10;
    (void) sym_writer_function(w, &f);
    f.addr = 0x4040;
    f.size = 0x80;
    (void) sym_writer_function(w, &f);
    is_u64(finish(w).dropped, 0, "each symbol names something");

    at(0x1000, "sized @1000+10");
    at(0x100f, "sized @1000+10");
    at(0x1010, "-");
    at(0x10ff, "-");
    at(0x1100, "open @1100+100");
    at(0x11ff, "open @1100+100");
    at(0x123f, "around @1200+40");
    at(0x124f, "inner @1240+10");
    at(0x1250, "-");
    at(0x1fff, "long @1ff0+10"); /* a function ends it earlier */
    at(0x2000, "f @2000+100");
    at(0x2100, "padded @2000+120"); /* continues after the function */
    at(0x211f, "padded @2000+120");
    at(0x2120, "-");
    at(0x400f, "cut @4000+10");
    at(0x4010, "f @4010+10");
    at(0x403f, "cut @4000+40");
    at(0x40bf, "f @4040+80");
    at(0x40c0, "next @4080+100"); /* the one that began last */
    at(0x4180, "-");
    at(0xffffffef, "-");
    at(0xffffffff, "last @fffffff0+0");

    w = begin();
    (void) sym_writer_symbol(w, 0x1000, UINT64_MAX, name(w, "endless"));
    (void) finish(w);
    at(0xffffffff, "endless @1000+0");
}


/* Nor does a symbol without a size cover functions that begin after it. */
static void
test_open_symbols(void)
{
    sym_writer_t *w = begin();
    sym_function_t f = { .size = 0x10 };

    (void) sym_writer_open_symbol(w, 0x1000, 0x100, name(w, "before"));
    (void) sym_writer_open_symbol(w, 0x1100, 0x100, name(w, "f"));
    f.name = name(w, "f");
    for (f.addr = 0x1010; f.addr <= 0x1030; f.addr += 0x10) {
        (void) sym_writer_function(w, &f);
    }
    f.addr = 0x1100;
    (void) sym_writer_function(w, &f);
    (void) finish(w);

    at(0x100f, "before @1000+10");
    at(0x1010, "f @1010+10"); /* functions that touch */
    at(0x1020, "f @1020+10");
    at(0x1030, "f @1030+10");
    at(0x1040, "-");
    at(0x10ff, "-");
    at(0x110f, "f @1100+10");
    at(0x1110, "f @1100+100"); /* its own name continues */
    at(0x11ff, "f @1100+100");
}


static void
test_publics(void)
{
    sym_writer_t *w = begin();
    sym_function_t f = { .addr = 0x2000, .size = 0x100, .name = name(w, "f") };

    (void) sym_writer_public(w, 0x3000, name(w, "last"));
    (void) sym_writer_public(w, 0x1000, name(w, "first"));
    (void) sym_writer_public(w, 0x1000, name(w, "twin"));
    (void) sym_writer_public(w, 0x2000, name(w, "at start"));
    (void) sym_writer_public(w, 0x2080, name(w, "thief"));
    (void) sym_writer_public(w, 0x2100, name(w, "behind"));
    (void) sym_writer_function(w, &f);
    sym_writer_stats_t stats = finish(w);

    is_u64(stats.quality, SYM_QUALITY_FUNCTIONS, "quality: functions");
    is_u64(stats.dropped, 3, "publics that cover nothing are counted");
    at(0xfff, "-");
    at(0x1000, "first @1000+1000");
    at(0x1fff, "first @1000+1000");
    at(0x2000, "f @2000+100");
    at(0x20ff, "f @2000+100"); /* inside a function: no effect */
    at(0x2100, "behind @2100+f00");
    at(0x2fff, "behind @2100+f00");
    at(0x3000, "last @3000+0");
    at(0xffffffff, "last @3000+0");
    at(0x100000000, "-");

    w = begin();
    (void) sym_writer_public(w, 0, name(w, "zero"));
    stats = finish(w);
    is_u64(stats.quality, SYM_QUALITY_PUBLICS, "quality: publics");
    at(0, "zero @0+0");

    stats = finish(begin());
    is_u64(stats.quality, SYM_QUALITY_EMPTY, "quality: empty");
    at(0, "-");
    at(0xffffffff, "-");
}


static void
test_inlines(void)
{
    sym_writer_t *w = begin();
    uint32_t f = name(w, "f.c"), g = name(w, "g.h"), h = name(w, "h.h");
    sym_line_t lines[] = {
        { 0x100, 0x10, 1, f },  { 0x110, 0x10, 50, g }, { 0x120, 0x10, 70, h },
        { 0x130, 0x10, 51, g }, { 0x140, 0x60, 2, f },
    };
    sym_inline_t inlines[] = {
        /* addr size depth name call_line call_file; deepest first on purpose */
        { 0x120, 0x10, 1, name(w, "inner"), 55, g },
        { 0x110, 0x30, 0, name(w, "outer"), 10, f },
        { 0x150, 0x10, 0, name(w, "split"), 20, f },
        { 0x158, 0x10, 0, name(w, "late"), 21, f }, /* overlaps its neighbour */
        { 0x170, 4, 2, name(w, "orphan"), 1, f },
        { 0x180, 0x100, 0, name(w, "long"), 30, f },
        { 0x80, 0x20, 0, name(w, "early"), 30, f },
    };
    sym_function_t fn = { .addr = 0x100,
                          .size = 0xa0,
                          .name = name(w, "fn"),
                          .lines = lines,
                          .n_lines = 5,
                          .inlines = inlines,
                          .n_inlines = 7 };

    (void) sym_writer_function(w, &fn);
    sym_writer_stats_t stats = finish(w);

    is_u64(stats.quality, SYM_QUALITY_INLINES, "quality: inlines");
    at(0x100, "fn at f.c:1 @100+a0");
    at(0x110, "outer at g.h:50 < fn at f.c:10 @100+a0");
    at(0x120, "inner at h.h:70 < outer at g.h:55 < fn at f.c:10 @100+a0");
    at(0x12f, "inner at h.h:70 < outer at g.h:55 < fn at f.c:10 @100+a0");
    at(0x130, "outer at g.h:51 < fn at f.c:10 @100+a0");
    at(0x140, "fn at f.c:2 @100+a0");
    /* a line that spans calls is split, and continues after them */
    at(0x150, "split at f.c:2 < fn at f.c:20 @100+a0");
    at(0x15f, "split at f.c:2 < fn at f.c:20 @100+a0");
    at(0x160, "late at f.c:2 < fn at f.c:21 @100+a0");
    at(0x168, "fn at f.c:2 @100+a0");
    at(0x170, "fn at f.c:2 @100+a0"); /* depth 2 with nothing at depth 1 */
    at(0x180, "long at f.c:2 < fn at f.c:30 @100+a0");
    at(0x19f, "long at f.c:2 < fn at f.c:30 @100+a0");
    at(0x1a0, "-");
}


/* A call without a line record inside is at its caller's line. */
static void
test_call_without_lines(void)
{
    sym_writer_t *w = begin();
    uint32_t f = name(w, "f.c"), g = name(w, "g.h");
    sym_line_t lines[] = { { 0x100, 0x10, 1, f }, { 0x120, 0x10, 9, g } };
    sym_inline_t inlines[] = { { 0x110, 0x20, 0, name(w, "call"), 33, f } };
    sym_function_t fn = { .addr = 0x100,
                          .size = 0x40,
                          .name = name(w, "fn"),
                          .lines = lines,
                          .n_lines = 2,
                          .inlines = inlines,
                          .n_inlines = 1 };

    (void) sym_writer_function(w, &fn);
    (void) finish(w);
    at(0x10f, "fn at f.c:1 @100+40");
    at(0x110, "fn at f.c:33 @100+40");
    at(0x11f, "fn at f.c:33 @100+40");
    at(0x120, "call at g.h:9 < fn at f.c:33 @100+40");
}


static void
test_late_names(void)
{
    sym_writer_t *w = begin();
    uint32_t late, never, same, f = name(w, "f.c");

    (void) sym_writer_reserve(w, &late);
    (void) sym_writer_reserve(w, &never);
    (void) sym_writer_reserve(w, &same);

    sym_line_t line = { 0x10, 4, 1, f };
    sym_inline_t inlines[] = { { 0x10, 4, 0, late, 5, f },
                               { 0x10, 4, 1, never, 6, f },
                               { 0x10, 4, 2, same, 7, f } };
    sym_function_t fn = { .addr = 0x10,
                          .size = 4,
                          .name = name(w, "fn"),
                          .lines = &line,
                          .n_lines = 1,
                          .inlines = inlines,
                          .n_inlines = 3 };

    (void) sym_writer_function(w, &fn);
    (void) sym_writer_define(w, late, SYM_STR("named later"));
    (void) sym_writer_define(w, late, SYM_STR("too late"));
    (void) sym_writer_define(w, same, SYM_STR("fn"));
    (void) finish(w);
    at(0x10, "fn at f.c:1 <  at f.c:7 < named later at f.c:6 < fn at f.c:5 "
             "@10+4");
}


static void
test_overlaps(void)
{
    sym_writer_t *w = begin();
    uint32_t a = name(w, "a.c"), b = name(w, "b.c");
    sym_line_t outer_lines[] = { { 0x100, 0x20, 1, a }, { 0x120, 0x60, 2, a } };
    sym_line_t inner_lines[] = { { 0x110, 8, 5, b }, { 0x120, 8, 6, b } };
    sym_function_t outer = { .addr = 0x100,
                             .size = 0x80,
                             .name = name(w, "outer"),
                             .lines = outer_lines,
                             .n_lines = 2 };
    sym_function_t inner = { .addr = 0x110,
                             .size = 0x20,
                             .name = name(w, "inner"),
                             .lines = inner_lines,
                             .n_lines = 2 };
    sym_function_t bare = { .addr = 0x300, .size = 8, .name = name(w, "bare") };
    sym_function_t twin = { .addr = 0x300,
                            .size = 16,
                            .name = name(w, "twin") };

    (void) sym_writer_function(w, &outer);
    (void) sym_writer_function(w, &inner);
    (void) sym_writer_function(w, &bare);
    (void) sym_writer_function(w, &twin);
    (void) finish(w);
    at(0x100, "outer at a.c:1 @100+80");
    at(0x110, "inner at b.c:5 @110+20");
    at(0x120, "inner at b.c:6 @110+20"); /* the later one in the file */
    at(0x12f, "inner at b.c:6 @110+20");
    at(0x130, "outer at a.c:2 @100+80"); /* after the inner one */
    at(0x17f, "outer at a.c:2 @100+80");
    at(0x180, "-");
    at(0x300, "bare @300+8"); /* without lines the first one counts */
    at(0x308, "twin @300+10");
    at(0x310, "-");
}


/* Names of every length, shape and packing. */
static void
test_names(void)
{
    sym_writer_t *w = begin();
    static char long_name[40000];
    char text[200], want[300];
    uint32_t n = 20000;

    memset(long_name, 'x', sizeof(long_name) - 1);
    for (uint32_t i = 0; i < n; i++) {
        (void) snprintf(text, sizeof(text),
                        "std::__1::basic_string<char, std::__1::char_traits<"
                        "char> >::member_%u(std::__1::vector<int> const&)",
                        i * 7919);
        sym_function_t f = { .addr = i * 16,
                             .size = 16,
                             .name = name(w, text) };
        (void) sym_writer_function(w, &f);
    }

    sym_function_t odd = { .addr = n * 16, .size = 1, .name = name(w, "") };
    (void) sym_writer_function(w, &odd);
    odd.addr++;
    odd.name = name(w, "quote \" back \\ \xc3\xa9 \x01");
    (void) sym_writer_function(w, &odd);
    odd.addr++;
    odd.name = name(w, long_name);
    (void) sym_writer_function(w, &odd);

    sym_writer_stats_t stats = finish(w);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < n; i++) {
        (void) snprintf(want, sizeof(want),
                        "std::__1::basic_string<char, std::__1::char_traits<"
                        "char> >::member_%u(std::__1::vector<int> const&) "
                        "@%x+10",
                        i * 7919, i * 16);
        wrong += strcmp(describe(i * 16 + i % 16), want) != 0;
    }
    is_u64(wrong, 0, "20,000 names come back");
    ok(stats.extents > 1, "over several extents");
    ok(memory.largest <= SYM_EXTENT_MAX, "none is too large");
    ok(stats.bytes * 2 < stats.string_bytes, "packed: %llu of %llu bytes",
       (unsigned long long) stats.bytes,
       (unsigned long long) stats.string_bytes);
    is_u64(stats.truncated, 0, "no name was cut");

    at((uint64_t) n * 16, " @4e200+1");
    at(n * 16 + 1, "quote \" back \\ \xc3\xa9 \x01 @4e201+1");
    is_u64(strlen(describe(n * 16 + 2)),
           sizeof(long_name) - 1 + strlen(" @4e202+1"),
           "one of two parts is whole");

    bool is_plain;
    size_t len;
    (void) sym_symcache_lookup(&sc, 0, levels, &answer);
    (void) sym_symcache_string_len(&sc, levels[0].name, &len, &is_plain);
    ok(is_plain, "an ordinary name needs no escape");
    (void) sym_symcache_lookup(&sc, n * 16 + 1, levels, &answer);
    (void) sym_symcache_string_len(&sc, levels[0].name, &len, &is_plain);
    ok(!is_plain, "a quote does");

    char buf[SYM_PART_ROOM];
    is_str(sym_str(buf, sym_symcache_info(&sc, SYM_INFO_DEBUG_FILE, buf)),
           "module.pdb", "module facts");
    is_str(sym_str(buf, sym_symcache_info(&sc, SYM_INFO_CODE_FILE, buf)), "",
           "an unknown fact is empty");
}


/* A name of len bytes with its number, so that names of one length differ; it
 * has characters of one byte and of several. */
static char *
long_text(size_t len, unsigned number)
{
    static const char *const letters[] = {
        "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "B<", ", "
    };
    char *text = malloc(len + 8);
    uint32_t seed = number + 1;
    size_t used = 0;

    if (text == NULL) {
        abort();
    }

    while (used < len) {
        const char *letter;

        seed = seed * 1664525 + 1013904223;
        letter = letters[(seed >> 16) % 6];
        if (used + strlen(letter) > len) {
            text[used++] = 'x';
            continue;
        }
        memcpy(text + used, letter, strlen(letter));
        used += strlen(letter);
    }

    text[len] = '\0';
    return text;
}


/* Checks that the function at addr has this name, read at once and in parts. */
static void
name_is(uint64_t addr, const char *text, size_t len)
{
    static char out[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_string_ref_t parts[SYM_PARTS_MAX];
    size_t done = 0, said = 0;
    uint32_t n;
    bool is_plain, whole = true;

    (void) sym_symcache_lookup(&sc, addr, levels, &answer);
    is_status(sym_symcache_string_len(&sc, levels[0].name, &said, &is_plain),
              SYM_OK, &err, "a name ...");
    is_u64(said, len, "... has its length");
    is_u64(sym_symcache_string(&sc, levels[0].name, out, &is_plain), len,
           "... is read whole");
    ok(memcmp(out, text, len) == 0, "... as it was added");

    n = sym_symcache_parts(&sc, levels[0].name, parts);
    for (uint32_t i = 0; i < n; i++) {
        size_t part = sym_symcache_string_within(&sc, parts[i], out,
                                                 SYM_PART_ROOM, &is_plain);

        whole = whole && part != 0 && memcmp(out, text + done, part) == 0
                && ((uint8_t) text[done] & 0xc0) != 0x80;
        done += part;
    }

    ok(whole && (n == 0) == (len <= SYM_PART_BYTES_MAX)
           && done == (n == 0 ? 0 : len),
       "... and in parts, of whole characters");
}


static void
test_long_names(void)
{
    static const size_t sizes[] = {
        32767,         32768, 32769, 65537, 155066, 1000003, SYM_STRING_MAX - 1,
        SYM_STRING_MAX
    };
    enum { N = sizeof(sizes) / sizeof(sizes[0]) };
    char *texts[N], *more = malloc(SYM_STRING_MAX + 9);
    sym_writer_t *w = begin();
    sym_writer_stats_t stats;
    uint32_t later = 0;

    for (unsigned i = 0; i < N; i++) {
        texts[i] = long_text(sizes[i], i);
        sym_function_t f = { .addr = i * 16,
                             .size = 8,
                             .name = name(w, texts[i]) };
        (void) sym_writer_function(w, &f);
        is_u64(name(w, texts[i]), f.name, "the same name once");
    }

    (void) sym_writer_reserve(w, &later);
    sym_function_t again = { .addr = 0x1000, .size = 8, .name = later };
    (void) sym_writer_function(w, &again);
    (void) sym_writer_define(w, later, sym_cstr(texts[4]));

    /* the limit is inside of a two-byte character */
    memset(more, 'm', SYM_STRING_MAX - 1);
    memcpy(more + SYM_STRING_MAX - 1, "\xc3\xa9 more", 8);
    again.addr = 0x2000;
    again.name = name(w, more);
    (void) sym_writer_function(w, &again);

    stats = finish(w);
    is_u64(stats.truncated, 1, "only the longest is cut");
    ok(memory.largest <= SYM_EXTENT_MAX, "no extent is too large");

    for (unsigned i = 0; i < N; i++) {
        name_is((uint64_t) i * 16, texts[i], sizes[i]);
    }
    name_is(0x1000, texts[4], sizes[4]);
    name_is(0x2000, more, SYM_STRING_MAX - 1);
    is_u64(sc.damaged, 0, "nothing is damaged");

    for (unsigned i = 0; i < N; i++) {
        free(texts[i]);
    }
    free(more);
}


/* Many long names: there is a limit on their total, and later ones are
 * truncated to one part. */
static void
test_many_long_names(void)
{
    sym_writer_t *w = begin();
    char *text = malloc(SYM_STRING_MAX + 1);
    uint32_t n = (uint32_t) (SYM_LONG_BYTES_MAX / SYM_STRING_MAX) + 3;
    sym_writer_stats_t stats;
    size_t len = 0;
    bool is_plain;

    memset(text, 'n', SYM_STRING_MAX);
    text[SYM_STRING_MAX] = '\0';

    for (uint32_t i = 0; i < n; i++) {
        text[i % 9] = (char) ('A' + i % 25);
        sym_function_t f = { .addr = i * 16, .size = 8, .name = name(w, text) };
        (void) sym_writer_function(w, &f);
    }

    stats = finish(w);
    is_u64(stats.truncated, 3, "three are too many");
    (void) sym_symcache_lookup(&sc, (uint64_t) (n - 4) * 16, levels, &answer);
    (void) sym_symcache_string_len(&sc, levels[0].name, &len, &is_plain);
    is_u64(len, SYM_STRING_MAX, "the last one within the limit is complete");
    (void) sym_symcache_lookup(&sc, (uint64_t) (n - 3) * 16, levels, &answer);
    (void) sym_symcache_string_len(&sc, levels[0].name, &len, &is_plain);
    is_u64(len, SYM_PART_BYTES_MAX, "the next one is cut");
    free(text);
}


/* A long name's record, byte by byte: whatever the byte, nothing is written
 * past the buffer for a name, and parts do not have parts. */
static void
test_damaged_parts(void)
{
    char *text = long_text(100000, 1), *out;
    sym_writer_t *w = begin();
    sym_function_t f = { .addr = 0x1000, .size = 16, .name = name(w, text) };
    sym_string_ref_t ref, parts[SYM_PARTS_MAX];
    uint8_t *record;
    bool is_plain;
    size_t len;
    unsigned wrong = 0;

    (void) sym_writer_function(w, &f);
    (void) finish(w);
    (void) sym_symcache_lookup(&sc, 0x1000, levels, &answer);
    ref = levels[0].name;
    record = memory.extents[SYM_REF_EXTENT(ref)].data + SYM_REF_POS(ref);
    out =
        malloc(100000 + SYM_STRING_SLACK); /* a sanitizer sees writes past it */
    is_u64(sym_symcache_parts(&sc, ref, parts), 4, "a name of four parts");

    /* 3 bytes of length, then references */
    for (unsigned i = 0; i < 3 + 4 * 4; i++) {
        uint8_t kept = record[i];

        for (unsigned v = 0; v < 256; v++) {
            record[i] = (uint8_t) v;
            len = sym_symcache_string_within(
                &sc, ref, out, 100000 + SYM_STRING_SLACK, &is_plain);
            wrong += len > 100000;
            wrong += sym_symcache_parts(&sc, ref, parts) > SYM_PARTS_MAX;
        }
        record[i] = kept;
    }
    is_u64(wrong, 0, "no damage makes it longer");

    uint64_t damaged = sc.damaged;
    memcpy(record + 3, &ref, sizeof(ref));
    is_u64(sym_symcache_string_within(&sc, ref, out, 100000 + SYM_STRING_SLACK,
                                      &is_plain),
           0, "a part of itself is damage");
    is_u64(sym_symcache_parts(&sc, ref, parts), 0, "... for its parts, too");
    ok(sc.damaged >= damaged + 2, "... and is counted");

    damaged = sc.damaged;
    memset(record + 3, 0, 4);
    is_u64(sym_symcache_string_within(&sc, ref, out, 100000 + SYM_STRING_SLACK,
                                      &is_plain),
           0, "a missing part is damage");
    ok(sc.damaged > damaged, "... and is counted");

    free(out);
    free(text);
}


/* A faulty writer changes a string's length after it was asked for: nothing is
 * written past the room made for it. */
static void
test_changed_length(void)
{
    char text[64 + 10];
    sym_writer_t *w = begin();

    memset(text, 'n', 63);
    text[63] = '\0';

    /* its own bytes: no dictionary is known yet */
    sym_function_t f = { .addr = 0x1000, .size = 16, .name = name(w, text) };
    (void) sym_writer_function(w, &f);
    (void) finish(w);
    (void) sym_symcache_lookup(&sc, 0x1000, levels, &answer);

    sym_string_ref_t ref = levels[0].name;
    uint8_t *head = memory.extents[SYM_REF_EXTENT(ref)].data + SYM_REF_POS(ref);
    const uint8_t kept[] = { head[0], head[1] };
    size_t len;
    bool is_plain;

    is_status(sym_symcache_string_len(&sc, ref, &len, &is_plain), SYM_OK, &err,
              "the length of a string");
    is_u64(len, 63, "... is known");

    for (unsigned longer = 1; longer < 64; longer++) {
        size_t room = len + SYM_STRING_SLACK;
        char *out = malloc(room); /* so that a sanitizer sees writes past it */
        uint64_t damaged = sc.damaged;
        unsigned now = (unsigned) len + longer;

        if (out == NULL) {
            abort();
        }

        head[0] = (uint8_t) (now << 1 | 1 | 0x80);
        head[1] = (uint8_t) (now >> 6);
        if (sym_symcache_string_within(&sc, ref, out, room, &is_plain) != 0
            || sc.damaged == damaged)
        {
            ok(false, "%u bytes more are refused", longer);
        }
        free(out);
    }

    memcpy(head, kept, sizeof(kept));
    at(0x1000, strcat(text, " @1000+10"));
}


/* The same extents in a table, and fetched one by one. */
static void
test_remembered_extents(void)
{
    sym_extent_view_t *table = calloc(sc.n_extents, sizeof(*table));
    char before[400];

    (void) snprintf(before, sizeof(before), "%s", describe(0x777));
    sym_symcache_remember(&sc, table);
    is_str(sym_cstr(describe(0x777)), before, "with a table of extents");
    is_str(sym_cstr(describe(0x777)), before, "and again");
    free(table);
    sc.extents = NULL;
}


static bool
are_same(uint64_t a, uint64_t b)
{
    sym_probe_t probes[2];

    sym_symcache_seek(&sc, a, &probes[0]);
    sym_symcache_seek(&sc, b, &probes[1]);
    sym_symcache_lead(probes, 2);
    return sym_symcache_is_same(&probes[0], &probes[1]);
}


/* Far apart, dense, long: every width of every column. */
static void
test_widths(void)
{
    static sym_line_t lines[5000];
    static sym_inline_t inlines[400];
    sym_writer_t *w = begin();
    uint32_t f = name(w, "f.c"), g = name(w, "g.c");
    unsigned wrong = 0;
    char want[200];

    for (uint32_t i = 0; i < 5000; i++) {
        lines[i] = (sym_line_t){ i * 7, 7, i * (i % 3 ? 1 : 100000) % 9999991,
                                 i % 97 ? f : g };
    }
    for (uint32_t i = 0; i < 400; i++) {
        inlines[i] = (sym_inline_t){ i * 70, 35, 0, name(w, "in"), i, g };
    }

    sym_function_t fn = { .addr = 0,
                          .size = 35000,
                          .name = name(w, "fn"),
                          .lines = lines,
                          .n_lines = 5000,
                          .inlines = inlines,
                          .n_inlines = 400 };
    (void) sym_writer_function(w, &fn);
    (void) sym_writer_public(w, 40000, name(w, "p1"));
    (void) sym_writer_public(w, 0x70000000, name(w, "p2"));
    sym_line_t far[] = { { 0x80000000, 1, 1, f },
                         { 0x80000100, 1, 2, f },
                         { 0x80010200, 1, 3, f },
                         { 0xfffffffe, 1, 4, f } };
    sym_function_t last = { .addr = 0x80000000,
                            .size = 0x7fffffff,
                            .name = name(w, "last"),
                            .lines = far,
                            .n_lines = 4 };
    (void) sym_writer_function(w, &last);
    (void) finish(w);

    for (uint32_t a = 0; a < 35000; a++) {
        uint32_t i = a / 7, line = lines[i].line, in = a / 70;
        const char *file = i % 97 ? "f.c" : "g.c";
        bool is_inlined = in < 400 && a % 70 < 35;

        if (is_inlined) {
            (void) snprintf(want, sizeof(want),
                            "in at %s:%u < fn at g.c:%u @0+88b8", file, line,
                            in);
        } else {
            (void) snprintf(want, sizeof(want), "fn at %s:%u @0+88b8", file,
                            line);
        }
        wrong += strcmp(describe(a), want) != 0;
    }
    is_u64(wrong, 0, "every address of a long function");

    wrong = 0;
    for (uint32_t a = 0; a < 34999; a++) {
        wrong += are_same(a, a + 1) != (a / 7 == (a + 1) / 7);
    }
    is_u64(wrong, 0, "addresses of one line have one answer, others do not");
    ok(!are_same(0xffffffff, 0xffffffff), "nor has an address without code");

    at(40000, "p1 @9c40+6fff63c0");
    at(0x70000001, "p2 @70000000+10000000");
    at(0x800000ff, "last at f.c:1 @80000000+7fffffff");
    at(0x80000100, "last at f.c:2 @80000000+7fffffff");
    at(0x80010200, "last at f.c:3 @80000000+7fffffff");
    at(0xfffffffe, "last at f.c:4 @80000000+7fffffff");
    at(0xffffffff, "-");
}


/* More files than fit one byte, and more than one page of the table holds. */
static void
test_many_files(void)
{
    enum { N_FILES = 1100, N_LINES = 2 * N_FILES };
    static sym_line_t lines[N_LINES];
    sym_writer_t *w = begin();
    unsigned wrong = 0;
    char text[80];

    for (uint32_t i = 0; i < N_LINES; i++) {
        (void) snprintf(text, sizeof(text), "%u.c", i % N_FILES);
        lines[i] = (sym_line_t){ 4 * i, 4, 100 * i + 1, name(w, text) };
    }

    sym_function_t fn = { .size = 4 * N_LINES,
                          .name = name(w, "fn"),
                          .lines = lines,
                          .n_lines = N_LINES };
    (void) sym_writer_function(w, &fn);
    (void) finish(w);

    for (uint32_t i = 0; i < N_LINES; i++) {
        (void) snprintf(text, sizeof(text), "fn at %u.c:%u @0+%x", i % N_FILES,
                        100 * i + 1, 4 * N_LINES);
        wrong += strcmp(describe(4 * i + 3), text) != 0;
    }
    is_u64(wrong, 0, "each line has its file, of 1,100");
}


/* No flipped byte makes the reader read outside its bytes or run for ever. */
static void
test_damage(void)
{
    uint32_t seed = 1;
    unsigned lookups = 0;

    for (unsigned round = 0; round < 3000; round++) {
        memory_extent_t *e;
        uint8_t *byte, old;

        seed = seed * 1664525u + 1013904223u;
        e = &memory.extents[seed % memory.n];
        byte = &e->data[(seed >> 8) % (round % 2 ? e->len : 600)];
        old = *byte;
        *byte = (uint8_t) (seed >> 16);

        sym_error_t open_err = { 0 };
        if (sym_symcache_open(&sc, memory_get, &memory, &open_err) == SYM_OK) {
            for (uint32_t a = 0; a < 64; a++, lookups++) {
                (void) describe(a * 640 + (seed >> 20) % 640);
            }
            (void) describe(0x80000000);
        }
        *byte = old;
    }
    ok(lookups > 1000, "%u lookups in damaged extents", lookups);

    for (uint32_t i = 0; i < memory.n; i++) {
        size_t whole = memory.extents[i].len;

        for (size_t len = 0; len < whole; len += 1 + len / 7) {
            sym_error_t open_err = { 0 };

            memory.extents[i].len = len;
            if (sym_symcache_open(&sc, memory_get, &memory, &open_err)
                == SYM_OK) {
                (void) describe(0x777);
                (void) describe(0x80000000);
            }
        }
        memory.extents[i].len = whole;
    }
    ok(true, "and in truncated ones");
}


static void
test_versions(void)
{
    sym_error_t e = { 0 };

    memory.extents[0].data[8]++;
    is_status(sym_symcache_open(&sc, memory_get, &memory, &e), SYM_VERSION, &e,
              "another version is refused");
    memory.extents[0].data[8]--;

    e = (sym_error_t){ 0 };
    memory.extents[0].data[12] ^= 5;
    is_status(sym_symcache_open(&sc, memory_get, &memory, &e), SYM_VERSION, &e,
              "another byte order is refused");
    memory.extents[0].data[12] ^= 5;

    e = (sym_error_t){ 0 };
    memory.extents[0].data[0] = 'x';
    is_status(sym_symcache_open(&sc, memory_get, &memory, &e), SYM_DAMAGED, &e,
              "other bytes are refused");
}


static sym_shard_t
part(void)
{
    sym_shard_t p;

    sym_shard_init(&p);
    return p;
}


static uint32_t
part_name(sym_shard_t *p, const char *text)
{
    uint32_t id = SYM_NO_STRING;

    (void) sym_shard_string(p, sym_cstr(text), true, &id);
    return id;
}


/*
 * Which of several ranges with the same beginning and depth counts: the answer
 * of symbolic 13.9.0, the library of Mozilla's server, for this many of them
 * after this many other calls, as a Breakpad file.
 */
static void
test_tied_inlines(void)
{
    static const char winners[4][7] = {
        { 1, 2, 2, 0, 0, 2, 2 },
        { 1, 1, 0, 0, 1, 1, 1 },
        { 0, 0, 0, 3, 3, 3, 3 },
        { 0, 0, 2, 2, 2, 2, 0 },
    };
    sym_writer_t *w = begin();
    uint32_t a = name(w, "a.c"), f = name(w, "f"), call = name(w, "call");

    for (uint32_t i = 0; i < 28; i++) {
        uint32_t base = 0x1000 * i, others = i / 7, n = others;
        sym_inline_t inlines[16];
        sym_line_t line = { base, 0x100, 9, a };

        for (uint32_t k = 0; k < others; k++) {
            inlines[k] = (sym_inline_t){
                base + 0x80 + 8 * (others - k), 4, 0, call, 9, a
            };
        }

        for (uint32_t k = 0; k < i % 7 + 2; k++) {
            inlines[n++] =
                (sym_inline_t){ base + 0x10, 0x10, 0, call, k + 1, a };
        }

        inlines[n++] = (sym_inline_t){ base, 4, 0, call, 9, a };
        (void) sym_writer_function(w, &(sym_function_t){ .addr = base,
                                                         .size = 0x100,
                                                         .name = f,
                                                         .lines = &line,
                                                         .n_lines = 1,
                                                         .inlines = inlines,
                                                         .n_inlines = n });
    }

    (void) finish(w);
    for (uint32_t i = 0; i < 28; i++) {
        char want[64];

        (void) snprintf(want, sizeof(want),
                        "call at a.c:9 < f at a.c:%d @%x+100",
                        winners[i / 7][i % 7] + 1, 0x1000 * i);
        at(0x1000 * i + 0x10, want);
    }
}


/* Calls that a reader has flattened itself are stored unchanged; the same code
 * from another unit, and other records that overlap it. */
static void
test_flat_functions(void)
{
    sym_writer_t *w = begin();
    sym_shard_t first = part(), second = part();
    uint32_t a = part_name(&first, "a.c"), b = part_name(&first, "b.h");
    const sym_flat_node_t nodes[] = {
        { 0, part_name(&first, "outer"), SYM_NO_STRING, 0 },
        { 0, part_name(&first, "inner"), a, 12 },
        { 1, part_name(&first, "innermost"), b, 3 },
    };
    const sym_flat_node_t other[] = { { 0, part_name(&second, "twin"), 0, 0 } };
    const sym_segment_t segments[] = { { 0x1000, 0, a, 10 },
                                       { 0x1004, 2, b, 0 },
                                       { 0x1008, 1, b, 5 },
                                       { 0x100c, 0, SYM_NO_STRING, 0 } };
    sym_flat_function_t f = { .addr = 0x1000,
                              .size = 0x10,
                              .lang = SYM_LANG_CPP,
                              .nodes = nodes,
                              .n_nodes = 3,
                              .segments = segments,
                              .n_segments = 4 };
    sym_flat_function_t twin = { .addr = 0x1000,
                                 .size = 0x10,
                                 .nodes = other,
                                 .n_nodes = 1,
                                 .segments = segments,
                                 .n_segments = 1 };
    const sym_segment_t later[] = { { 0x100e, 0, part_name(&second, "a.c"),
                                      77 } };
    sym_writer_stats_t stats;

    (void) name(w, "shifts the ids");
    (void) sym_shard_function(&first, &f);
    (void) sym_shard_function(&second, &twin);
    twin.addr = 0x100e;
    twin.segments = later;
    (void) sym_shard_function(&second, &twin);
    (void) sym_writer_join(w, &first);
    (void) sym_writer_join(w, &second);
    stats = finish(w);

    at(0xfff, "-");
    at(0x1000, "outer at a.c:10 @1000+10");
    at(0x1004,
       "innermost at b.h:0 < inner at b.h:3 < outer at a.c:12 @1000+10");
    at(0x100b, "inner at b.h:5 < outer at a.c:12 @1000+10");
    at(0x100d, "outer @1000+10");
    at(0x100e, "twin at a.c:77 @100e+10");
    at(0x101d, "twin at a.c:77 @100e+10");
    at(0x101e, "-");
    is_u64(stats.functions, 3, "functions given");
    is_u64(stats.dropped, 1, "the twin is dropped");
    is_u64(stats.quality, SYM_QUALITY_INLINES, "lines and inlines");
}


/* Functions that the linker folded: one without a line of its own yields to one
 * with lines; if none has lines, the first counts, as in Sentry's reader. */
static void
test_folded_functions(void)
{
    static const char *const names[] = { "bare", "lines", "calls" };
    sym_writer_t *w = begin();
    sym_shard_t p = part();
    const uint32_t a = part_name(&p, "a.c");
    const sym_segment_t segments[][2] = {
        { { 0, 0, SYM_NO_STRING, 0 }, { 8, 0, SYM_NO_STRING, 0 } },
        { { 0, 0, a, 10 }, { 8, 0, a, 11 } },
        { { 0, 0, SYM_NO_STRING, 0 }, { 4, 1, a, 20 } },
    };
    /* the functions at each address, in the order of the file */
    static const int folded[][3] = {
        { 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 0 }, { 2, 0, 2 }, { 1, 2, 1 }
    };
    sym_writer_stats_t stats;

    for (uint32_t i = 0; i < 15; i++) {
        const int kind = folded[i / 3][i % 3];
        const sym_flat_node_t nodes[] = {
            { 0, part_name(&p, names[kind]), SYM_NO_STRING, 0 },
            { 0, part_name(&p, "inner"), SYM_NO_STRING, 0 },
        };
        sym_segment_t moved[2];

        for (size_t k = 0; k < 2; k++) {
            moved[k] = segments[kind][k];
            moved[k].addr += 0x1000 + i / 3 * 0x10;
        }
        (void) sym_shard_function(
            &p, &(sym_flat_function_t){ .addr = 0x1000 + i / 3 * 0x10,
                                        .size = 0x10,
                                        .is_generated = kind != 1,
                                        .nodes = nodes,
                                        .n_nodes = kind == 2 ? 2 : 1,
                                        .segments = moved,
                                        .n_segments = 2 });
    }
    (void) sym_writer_join(w, &p);
    sym_writer_keep_twins(w);
    stats = finish(w);

    at(0x1000, "lines at a.c:10 @1000+10");
    at(0x1004, "lines at a.c:10 @1000+10");
    at(0x101f, "lines at a.c:11 @1010+10");
    at(0x1020, "bare @1020+10");
    at(0x1024, "bare @1020+10");
    at(0x1033, "calls @1030+10");
    at(0x1034, "inner at a.c:20 < calls @1030+10");
    at(0x1044, "lines at a.c:10 @1040+10");
    is_u64(stats.dropped, 2 + 2 + 2 + 2 + 1, "the others are dropped");
}


/* The file and line that atos shows; "" for those of the segment. */
static const char *
shown(uint32_t addr)
{
    static char text[64], file[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_level_t level = { 0, 0, 0 };
    bool is_plain;
    size_t len;

    if (!sym_symcache_statement(&sc, addr, &level)) {
        return "";
    }

    len = sym_symcache_string(&sc, level.file, file, &is_plain);
    (void) snprintf(text, sizeof(text), "%.*s:%u", (int) len, file, level.line);
    return text;
}


static void
shows(uint32_t addr, const char *want)
{
    char label[64];

    (void) snprintf(label, sizeof(label), "atos at 0x%x", addr);
    is_str(sym_cstr(shown(addr)), want, label);
}


/* Overlapping functions each have their own statements, for their addresses; a
 * twin that is dropped has none. */
static void
test_statements(void)
{
    sym_writer_t *w = begin();
    sym_shard_t first = part(), second = part();
    uint32_t a = part_name(&first, "a.c"), b = part_name(&second, "b.c");
    const sym_flat_node_t node = { .name = SYM_NO_STRING,
                                   .call_file = SYM_NO_STRING };
    const sym_segment_t outer[] = { { 0x1000, 0, a, 10 } };
    const sym_segment_t inner[] = { { 0x1010, 0, b, 20 } };
    const sym_statement_t of_outer[] = { { 0x1000, 4, a, 11 },
                                         { 0x1008, 0x10, a, 70000 },
                                         { 0x1018, 8, SYM_NO_STRING, 0 } };
    const sym_statement_t of_inner[] = { { 0x1014, 1, b, 21 } };
    sym_flat_function_t f = { .addr = 0x1000,
                              .size = 0x20,
                              .nodes = &node,
                              .n_nodes = 1,
                              .segments = outer,
                              .n_segments = 1,
                              .statements = of_outer,
                              .n_statements = 3 };

    (void) name(w, "shifts the ids");
    (void) sym_shard_function(&first, &f);
    f.statements = of_inner;
    f.n_statements = 1;
    (void) sym_shard_function(&second, &f); /* a twin */
    f.addr = 0x1010;
    f.size = 6;
    f.segments = inner;
    (void) sym_shard_function(&second, &f);
    (void) sym_writer_join(w, &first);
    (void) sym_writer_join(w, &second);
    (void) finish(w);

    shows(0xfff, "");
    shows(0x1003, "a.c:11");
    shows(0x1004, "");
    shows(0x1008, "a.c:70000");
    shows(0x100f, "a.c:70000");
    shows(0x1010, "");
    shows(0x1014, "b.c:21");
    shows(0x1015, "");
    shows(0x1016, "a.c:70000"); /* continues after the one inside */
    shows(0x1018, ":0");
    shows(0x101f, ":0");
    shows(0x1020, "");
    shows(UINT32_MAX, "");
    at(0x1008, " at a.c:10 @1000+20");
    is_u64(sc.damaged, 0, "nothing is damaged");

    w = begin();
    (void) finish(w);
    shows(0x1000, "");
    is_u64(sc.n_statement_pages, 0, "no statements, no pages");
}


/* Many pages and index pages; damage must not make the reader leave them. */
static void
test_many_statements(void)
{
    const uint32_t n = SYM_STATEMENTS_PER_PAGE * (SYM_INDEX_PER_PAGE + 2) + 7;
    const sym_flat_node_t node = { .name = SYM_NO_STRING,
                                   .call_file = SYM_NO_STRING };
    sym_writer_t *w = begin();
    sym_shard_t p = part();
    uint32_t file = part_name(&p, "a.c"), wrong = 0;

    for (uint32_t i = 0; i < n; i++) {
        sym_segment_t segment = { i * 16, 0, file, 1 };
        sym_statement_t s = { i * 16 + i % 3, 1 + i % 9, file, i };

        (void) sym_shard_function(&p,
                                  &(sym_flat_function_t){ .addr = i * 16,
                                                          .size = 16,
                                                          .nodes = &node,
                                                          .n_nodes = 1,
                                                          .segments = &segment,
                                                          .n_segments = 1,
                                                          .statements = &s,
                                                          .n_statements = 1 });
    }
    (void) sym_writer_join(w, &p);
    (void) finish(w);
    is_u64(sc.n_statement_pages, 2, "index pages");

    for (uint32_t addr = 0; addr < n * 16; addr++) {
        uint32_t i = addr / 16, behind = addr % 16 - i % 3;
        sym_level_t level = { 0, 0, 0 };
        bool is_there = sym_symcache_statement(&sc, addr, &level);

        wrong += is_there != (addr % 16 >= i % 3 && behind < 1 + i % 9)
                 || level.line != (is_there ? i : 0);
    }
    is_u64(wrong, 0, "each address has its own");

    for (size_t i = 0; i < memory.extents[0].len; i++) {
        uint8_t *byte = memory.extents[0].data + i, before = *byte;

        for (unsigned k = 0; k < 3; k++) {
            *byte = (uint8_t) (before + 1 + 100 * k);
            if (sym_symcache_open(&sc, memory_get, &memory, &err) == SYM_OK) {
                for (uint32_t addr = 0; addr < n * 16; addr += n) {
                    (void) shown(addr);
                }
            }
        }
        *byte = before;
    }
    err = (sym_error_t){ 0 };
    ok(true, "damaged bytes do no harm");
}


/* --- names of Swift --- */

#define SHOWN_AT 204 /* docs/formats/symcache.md, 2 */


static size_t
show_swift(void *ctx, const char *mangled, char *out)
{
    uint32_t *n = ctx;

    (*n)++;
    return strstr(mangled, "none") != NULL
               ? 0
               : (size_t) snprintf(out, SYM_SWIFT_SHOWN_MAX, "shown %s",
                                   mangled);
}


/* The text shown for the symbol at addr; "" if that is its name. */
static const char *
shown_name(uint32_t addr)
{
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_string_ref_t ref = SYM_NO_REF;
    bool is_plain;

    if (sym_symcache_lookup(&sc, addr, levels, &answer) == SYM_OK
        && answer.n_levels != 0)
    {
        ref = sym_symcache_shown(&sc, levels[0].name);
    }

    text[ref != SYM_NO_REF ? sym_symcache_string(&sc, ref, text, &is_plain)
                           : 0] = '\0';
    return text;
}


/* More names than an index page holds; one that cannot be shown, and one of
 * C. */
static void
test_swift_names(void)
{
    const uint32_t n = SYM_INDEX_PER_PAGE * 2 + 3;
    sym_writer_t *w = begin();
    uint32_t n_asked = 0, id = 0, wrong = 0;
    char text[64], want[64];

    for (uint32_t i = 0; i < n; i++) {
        (void) snprintf(text, sizeof(text), "$s%u", i);
        (void) sym_writer_public(w, 16 * i, name(w, text));
    }
    (void) sym_writer_public(w, 16 * n, name(w, "$snone"));
    (void) sym_writer_public(w, 16 * n + 16, name(w, "main"));
    (void) sym_writer_public(w, 16 * n + 32, name(w, "$s0"));
    (void) sym_writer_reserve(w, &id);
    (void) sym_writer_public(w, 16 * n + 48, id);
    (void) sym_writer_define(w, id, SYM_STR("_TFlate"));

    is_u64(sym_writer_swift_names(w), n + 1, "names of Swift count, except 3");
    ok(sym_writer_has_swift(w), "there are such names");
    is_status(sym_writer_show_swift(w, show_swift, &n_asked), SYM_OK, &err,
              "show");
    is_u64(n_asked, n + 2, "each is looked up once");
    (void) finish(w);

    for (uint32_t i = 0; i < n; i++) {
        (void) snprintf(want, sizeof(want), "shown $s%u", i);
        wrong += strcmp(shown_name(16 * i), want) != 0;
    }
    is_u64(wrong, 0, "each has its own");
    is_u64(sc.n_shown_pages, 3, "... in pages");
    is_str(sym_cstr(shown_name(16 * n)), "", "one that cannot be shown");
    is_str(sym_cstr(shown_name(16 * n + 16)), "", "one of C");
    is_str(sym_cstr(shown_name(16 * n + 32)), "shown $s0", "the same again");
    is_str(sym_cstr(shown_name(16 * n + 48)), "shown _TFlate", "a late one");

    for (uint32_t i = 0; i < memory.n; i++) {
        for (size_t k = 0; k < memory.extents[i].len; k++) {
            uint8_t *byte = memory.extents[i].data + k, before = *byte;

            *byte = (uint8_t) (before + 101);
            if (sym_symcache_open(&sc, memory_get, &memory, &err) == SYM_OK) {
                (void) shown_name((uint32_t) (16 * (k % n)));
            }
            *byte = before;
        }
    }
    err = (sym_error_t){ 0 };
    ok(true, "damaged bytes do no harm");

    /* a header that ends before the field */
    memory.extents[0].data[16] = 200;
    is_status(sym_symcache_open(&sc, memory_get, &memory, &err), SYM_OK, &err,
              "an older symcache");
    is_str(sym_cstr(shown_name(0)), "", "... has only names");

    w = begin();
    (void) sym_writer_public(w, 16, name(w, "$s1"));
    (void) finish(w);
    is_u64(sym_load32(memory.extents[0].data + SHOWN_AT), 0,
           "without a demangler");
    is_str(sym_cstr(shown_name(16)), "", "... too");
}


/* docs/formats/symcache.md, 2: the flags are at 92; unknown flags mean
 * nothing. */
static void
test_flags(void)
{
    static const uint32_t flags[] = { 0, SYM_FLAG_LINKER_NAMES, ~0U,
                                      ~SYM_FLAG_LINKER_NAMES };

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        sym_module_info_t info = { .flags = flags[i] };
        sym_writer_t *w = begin();

        is_status(sym_writer_finish(w, &info, memory_put, &memory, NULL),
                  SYM_OK, &err, "finish");
        sym_writer_free(w);
        is_u64(sym_load32(memory.extents[0].data + 92), flags[i], "the flags");
        is_status(sym_symcache_open(&sc, memory_get, &memory, &err), SYM_OK,
                  &err, "open");
        ok(sc.has_linker_names == (flags[i] & 1), "... say what names are");
    }
}


static void
put_number(uint8_t *to, uint32_t number)
{
    memcpy(to, &number, sizeof(number));
}


static void
offset_is(uint64_t offset, uint64_t want, const char *name)
{
    uint64_t addr = 0;

    ok(sym_symcache_offset(&sc, offset, &addr), "%s", name);
    is_u64(addr, want, "... its address");
}


/* docs/formats/symcache.md, 2 and 10: the number of loads is at 208. */
static void
test_loads(void)
{
    static const sym_load_t loads[] = { { 0x9a0, 0x7a0, 0x19a0 },
                                        { 0x1000, 0x2000, 0x8000 },
                                        { UINT64_MAX - 1, 2, 0 } };
    sym_module_info_t info = { .loads = loads, .n_loads = 3 };
    sym_writer_t *w = begin();
    uint64_t addr;
    uint8_t *head;

    is_status(sym_writer_finish(w, &info, memory_put, &memory, NULL), SYM_OK,
              &err, "finish");
    sym_writer_free(w);
    is_status(sym_symcache_open(&sc, memory_get, &memory, &err), SYM_OK, &err,
              "open");
    head = memory.extents[0].data;
    is_u64(sym_load32(head + 16), 216, "bytes of the header");
    is_u64(sym_load32(head + 208), 3, "number of loads");

    offset_is(0x9a0, 0x19a0, "the first byte");
    offset_is(0x113f, 0x213f, "the last one, also in the next load");
    offset_is(0x1140, 0x8140, "the next one");
    offset_is(UINT64_MAX, 1, "the last byte of all");
    ok(!sym_symcache_offset(&sc, 0x99f, &addr), "a byte before them");
    ok(!sym_symcache_offset(&sc, 0x3000, &addr), "a byte after them");

    put_number(head + 212, 0xffff0000);
    ok(!sym_symcache_offset(&sc, 0x9a0, &addr), "a table elsewhere");
    put_number(head + 208, SYM_LOADS_MAX + 1);
    ok(!sym_symcache_offset(&sc, 0x9a0, &addr), "too many loads");
    is_u64(sc.damaged, 2, "... are damage");

    put_number(head + 16, 208);
    ok(!sym_symcache_offset(&sc, 0x9a0, &addr), "an older header has none");
    put_number(head + 16, 216);
    put_number(head + 208, 0);
    ok(!sym_symcache_offset(&sc, 0x9a0, &addr),
       "nor has a file that is no ELF file");
}


int
main(void)
{
    test_loads();
    test_flags();
    test_flat_functions();
    test_folded_functions();
    test_statements();
    test_many_statements();
    test_swift_names();
    test_plain_function();
    test_publics();
    test_late_publics();
    test_symbol_sizes();
    test_open_symbols();
    test_inlines();
    test_tied_inlines();
    test_call_without_lines();
    test_late_names();
    test_overlaps();
    test_names();
    test_remembered_extents();
    test_long_names();
    test_many_long_names();
    test_damaged_parts();
    test_changed_length();
    test_many_files();
    test_widths();
    test_damage();
    test_versions();
    memory_free(&memory);
    return done_testing();
}
