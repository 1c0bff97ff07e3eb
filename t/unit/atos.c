/*
 * Lines and addresses of atos: the forms that other programs parse, and
 * arithmetic that must not overflow.  t/atos.t sends requests to a store.
 */
#include "demangle/demangle.h"
#include "api/atos/address.h"
#include "api/atos/atos.h"
#include "api/atos/line.h"
#include "request_kit.h"
#include "tap.h"

/* Strings of a module; a reference is an index into them. */
static const char *const strings[] = {
    "",          "-[A b]",       "/src/a.m", "NSMakeRect", "C:\\src\\g.h",
    "_ZN1A1bEv", "two\nlines\t", "plain.m",  "/ends/",     "_ZN",
};


static sym_str_t
read_string(void *ctx, sym_string_ref_t ref)
{
    (void) ctx;
    return sym_cstr(strings[ref]);
}


static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    static char text[SYM_DEMANGLED_MAX];
    size_t len =
        sym_demangle(name, lang, SYM_DEMANGLE_FULL, text, sizeof(text));

    (void) ctx;
    return len != 0 ? sym_str(text, len) : name;
}


static bool
always(void *ctx)
{
    (void) ctx;
    return true;
}


static sym_atos_style_t
style_of(sym_atos_inline_t mode)
{
    return (sym_atos_style_t){ .mode = mode,
                               .delimiter = SYM_STR("\n"),
                               .read = read_string,
                               .show = show_name };
}


static void
lines_are(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
          const char *want, const char *name)
{
    char text[512];
    sym_out_t out = sym_out_fixed(text, sizeof(text));
    uint32_t next = 0;

    (void) sym_atos_lines(style, frame, &next, &out);
    is_str(sym_str(text, (size_t) (out.pos - text)), want, name);
}


typedef bool (*write_pt)(const sym_atos_style_t *style,
                         const sym_atos_frame_t *frame, uint32_t *next,
                         sym_out_t *out);

/* A pause after each name does not change the text. */
static void
pauses(sym_atos_style_t style, const sym_atos_frame_t *frame, write_pt write,
       unsigned pieces, const char *name)
{
    char whole[512], text[512];
    sym_out_t first = sym_out_fixed(whole, sizeof(whole));
    sym_out_t second = sym_out_fixed(text, sizeof(text));
    uint32_t next = 0;
    unsigned calls = 1;

    ok(write(&style, frame, &next, &first), "%s: in one go", name);
    *first.pos = '\0';

    style.is_enough = always;
    next = 0;
    while (!write(&style, frame, &next, &second) && calls < 10) {
        calls++;
    }

    is_u64(calls, pieces, "... in pieces");
    is_str(sym_str(text, (size_t) (second.pos - text)), whole, "... the same");
}


static void
places(void)
{
    sym_level_t levels[] = { { 3, 4, 110 }, { 1, 2, 42 } };
    sym_atos_frame_t f = {
        .address = SYM_STR("0x10"),
        .image = SYM_STR("App"),
        .value = 16,
        .offset = 16,
        .has_offset = true,
        .answer = { .n_levels = 2, .levels = levels, .function_addr = 4 },
    };
    sym_atos_style_t style = style_of(SYM_ATOS_OUTER);

    lines_are(&style, &f, "-[A b] (in App) (a.m:42)", "outer");
    pauses(style, &f, sym_atos_lines, 1, "a line");
    style.full_path = true;
    lines_are(&style, &f, "-[A b] (in App) (/src/a.m:42)", "a whole path");
    style = style_of(SYM_ATOS_ALL);
    pauses(style, &f, sym_atos_lines, 2, "two lines");
    style.is_json = true;
    pauses(style, &f, sym_atos_members, 4, "as JSON, with two frames");
    style = style_of(SYM_ATOS_DECL);
    lines_are(&style, &f, "NSMakeRect (in App) (a.m:42)", "decl");
    style = style_of(SYM_ATOS_LINE);
    lines_are(&style, &f, "-[A b] (in App) (g.h:110)",
              "line; a file of Windows");
    style = style_of(SYM_ATOS_ALL);
    style.delimiter = SYM_STR(" | ");
    lines_are(&style, &f,
              "NSMakeRect (in App) (g.h:110) | -[A b] (in App) (a.m:42)",
              "all");

    style = style_of(SYM_ATOS_OUTER);
    levels[1].line = 0;
    lines_are(&style, &f, "-[A b] (in App) (a.m:0)", "no line");
    levels[1].file = SYM_NO_REF;
    lines_are(&style, &f, "-[A b] (in App) + 12", "no file");
    is_str(sym_atos_status(&style, &f), "symbol_table", "... its status");
    levels[1] = (sym_level_t){ SYM_NO_REF, 7, 1 };
    lines_are(&style, &f, "??? (in App) (plain.m:1)", "no name");
    levels[1] = (sym_level_t){ 5, 8, 1 };
    lines_are(&style, &f, "A::b() (in App) (:1)",
              "a mangled name, a path without a file name");
    levels[1] = (sym_level_t){ 9, 7, 1 };
    lines_are(&style, &f, "_ZN (in App) (plain.m:1)", "what looks mangled");
    levels[1] = (sym_level_t){ 6, 7, 1 };
    lines_are(&style, &f, "two?lines? (in App) (plain.m:1)",
              "a line stays a line");
    style.is_json = true;
    lines_are(&style, &f, "two\\nlines\\t (in App) (plain.m:1)", "... in JSON");
}


