/*
 * Answers from a store: the members of each frame, their order and names, and
 * the answer if the store has nothing or nothing readable.  The text is the
 * same for all slices and windows.
 */
#include "symcache_kit.h"
#include "tecken_kit.h"

#define MAIN_ID "D48F191186D67E69DF025AD71FB91E1F0"
#define MAIN_FILE "/home/willkg/projects/testproj/src/main.rs"
#define PE_ID "44E4EC8C2F41492B9369D6B9A059577C2"
#define DEEP_ID "0123456789ABCDEF0123456789ABCDEF1"

static sym_store_t *reader;

/* --- modules of the store --- */

static void
fill_main(sym_writer_t *w)
{
    sym_line_t line = { 0x5380, 0x40, 1, intern(w, MAIN_FILE) };
    sym_function_t f = { .addr = 0x5380,
                         .size = 0x40,
                         .name = intern(w, "testproj::main"),
                         .lines = &line,
                         .n_lines = 1 };

    (void) sym_writer_function(w, &f);
}


/* 0x1000 outer, calling middle (in the same file), calling inner. */
static void
fill_inlined(sym_writer_t *w)
{
    uint32_t a = intern(w, "a.c"), b = intern(w, "b.h");
    sym_line_t lines[] = { { 0x1000, 0x10, 10, a },
                           { 0x1010, 0x10, 20, b },
                           { 0x1020, 0x10, 30, b },
                           { 0x1030, 0x10, 0, a } };
    sym_inline_t inlines[] = {
        { 0x1010, 0x20, 0, intern(w, "middle"), 11, a },
        { 0x1020, 0x10, 1, intern(w, "inner"), 21, b },
    };
    sym_function_t f = { .addr = 0x1000,
                         .size = 0x50,
                         .name = intern(w, "outer"),
                         .lines = lines,
                         .n_lines = 4,
                         .inlines = inlines,
                         .n_inlines = 2 };
    sym_function_t bare = { .addr = 0x2000,
                            .size = 0x10,
                            .name = intern(w, "no \"lines\" \\ \xc3\xa9\n") };

    (void) sym_writer_function(w, &f);
    (void) sym_writer_function(w, &bare);
    (void) sym_writer_public(w, 0x3000, intern(w, "public_symbol"));
}


/* Every 16 bytes there is another function with one line. */
#define MANY 5000
static void
fill_many(sym_writer_t *w)
{
    char text[64];

    for (uint32_t i = 0; i < MANY; i++) {
        sym_line_t line = { i * 16, 8, i + 1, 0 };
        sym_function_t f = {
            .addr = i * 16, .size = 8, .lines = &line, .n_lines = 1
        };

        (void) snprintf(text, sizeof(text), "src/file_%u.c", i % 37);
        line.file = intern(w, text);
        (void) snprintf(text, sizeof(text), "function_%u", i);
        f.name = intern(w, text);
        (void) sym_writer_function(w, &f);
    }
}


/* --- asking --- */

#define V5(frames, found)                                                      \
    "{\"results\": [{\"stacks\": [" frames "], \"found_modules\": {" found     \
    "}}]}"
#define FRAME(n, module, offset)                                               \
    "{\"frame\": " n ", \"module\": \"" module                                 \
    "\", \"module_offset\": \"" offset "\""
#define OUTER(offset)                                                          \
    ", \"function\": \"outer\", \"function_offset\": \"" offset "\""


