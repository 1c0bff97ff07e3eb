/*
 * Frames mapped back by a mapping: what ProGuard and R8 write, as their
 * documents define it, and what Sentry's crate `proguard` 5.10 answered to the
 * same requests.
 */
#include <stdlib.h>

#include "artifacts/jvm/read/frames.h"
#include "artifacts/kinds.h"
#include "formats/formats.h"
#include "memory_extents.h"
#include "tap.h"

static const char mapping[] =
    "# compiler: R8\n"
    "com.example.Main -> a:\n"
    "# {\"id\":\"sourceFile\",\"fileName\":\"Main.kt\"}\n"
    "    int count -> a\n"
    "    1:1:void com.example.Rocket.start():90:90 -> a\n"
    "    1:1:void com.example.Rocket.fly():83 -> a\n"
    "    1:1:void run(int):65 -> a\n"
    "    2:4:void run(int):70:72 -> a\n"
    "    void plain(java.lang.String) -> b\n"
    "    void other(int):7 -> b\n"
    "    5:9:void same(long) -> c\n"
    "    void span(int):10:12 -> d\n"
    "com.example.UtilKt$Inner -> b:\n"
    "    1:65535:void work():33:33 -> a\n"
    "    # {\"id\":\"com.android.tools.r8.synthesized\"}\n"
    "com.example.Out -> o:\n"
    "    1:2:int out(int):0:1 -> a\n"
    "    # {\"id\":\"com.android.tools.r8.outline\"}\n"
    "com.example.Call -> k:\n"
    "    4:4:int call(int):98:98 -> s\n"
    "    5:5:int call(int):100:100 -> s\n"
    "    27:27:int call(int):0:0 -> s\n"
    "    # {\"id\":\"com.android.tools.r8.outlineCallsite\","
    "\"positions\":{\"1\":4,\"2\":5},\"outline\":\"Lo;a(I)I\"}\n"
    "com.example.Rules -> r:\n"
    "    4:4:void com.example.Check.check(int):23:23 -> a\n"
    "    4:4:void caller(int):7 -> a\n"
    "    # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":"
    "[\"throws(Ljava/lang/NullPointerException;)\"],"
    "\"actions\":[\"removeInnerFrames(1)\"]}\n";

static memory_extents_t made;
static sym_jvm_t jvm;


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    sym_writer_stats_t stats;

    *(sym_str_t *) ctx = sym_str(strdup(output->info->debug_id.data),
                                 output->info->debug_id.len);
    return output->finish(output->writer, output->info, memory_put, &made,
                          &stats, err);
}


static void
convert(void)
{
    sym_str_t id = { NULL, 0 };
    const sym_format_file_t f = { .data = { mapping, sizeof(mapping) - 1 },
                                  .put = put,
                                  .ctx = &id };
    sym_extent_source_t extents;
    sym_error_t err = { 0 };

    ok(sym_format_find((const uint8_t *) mapping, 64)
           == SYM_CONVERSION_proguard,
       "it is a mapping");
    ok(sym_format_of(SYM_CONVERSION_proguard)->convert(&f, 0, &err) == SYM_OK,
       "it is converted");
    /* python3: uuid5(uuid5(NAMESPACE_DNS, "guardsquare.com"), mapping) */
    is_str(id, "A98B59619CBB512190B7CC29AC8A491F0",
           "its id is Sentry's UUID of it");
    free((void *) (uintptr_t) id.data);

    extents = (sym_extent_source_t){ memory_get, &made, made.n };
    ok(sym_kind_verify(sym_kind_find(SYM_KIND_JVM), &extents, &err) == SYM_OK,
       "the artifact is sound");
    ok(sym_jvm_open(&jvm, memory_get, &made, &err) == SYM_OK, "... and opens");
}


/* All frames, "CLASS.METHOD FILE:LINE" each; "!" marks those of the
 * compiler. */
static void
ask(const sym_jvm_question_t *q, sym_jvm_carried_t *carried, char *text,
    size_t size)
{
    sym_jvm_found_t found;
    sym_jvm_answer_t a;
    sym_jvm_frame_t f;
    uint64_t steps = 1000;
    size_t n = 0;

    text[0] = '\0';
    if (sym_jvm_ask(&jvm, q, carried, &steps, &a, &found) != SYM_OK) {
        (void) snprintf(text, size, "failed");
        return;
    }

    if (found != SYM_JVM_FRAMES) {
        (void) snprintf(text, size, "%s",
                        found == SYM_JVM_OUTLINE ? "outline" : "unknown");
    }

    while (sym_jvm_next_frame(&a, &f) == SYM_OK && n < size) {
        n += (size_t) snprintf(
            text + n, size - n, "%s%.*s.%.*s %.*s%.*s:%d%s", n != 0 ? ", " : "",
            (int) f.class_name.len, f.class_name.data, (int) f.method.len,
            f.method.data, (int) f.file.len, f.file.data, (int) f.extension.len,
            f.extension.data, f.has_line ? (int) f.line : -1,
            f.is_synthesized ? "!" : "");
    }
}