static void
nothing(void)
{
    sym_atos_frame_t f = { .address = SYM_STR("4096"),
                           .image = SYM_STR("App"),
                           .value = 4096 };
    sym_atos_style_t style = style_of(SYM_ATOS_ALL);

    lines_are(&style, &f, "0x1000 (in App)", "a gap");
    is_str(sym_atos_status(&style, &f), "gap", "... its status");
    f.is_missing = true;
    lines_are(&style, &f, "4096", "no symbols: the address as sent");
    is_str(sym_atos_status(&style, &f), "missing", "... its status");
    f = (sym_atos_frame_t){ .address = SYM_STR("main") };
    lines_are(&style, &f, "main", "no image");
}


/* --- addresses --- */

static void
numbers(void)
{
    static const struct {
        sym_str_t text;
        bool is_address, is_base;
        uint64_t address, base;
    } cases[] = {
        { SYM_STR("0x10035d580"), true, true, 0x10035d580, 0x10035d580 },
        { SYM_STR("0XFF"), true, true, 0xff, 0xff },
        { SYM_STR("10"), true, true, 10, 0x10 },
        { SYM_STR("ff"), false, true, 0, 0xff },
        { SYM_STR("0xffffffffffffffff"), true, true, UINT64_MAX, UINT64_MAX },
        { SYM_STR("0x10000000000000000"), false, false, 0, 0 },
        { SYM_STR("18446744073709551615"), true, false, UINT64_MAX, 0 },
        { SYM_STR(""), false, false, 0, 0 },
        { SYM_STR("0x"), false, false, 0, 0 },
        { SYM_STR("x10"), false, false, 0, 0 },
        { SYM_STR("-1"), false, false, 0, 0 },
        { SYM_STR(" 1"), false, false, 0, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t a = 0, b = 0;

        ok(sym_atos_address_read(cases[i].text, &a) == cases[i].is_address
               && a == cases[i].address,
           "address '%s'", cases[i].text.data);
        ok(sym_atos_base_read(cases[i].text, &b) == cases[i].is_base
               && b == cases[i].base,
           "base '%s'", cases[i].text.data);
    }
}


static void
offsets(void)
{
    static const struct {
        sym_atos_base_t base;
        uint64_t image_base, address;
        bool is_inside;
        uint64_t offset;
        const char *name;
    } cases[] = {
        /* runtime - load + vmaddr, less vmaddr: the article's example */
        { { SYM_ATOS_LOAD, 0x10005d000 },
          0,
          0x10035d580,
          true,
          0x300580,
          "loaded" },
        { { SYM_ATOS_LOAD, 0x10005d000 },
          0x100000000,
          0x10035d580,
          true,
          0x300580,
          "loaded at another address than it was linked for" },
        { { SYM_ATOS_LOAD, 16 }, 0, 15, false, 0, "before it" },
        { { SYM_ATOS_LOAD, UINT64_MAX }, 0, 0, false, 0, "far before it" },
        { { SYM_ATOS_SLIDE, 0 },
          0x100000000,
          0x100001000,
          true,
          0x1000,
          "as built" },
        { { SYM_ATOS_SLIDE, 0x5000 }, 0x4000, 0x9010, true, 0x10, "moved" },
        { { SYM_ATOS_SLIDE, 0 }, 0x4000, 0x3fff, false, 0, "below __TEXT" },
        { { SYM_ATOS_SLIDE, 0x5000 },
          0x4000,
          0x4fff,
          false,
          0,
          "less than the slide" },
        { { SYM_ATOS_OFFSET, 0 }, 0x4000, 16, true, 16, "an offset" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t offset = 0;
        bool is_inside = sym_atos_offset(&cases[i].base, cases[i].image_base,
                                         cases[i].address, &offset);

        ok(is_inside == cases[i].is_inside
               && (!is_inside || offset == cases[i].offset),
           "%s", cases[i].name);
    }
}


/* --- requests --- */

static kit_result_t
run(const char *body, uint32_t budget, size_t window, bool is_text,
    sym_request_limits_t limits)
{
    const sym_atos_options_t options = { .is_text = is_text,
                                         .common.limits = limits,
                                         .common.now_s = kit_clock };
    const sym_view_t empty = { .now_s = 1000 };
    kit_result_t r = { .status = SYM_NOMEM };
    sym_arena_t arena;
    sym_request_t *t;

    sym_arena_init(&arena, 0);
    t = sym_atos_create(&arena, &options, sym_cstr(body));

    if (t != NULL) {
        r.status = sym_request_parse(t, 1);

        if (r.status == SYM_OK) {
            r.status = kit_write(t, &empty, budget, window, &r);
        } else {
            kit_message(t, &r);
        }

        r.stats = *sym_request_stats(t);
    }

    sym_arena_drop(&arena);
    return r;
}


#define ZEROES "00000000000000000000000000000000"
#define IMAGE(name) "{\"uuid\": \"" ZEROES "\", \"image\": \"" name "\"}"

static void
slices(void)
{
    static const char body[] =
        "{\"images\": [" IMAGE("a") ", " IMAGE("b") ", " IMAGE("a") ", " IMAGE(
            "unused") "], \"frames\": [[0, \"0x10\"], [1, 7], [2, 9]]}";
    static const size_t windows[] = { 0, 1, 64 };
    kit_result_t whole = run(body, 0, 0, false, (sym_request_limits_t){ 0 });

    ok(whole.status == SYM_OK, "answered");
    is_u64(whole.stats.modules, 2, "each requested module is listed once");
    is_u64(whole.stats.missing, 2, "... missing");
    is_str(sym_str(whole.text, whole.len),
           "{\"results\": ["
           "{\"address\": \"0x10\", \"status\": \"missing\", \"text\": "
           "\"0x10\", \"frames\": []}, "
           "{\"address\": \"7\", \"status\": \"missing\", \"text\": \"7\", "
           "\"frames\": []}, "
           "{\"address\": \"9\", \"status\": \"missing\", \"text\": \"9\", "
           "\"frames\": []}]}",
           "the answer");

    for (uint32_t budget = 1; budget < 4; budget++) {
        kit_result_t r = run(body, budget, windows[budget - 1], false,
                             (sym_request_limits_t){ 0 });

        ok(r.len == whole.len && memcmp(r.text, whole.text, r.len) == 0,
           "in slices of %u: the same", budget);
        ok(r.calls > 1, "... in %u calls", r.calls);
        free(r.text);
    }
    free(whole.text);

    whole = run(body, 0, 0, true, (sym_request_limits_t){ 0 });
    is_str(sym_str(whole.text, whole.len), "0x10\n7\n9\n", "lines");
    free(whole.text);
}


static void
limits(void)
{
    static const char body[] = "{\"images\": [" IMAGE("a") ", " IMAGE(
        "b") "], \"frames\": [[0, 1], [0, 2]]}";
    kit_result_t r = run(body, 0, 0, true,
                         (sym_request_limits_t){ .frames = 2, .modules = 2 });

    ok(r.status == SYM_OK, "as much as the limit allows");
    free(r.text);
    r = run(body, 0, 0, true, (sym_request_limits_t){ .frames = 1 });
    ok(r.status == SYM_LIMIT, "too many frames");
    is_str(sym_str(r.text, r.len), "please limit number of frames to <= 1",
           "... the message");
    free(r.text);
    r = run(body, 0, 0, true, (sym_request_limits_t){ .modules = 1 });
    ok(r.status == SYM_LIMIT, "too many images");
    is_str(sym_str(r.text, r.len), "please limit number of images to <= 1",
           "... the message");
    free(r.text);
}


int
main(void)
{
    places();
    nothing();
    numbers();
    offsets();
    slices();
    limits();
    return done_testing();
}