static void
frames_v5(const kit_options_t *o)
{
    answers(o,
            "{\"jobs\":[{\"stacks\":[[[0,21376]]],\"memoryMap\":[[\"testproj\","
            "\"" MAIN_ID "\"]]}]}",
            V5("[" FRAME("0", "testproj",
                         "0x5380") ", \"function\": \"testproj::main\", "
                                   "\"function_offset\": "
                                   "\"0x0\", \"file\": \"" MAIN_FILE
                                   "\", \"line\": 1}]",
               "\"testproj/" MAIN_ID "\": true"),
            "the example of the specification");

    answers(
        o,
        "{\"stacks\":[[[0,4095],[0,4096],[0,4111],[0,4112],[0,4128],[0,"
        "4144],[0,4176]]],\"memoryMap\":[[\"deep.so\",\"" DEEP_ID "\"]]}",
        V5("[" FRAME("0", "deep.so", "0xfff") "}, " FRAME("1", "deep.so",
                                                          "0x1000")
               OUTER("0x0") ", \"file\": \"a.c\", \"line\": 10}, " FRAME(
                   "2", "deep.so", "0x100f")
                   OUTER("0xf") ", \"file\": \"a.c\", \"line\": 10}, " FRAME(
                       "3", "deep.so", "0x1010")
                       OUTER(
                           "0x10") ", \"file\": \"a.c\", \"line\": 11, "
                                   "\"inlines\": ["
                                   "{\"function\": \"middle\", \"file\": "
                                   "\"b.h\", \"line\": "
                                   "20}]}, " FRAME("4", "deep.so", "0x1020")
                                       OUTER(
                                           "0x20") ", \"file\": \"a.c\", "
                                                   "\"line\": 11, \"inlines\": "
                                                   "["
                                                   "{\"function\": \"inner\", "
                                                   "\"file\": \"b.h\", "
                                                   "\"line\": 30},"
                                                   " {\"function\": "
                                                   "\"middle\", \"file\": "
                                                   "\"b.h\", \"line\": "
                                                   "21}]}, " FRAME(
                                                       "5", "deep.so", "0x1030")
                                                       OUTER(
                                                           "0x30") ", "
                                                                   "\"file\":"
                                                                   " \"a.c\"}"
                                                                   ", " FRAME(
                                                                       "6",
                                                                       "deep."
                                                                       "so",
                                                                       "0x105"
                                                                       "0") "}"
                                                                            "]",
           "\"deep.so/" DEEP_ID "\": true"),
        "inlined calls, innermost first; a line of 0; past the end");

    answers(o,
            "{\"stacks\":[[[0,8192],[0,12289]]],\"memoryMap\":[[\"deep.so\","
            "\"" DEEP_ID "\"]]}",
            V5("[" FRAME(
                   "0", "deep.so",
                   "0x2000") ", \"function\": \"no \\\"lines\\\" \\\\ "
                             "\\u00e9\\n\", "
                             "\"function_offset\": \"0x0\"}, " FRAME(
                                 "1", "deep.so",
                                 "0x3001") ", \"function\": \"public_symbol\", "
                                           "\"function_offset\": "
                                           "\"0x1\"}]",
               "\"deep.so/" DEEP_ID "\": true"),
            "a name to be escaped; no file, no line; a public symbol");

    answers(
        o,
        "{\"stacks\":[[[0,21376],[0,0],[-1,5],[0,-1],[0,4294988672]]],"
        "\"memoryMap\":[[\"xul.pdb\",\"" PE_ID "\"]]}",
        V5("[" FRAME(
               "0", "xul \\\"2\\\".dll",
               "0x5380") ", \"function\": \"testproj::main\", "
                         "\"function_offset\": "
                         "\"0x0\", \"file\": \"" MAIN_FILE
                         "\", \"line\": 1}, " FRAME("1", "xul \\\"2\\\".dll", "0x0") "}, " FRAME(
                             "2", "<unknown>",
                             "0x5") "}, " FRAME("3", "xul \\\"2\\\".dll",
                                                "-0x1") "}, " FRAME("4",
                                                                    "xul "
                                                                    "\\\"2\\\"."
                                                                    "dll",
                                                                    "0x10000538"
                                                                    "0") "}]",
           "\"xul.pdb/" PE_ID "\": true"),
        "the code file's name in each frame; invalid offsets");
}