static void
test_lines(void)
{
    static const struct {
        const char *class_name, *method;
        uint32_t line;
        const char *want;
    } cases[] = {
        { "a", "a", 1,
          "com.example.Rocket.start Rocket.kt:90, "
          "com.example.Rocket.fly Rocket.kt:83, "
          "com.example.Main.run Main.kt:65" },
        { "a", "a", 3, "com.example.Main.run Main.kt:71" },
        { "a", "a", 5, "com.example.Main.a Main.kt:5" },
        { "a", "a", 0, "com.example.Main.run Main.kt:0" },
        { "a", "b", 9,
          "com.example.Main.plain Main.kt:9, "
          "com.example.Main.other Main.kt:7" },
        { "a", "b", 0,
          "com.example.Main.plain Main.kt:0, "
          "com.example.Main.other Main.kt:0" },
        { "a", "c", 6, "com.example.Main.same Main.kt:6" },
        { "a", "d", 1,
          "com.example.Main.span Main.kt:10, com.example.Main.span "
          "Main.kt:11, com.example.Main.span Main.kt:12" },
        { "a", "d", 0, "com.example.Main.span Main.kt:10" },
        { "a", "none", 4, "com.example.Main.none Main.kt:4" },
        { "b", "a", 700, "com.example.UtilKt$Inner.work Util.kt:33!" },
        { "none", "a", 1, "unknown" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const sym_jvm_question_t q = { .class_name =
                                           sym_cstr(cases[i].class_name),
                                       .method = sym_cstr(cases[i].method),
                                       .line = cases[i].line };
        sym_jvm_carried_t carried = { false, 0 };
        char text[512], name[64];

        ask(&q, &carried, text, sizeof(text));
        (void) snprintf(name, sizeof(name), "%s.%s:%u", cases[i].class_name,
                        cases[i].method, cases[i].line);
        is_str(sym_cstr(text), cases[i].want, name);
    }
}


static void
test_outline(void)
{
    sym_jvm_question_t q = { .class_name = SYM_STR("o"),
                             .method = SYM_STR("a"),
                             .line = 1 };
    sym_jvm_carried_t carried = { false, 0 };
    char text[512];

    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text), "outline", "an outline is not a frame");

    q = (sym_jvm_question_t){ .class_name = SYM_STR("k"),
                              .method = SYM_STR("s"),
                              .line = 27 };
    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text), "com.example.Call.call Call.java:98",
           "its position gives the line of its caller");
    ok(!carried.is_set, "... once");
    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text), "com.example.Call.call Call.java:0",
           "without it the caller has no line");
}


static void
test_rules(void)
{
    sym_str_t npe = SYM_STR("java.lang.NullPointerException"),
              other = SYM_STR("java.lang.Error");
    sym_jvm_question_t q = { .class_name = SYM_STR("r"),
                             .method = SYM_STR("a"),
                             .line = 4,
                             .thrown = &npe };
    sym_jvm_carried_t carried = { false, 0 };
    char text[512];

    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text), "com.example.Rules.caller Rules.java:7",
           "a rule removes the innermost frame");
    q.thrown = &other;
    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text),
           "com.example.Check.check Check.java:23, "
           "com.example.Rules.caller Rules.java:7",
           "... but not for another exception");
}


static void
test_parameters(void)
{
    sym_str_t parameters = SYM_STR("int");
    sym_jvm_question_t q = { .class_name = SYM_STR("a"),
                             .method = SYM_STR("a"),
                             .parameters = &parameters };
    sym_jvm_carried_t carried = { false, 0 };
    char text[512];

    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text), "com.example.Main.run Main.kt:65",
           "parameters find the method, not what was inlined");
    parameters = SYM_STR("long");
    ask(&q, &carried, text, sizeof(text));
    is_str(sym_cstr(text), "com.example.Main.a Main.kt:0",
           "others find the class");
}


static void
test_signatures(void)
{
    static const struct {
        const char *in, *parameters, *readable; /* NULL: not a signature */
    } cases[] = {
        { "(I[La;[[J)Lb;", "int,com.example.Main[],long[][]",
          "(int, com.example.Main[], long[][]): com.example.UtilKt$Inner" },
        { "()V", "", "()" },
        { "(Ljava/lang/String;)V", "java.lang.String", "(java.lang.String)" },
        { "(xI)Z", "int", "(int): boolean" },
        { "()", NULL, NULL },
        { "(L)V", NULL, NULL },
        { "I)V", NULL, NULL },
        { "(I)", NULL, NULL },
        { "(I)x", NULL, NULL },
    };
    sym_arena_t arena;

    sym_arena_init(&arena, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sym_jvm_signature_t s;
        sym_status_t rc =
            sym_jvm_signature(&jvm, &arena, sym_cstr(cases[i].in), &s);

        if (ok(rc == (cases[i].readable != NULL ? SYM_OK : SYM_NOT_FOUND), "%s",
               cases[i].in)
            && rc == SYM_OK)
        {
            is_str(s.parameters, cases[i].parameters, "... parameters");
            is_str(s.readable, cases[i].readable, "... readable");
        }
    }

    sym_arena_drop(&arena);
}


/* With any byte changed, all calls end and read only inside the mapping. */
static void
test_damage(void)
{
    uint8_t *data = made.extents[0].data;

    for (size_t at = 0; at < made.extents[0].len; at++) {
        uint8_t was = data[at];

        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            sym_error_t err = { 0 };

            data[at] = (uint8_t) (was ^ flip);
            if (sym_jvm_open(&jvm, memory_get, &made, &err) == SYM_OK) {
                sym_jvm_question_t q = { .class_name = SYM_STR("a"),
                                         .method = SYM_STR("a"),
                                         .line = 1 };
                sym_jvm_carried_t carried = { true, 1 };
                char text[4096];

                (void) sym_jvm_check(&jvm, &err);
                ask(&q, &carried, text, sizeof(text));
                q.line = 0;
                ask(&q, &carried, text, sizeof(text));
            }
        }

        data[at] = was;
    }

    ok(true, "no changed byte causes a crash");
}


int
main(void)
{
    convert();
    test_lines();
    test_outline();
    test_rules();
    test_parameters();
    test_signatures();
    test_damage();
    memory_free(&made);
    return done_testing();
}