static void
modules_v5(const kit_options_t *o)
{
    char body[2000], want[2000], long_name[SYM_NAME_MAX + 2];

    answers(
        o,
        "{\"stacks\":[[[0,1],[1,1],[2,1],[4,1],[5,1]],[]],\"memoryMap\":[["
        "\"absent\",\"" DEEP_ID "\"],[\"failed\",\"" DEEP_ID "\"],["
        "\"garbage\",\"" DEEP_ID "\"],[\"testproj\",\"" MAIN_ID "\"],["
        "\"never\",\"" DEEP_ID "\"],[\"testproj\",\"AB\"]]}",
        V5("[" FRAME("0", "absent", "0x1") "}, " FRAME(
               "1", "failed",
               "0x1") "}, " FRAME("2", "garbage",
                                  "0x1") "}, " FRAME("3", "never",
                                                     "0x1") "}, " FRAME("4",
                                                                        "testpr"
                                                                        "oj",
                                                                        "0x1") "}], []",
           "\"absent/" DEEP_ID "\": false, \"failed/" DEEP_ID
           "\": false, \"garbage/" DEEP_ID "\": false, \"testproj/" MAIN_ID
           "\": null, \"never/" DEEP_ID "\": false, \"testproj/AB\": false"),
        "no symbols, for whatever reason; not requested");

    answers(
        o,
        "{\"stacks\":[[[0,21376],[1,21376]]],\"memoryMap\":[[\"testproj\","
        "\"d48f191186d67e69df025ad71fb91e1f0\"],[\"testproj\","
        "\"D48F191186d67e69DF025AD71FB91E1F000\"]]}",
        V5("[" FRAME(
               "0", "testproj",
               "0x5380") ", \"function\": \"testproj::main\", "
                         "\"function_offset\": "
                         "\"0x0\", \"file\": \"" MAIN_FILE
                         "\", \"line\": 1}, " FRAME(
                             "1", "testproj",
                             "0x5380") ", \"function\": \"testproj::main\", "
                                       "\"function_offset\": "
                                       "\"0x0\", \"file\": \"" MAIN_FILE
                                       "\", \"line\": 1}]",
           "\"testproj/d48f191186d67e69df025ad71fb91e1f0\": true, "
           "\"testproj/D48F191186d67e69DF025AD71FB91E1F000\": true"),
        "one id in several spellings");

    answers(o,
            "{\"jobs\":[{\"stacks\":[[[0,0]]],\"memoryMap\":[[\"testproj\","
            "\"" MAIN_ID
            "\"]]},{\"stacks\":[[[-1,0]]],\"memoryMap\":[[\"x\",\"1\"],"
            "[\"testproj\",\"" MAIN_ID "\"]]}]}",
            "{\"results\": [{\"stacks\": [[" FRAME(
                "0", "testproj",
                "0x0") "}]], \"found_modules\": {\"testproj/" MAIN_ID
                       "\": true}}, "
                       "{\"stacks\": [[" FRAME(
                           "0", "<unknown>",
                           "0x0") "}]], \"found_modules\": {\"x/1\": null, "
                                  "\"testproj/" MAIN_ID "\": true}}]}",
            "a module requested by one job is shown by the other");

    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    (void) snprintf(body, sizeof(body),
                    "{\"stacks\":[[[0,16]]],\"memoryMap\":[[\"%s\",\"" DEEP_ID
                    "\"]]}",
                    long_name);
    (void) snprintf(
        want, sizeof(want),
        V5("[" FRAME("0", "%s", "0x10") "}]", "\"%s/" DEEP_ID "\": false"),
        long_name, long_name);
    answers(o, body, want, "a name that is too long to be stored");
}


static void
frames_v4(const kit_options_t *v5)
{
    kit_options_t o = *v5;

    o.version = 4;
    answers(
        &o,
        "{\"stacks\":[[[0,4128],[0,8192],[1,21376],[1,1]],[[2,3],[-1,"
        "11723767],[0,\"\xc3\xa9\"]]],\"memoryMap\":[[\"deep.so\",\"" DEEP_ID
        "\"],[\"xul.pdb\",\"" PE_ID "\"],[\"absent\",\"" DEEP_ID
        "\"],[\"deep.so\",\"" DEEP_ID "\"],[\"testproj\",\"" MAIN_ID "\"]]}",
        "{\"symbolicatedStacks\": [[\"outer (in deep.so)\", \"no "
        "\\\"lines\\\" \\\\ \\u00e9\\n (in deep.so)\", \"testproj::main (in "
        "xul \\\"2\\\".dll)\", \"0x1 (in xul \\\"2\\\".dll)\"], [\"0x3 (in "
        "absent)\", \"0xb2e3f7 (in <unknown>)\", \"\\u00e9\"]], "
        "\"knownModules\": [true, true, false, true, null]}",
        "v4: the function's name alone, in the code file");
}


static void
debug_block(const kit_options_t *plain)
{
    kit_options_t o = *plain;

    o.debug = true;
    answers(
        &o,
        "{\"jobs\":[{\"stacks\":[[[0,0],[1,0],[2,0]]],\"memoryMap\":[["
        "\"testproj\",\"" MAIN_ID "\"],[\"absent\",\"" DEEP_ID
        "\"],[\"\",\"\"],[\"absent\",\"" DEEP_ID "\"],[\"u\",\"1\"]]},"
        "{\"stacks\":[[[-1,0]]],\"memoryMap\":[[\"testproj\",\"" MAIN_ID
        "\"]]}]}",
        "{\"results\": [{\"stacks\": [[" FRAME(
            "0", "testproj",
            "0x0") "}, " FRAME("1", "absent",
                               "0x0") "}, " FRAME("2", "<unknown>",
                                                  "0x0") "}]], "
                                                         "\"found_modules\": "
                                                         "{\"testproj/" MAIN_ID
                                                         "\": true, "
                                                         "\"absent/" DEEP_ID
                                                         "\": false, \"/\": "
                                                         "null, \"u/1\": "
                                                         "null}}, "
                                                         "{\"stacks\": "
                                                         "[[" FRAME(
                                                             "0", "<unknown>",
                                                             "0x0") "}]], "
                                                                    "\"found_"
                                                                    "modules\":"
                                                                    " {"
                                                                    "\"testproj"
                                                                    "/" MAIN_ID
                                                                    "\": "
                                                                    "true}}], "
                                                                    "\"debug\":"
                                                                    " {\"cache_"
                                                                    "lookups\":"
                                                                    " {"
                                                                    "\"count\":"
                                                                    " 2, "
                                                                    "\"hits\": "
                                                                    "1, "
                                                                    "\"time\": "
                                                                    "0.000000},"
                                                                    " \"downloa"
                                                                    "ds\": "
                                                                    "{\"count\""
                                                                    ": 0, "
                                                                    "\"size\": "
                                                                    "0, "
                                                                    "\"time\": "
                                                                    "0.000000},"
                                                                    " \"time\":"
                                                                    " 0.000000,"
                                                                    " \"modules"
                                                                    "\": "
                                                                    "{\"count\""
                                                                    ": "
                                                                    "3, "
                                                                    "\"stacks_"
                                                                    "per_"
                                                                    "module\": "
                                                                    "{\"testpro"
                                                                    "j/" MAIN_ID
                                                                    "\": 2, "
                                                                    "\"absent"
                                                                    "/" DEEP_ID
                                                                    "\": 1}}, "
                                                                    "\"stacks\""
                                                                    ": "
                                                                    "{\"count\""
                                                                    ": 4, "
                                                                    "\"real\": "
                                                                    "3}}}",
        "debug: distinct modules, entries that are not null, frames");
    answers(&o, "{\"jobs\":[]}",
            "{\"results\": [], \"debug\": {\"cache_lookups\": {\"count\": 0, "
            "\"time\": 0.000000}, \"downloads\": {\"count\": 0, \"size\": 0, "
            "\"time\": 0.000000}, \"time\": 0.000000, \"modules\": {\"count\": "
            "0}, \"stacks\": {\"count\": 0, \"real\": 0}}}",
            "debug: of an empty request");

    o.version = 4;
    answers(&o,
            "{\"stacks\":[[[-1,1],[0,\"x\"]]],\"memoryMap\":[[\"a\",\"1\"]]}",
            "{\"symbolicatedStacks\": [[\"0x1 (in <unknown>)\", \"x\"]], "
            "\"knownModules\": [null], \"debug\": {\"cache_lookups\": "
            "{\"count\": 0, \"time\": 0.000000}, \"downloads\": {\"count\": 0, "
            "\"size\": 0, \"time\": 0.000000}, \"time\": 0.000000, "
            "\"modules\": {\"count\": 0}, \"stacks\": {\"count\": 2, \"real\": "
            "0}}}",
            "debug: v4 has it, too");

    ok(sym_tecken_debug_wanted(5, SYM_STR("0"))
           && sym_tecken_debug_wanted(5, SYM_STR("false"))
           && !sym_tecken_debug_wanted(5, SYM_STR("")),
       "v5: any Debug header but an empty one asks for it");
    ok(sym_tecken_debug_wanted(4, SYM_STR("1"))
           && sym_tecken_debug_wanted(4, SYM_STR("True"))
           && sym_tecken_debug_wanted(4, SYM_STR("YES"))
           && !sym_tecken_debug_wanted(4, SYM_STR("0"))
           && !sym_tecken_debug_wanted(4, SYM_STR("truely"))
           && !sym_tecken_debug_wanted(4, SYM_STR("ye"))
           && !sym_tecken_debug_wanted(4, SYM_STR("")),
       "v4: 1, true and yes do");
}


/* More frames than a chunk holds, in random order, across stacks and jobs. */
static void
many_frames(const kit_options_t *o)
{
    enum { FRAMES = 4000, STACK = 700, JOB = 3 };
    size_t room = (size_t) FRAMES * 300, at = 0, to = 0;
    char *body = malloc(room), *want = malloc(room);
    uint32_t addr = 1;

    if (body == NULL || want == NULL) {
        abort();
    }

    at += (size_t) snprintf(body, room, "{\"jobs\":[");
    to += (size_t) snprintf(want, room, "{\"results\": [");

    for (uint32_t i = 0; i < FRAMES; i++) {
        uint32_t number = i % STACK, stack = i / STACK;
        bool is_job = number == 0 && stack % JOB == 0;

        if (number == 0) {
            at += (size_t) snprintf(
                body + at, room - at, "%s[",
                is_job ? (i == 0 ? "{\"stacks\":[" : ",{\"stacks\":[") : ",");
            to += (size_t) snprintf(
                want + to, room - to, "%s[",
                is_job ? (i == 0 ? "{\"stacks\": [" : ", {\"stacks\": [")
                       : ", ");
        }

        /* some lookups occur twice, some are past a function's end */
        addr = i % 10 == 9 ? addr : (addr * 1103515245u + 12345u);
        uint32_t offset = (addr >> 8) % (MANY * 16);

        at += (size_t) snprintf(body + at, room - at, "%s[0,%u]",
                                number == 0 ? "" : ",", offset);
        to += (size_t) snprintf(want + to, room - to,
                                "%s" FRAME("%u", "many", "0x%x"),
                                number == 0 ? "" : ", ", number, offset);
        if (offset % 16 < 8) {
            to += (size_t) snprintf(
                want + to, room - to,
                ", \"function\": \"function_%u\", \"function_offset\": "
                "\"0x%x\", \"file\": \"src/file_%u.c\", \"line\": %u",
                offset / 16, offset % 16, offset / 16 % 37, offset / 16 + 1);
        }
        to += (size_t) snprintf(want + to, room - to, "}");

        if (number == STACK - 1 || i == FRAMES - 1) {
            bool is_end = i == FRAMES - 1 || stack % JOB == JOB - 1;

            at += (size_t) snprintf(
                body + at, room - at, "]%s",
                is_end ? "],\"memoryMap\":[[\"many\",\"" DEEP_ID "\"]]}" : "");
            to += (size_t) snprintf(
                want + to, room - to, "]%s",
                is_end ? "], \"found_modules\": {\"many/" DEEP_ID "\": true}}"
                       : "");
        }
    }

    (void) snprintf(body + at, room - at, "]}");
    (void) snprintf(want + to, room - to, "]}");
    answers(o, body, want, "4,000 frames in three jobs");
    free(body);
    free(want);
}


/* --- results for the caller besides the text --- */

static void
counts(const kit_options_t *o)
{
    static const char body[] =
        "{\"stacks\":[[[0,21376],[1,1],[2,1]],[]],\"memoryMap\":[[\"testproj\","
        "\"" MAIN_ID "\"],[\"garbage\",\"" DEEP_ID "\"],[\"never\",\"" DEEP_ID
        "\"],[\"xul.pdb\",\"" PE_ID "\"]]}";
    kit_result_t r = kit_run(sym_cstr(body), o);

    ok(r.stats.jobs == 1 && r.stats.stacks == 2 && r.stats.frames == 3
           && r.stats.modules == 3 && r.stats.missing == 2,
       "jobs, stacks, frames, modules, missing ones");
    is_u64(r.stats.damaged, 1, "a module that cannot be read is counted");
    free(r.text);
}


static void
use_times(void)
{
    sym_module_key_t used = key_of("testproj", MAIN_ID);
    sym_module_key_t unused = key_of("unused", DEEP_ID);
    sym_object_record_t record = { 0 };
    sym_snapshot_t *snapshot = NULL;
    sym_error_t err = { 0 };

    if (!is_status(sym_snapshot_begin(reader, &snapshot, &err), SYM_OK, &err,
                   "a snapshot"))
    {
        return;
    }

    (void) kit_find(snapshot, &used, SYM_KIND_SYMCACHE, &record, &err);
    is_u64(record.used_at, 1000, "a requested module is marked");
    (void) kit_find(snapshot, &unused, SYM_KIND_SYMCACHE, &record, &err);
    ok(err.status == SYM_OK && record.used_at != 1000, "no other is");
    sym_snapshot_end(snapshot);
}


/* The fetcher abandons some: null, never false. */
static void
pending(void)
{
    static const char body[] =
        "{\"stacks\":[[[0,1],[1,1]]],\"memoryMap\":[[\"never\",\"" DEEP_ID
        "\"],[\"gone\",\"" DEEP_ID "\"]]}";
    const sym_tecken_options_t options = { .version = 5,
                                           .common.now_s = kit_clock };
    kit_options_t o = { .version = 5 };
    kit_result_t r = { 0 };
    sym_need_t *modules;
    sym_arena_t arena;
    sym_request_t *t;
    sym_ref_key_t key;
    uint32_t n = 0;

    sym_arena_init(&arena, 0);
    t = sym_tecken_create(&arena, &options, sym_cstr(body));

    if (ok(t != NULL && sym_request_parse(t, UINT32_MAX) == SYM_OK, "parsed")) {
        modules = sym_request_modules(t, &n);
        is_u64(n, 2, "two modules");
        ok(sym_request_key(t, &modules[0], &key), "askable");
        is_str(key.key.name, "never", "the name");
        is_str(key.key.id, DEEP_ID, "the canonical id");
        modules[0].is_settled = true;
        modules[0].found = SYM_NEED_PENDING;
        (void) kit_answer(t, &o, &r);
        ok(r.text != NULL && strstr(r.text, "\"never/" DEEP_ID "\": null"),
           "abandoned: null");
        ok(r.text != NULL && strstr(r.text, "\"gone/" DEEP_ID "\": false"),
           "settled and missing: false");
    }

    free(r.text);
    sym_arena_drop(&arena);
}


/* Two arrived, two did not arrive in time, one was there: in any slices. */
static void
downloads(const kit_options_t *base)
{
    static const char body[] =
        "{\"stacks\":[[[0,0],[1,0],[2,0],[3,0],[4,0]]],\"memoryMap\":[["
        "\"testproj\",\"" MAIN_ID "\"],[\"gone\",\"" DEEP_ID
        "\"],[\"many\",\"" DEEP_ID "\"],[\"absent\",\"" DEEP_ID
        "\"],[\"deep.so\",\"" DEEP_ID "\"]]}";
    static const char want[] =
        "\"downloads\": {\"count\": 2, \"size_per_module\": "
        "{\"testproj/" MAIN_ID "\": 1008, \"deep.so/" DEEP_ID "\": 1007}, "
        "\"time_per_module\": {\"testproj/" MAIN_ID
        "\": 1.750000, \"deep.so/" DEEP_ID "\": 0.000000}, "
        "\"fail_time_per_module\": {\"gone/" DEEP_ID
        "\": 0.250000, \"absent/" DEEP_ID
        "\": 2.000000}, \"size\": 2015, \"time\": 2.000000}, ";
    const sym_tecken_options_t options = { .version = 5,
                                           .debug = true,
                                           .common.now_s = kit_clock };
    unsigned differ = 0;

    for (uint32_t budget = 0; budget < 8; budget++) {
        kit_options_t o = *base;
        kit_result_t r = { 0 };
        sym_arena_t arena;
        sym_request_t *t;

        o.budget = budget;
        o.window = budget == 0 ? 4096 : budget * 20;
        sym_arena_init(&arena, 0);
        t = sym_tecken_create(&arena, &options, sym_cstr(body));

        if (t != NULL && sym_request_parse(t, UINT32_MAX) == SYM_OK) {
            sym_request_waited_for(t, 0, 1.5);
            sym_request_waited_for(t, 0, 0.25);
            sym_request_fetched(t, 0);
            sym_request_waited_for(t, 1, 0.25);
            sym_request_waited_for(t, 3, 2);
            sym_request_waited_for(t, 4, 0);
            sym_request_fetched(t, 4);
            sym_request_waited(t, 2);
            (void) kit_answer(t, &o, &r);
        }

        if (r.text == NULL || strstr(r.text, want) == NULL) {
            if (differ++ == 0) {
                printf("#  got %s\n# want %s\n",
                       r.text == NULL ? "nothing" : r.text, want);
            }
        }
        free(r.text);
        sym_arena_drop(&arena);
    }

    is_u64(differ, 0, "debug: what each module's download took");
}


static bool
make_store(void)
{
    sym_store_t *store = kit_writer((uint64_t) 64 << 20);

    if (!is_status(kit_err.status, SYM_OK, &kit_err, "a store")) {
        return false;
    }

    store_module(store, "testproj", MAIN_ID, "", 0, fill_main);
    store_module(store, "unused", DEEP_ID, "", 0, fill_main);
    store_module(store, "xul.pdb", PE_ID, "xul \"2\".dll", 0, fill_main);
    store_module(store, "deep.so", DEEP_ID, "", 0, fill_inlined);
    store_module(store, "many", DEEP_ID, "", 0, fill_many);
    /* extents of arbitrary bytes: not a symcache */
    is_u64(kit_put(store, "garbage", 1, 5000), SYM_OK, "garbage");
    sym_store_close(store);
    return true;
}


int
main(void)
{
    kit_options_t o = { .version = 5 };

    kit_folder();

    if (make_store() && ok((reader = kit_reader()) != NULL, "opened")) {
        if (is_status(sym_snapshot_begin(reader, &o.snapshot, &kit_err), SYM_OK,
                      &kit_err, "a snapshot"))
        {
            frames_v5(&o);
            modules_v5(&o);
            frames_v4(&o);
            debug_block(&o);
            downloads(&o);
            many_frames(&o);
            counts(&o);

            /* each body several times: stored, then repeated */
            o.kept = sym_worker_cache_create(0);
            frames_v5(&o);
            modules_v5(&o);
            frames_v4(&o);
            many_frames(&o);
            sym_worker_cache_free(o.kept);

            sym_snapshot_end(o.snapshot);
            use_times();
        }
        sym_store_close(reader);
    }

    pending();
    kit_clean();
    return done_testing();
}
