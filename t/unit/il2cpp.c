/*
 * Maps of C# lines.  The first file's lines, and the C# lines that they map to,
 * are those of a test by the authors of the format (symbolic's test_lookup).
 */
#include "formats/il2cpp/line_map.h"
#include "tap.h"

static const char map_text[] =
    "{\"__debug-id__\": {\"a.cpp\": {\"1\": \"no line\"}},"
    " \"main.cpp\": {\"main.cs\": {\"15\": 29, \"5\": 17}},"
    " \"two.cpp\": {\"b.cs\": {\"30\": 3}, \"a.cs\": {\"20\": 2, \"40\": 4}},"
    " \"ends.cpp\": {\"a.cs\": {\"0\": 0, \"4294967295\": 4294967295}},"
    " \"unknown.cpp\": {\"unknown.cs\": {\"1\": 1}},"
    " \"nothing.cpp\": 7, \"empty.cpp\": {\"a.cs\": []}}";

/* "": not mapped. */
static const struct {
    const char *file;
    uint32_t line;
    const char *to_file;
    uint32_t to_line;
} cases[] = {
    { "main.cpp", 0, "", 0 },
    { "main.cpp", 1, "", 0 },
    { "main.cpp", 4, "", 0 },
    { "main.cpp", 5, "main.cs", 17 },
    { "main.cpp", 6, "main.cs", 17 },
    { "main.cpp", 14, "main.cs", 17 },
    { "main.cpp", 15, "main.cs", 29 },
    { "main.cpp", 16, "main.cs", 29 },
    { "main.cpp", 65, "main.cs", 29 }, /* 50 lines away */
    { "main.cpp", 66, "", 0 },
    { "main.cpp", UINT32_MAX, "", 0 },
    { "two.cpp", 19, "", 0 },
    { "two.cpp", 29, "a.cs", 2 },
    { "two.cpp", 30, "b.cs", 3 },
    { "two.cpp", 39, "b.cs", 3 },
    { "two.cpp", 40, "a.cs", 4 },
    { "ends.cpp", 0, "a.cs", 0 },
    { "ends.cpp", 50, "a.cs", 0 },
    { "ends.cpp", 51, "", 0 },
    { "ends.cpp", UINT32_MAX, "a.cs", UINT32_MAX },
    { "nothing.cpp", 7, "", 0 },
    { "empty.cpp", 1, "", 0 },
    { "a.cpp", 1, "", 0 },
};

static uint32_t
id_of(sym_writer_t *w, const char *text)
{
    uint32_t id = SYM_NO_STRING;

    ok(sym_writer_string(w, sym_cstr(text), &id) == SYM_OK, "%s", text);
    return id;
}


static void
test_map(sym_writer_t *w)
{
    const size_t n = sizeof(cases) / sizeof(cases[0]);
    uint32_t files[sizeof(cases) / sizeof(cases[0])], id;
    sym_error_t err = { 0 };
    sym_moves_t moves;

    for (size_t i = 0; i < n; i++) {
        files[i] = id_of(w, cases[i].file);
    }

    is_status(sym_il2cpp_read(&moves, w, sym_cstr(map_text), &err), SYM_OK,
              &err, "a map is read");
    ok(moves.n == 7, "... lines of known files");
    ok(!sym_writer_find(w, SYM_STR("unknown.cs"), &id)
           && !sym_writer_find(w, SYM_STR("unknown.cpp"), &id),
       "... and no names of others");

    for (size_t i = 0; i < n; i++) {
        bool stays = cases[i].to_file[0] == '\0';
        uint32_t file = files[i], line = cases[i].line;
        uint32_t to = stays ? file : id_of(w, cases[i].to_file);

        sym_moves_apply(&moves, &file, &line);
        ok(file == to && line == (stays ? cases[i].line : cases[i].to_line),
           "line %u of %s", cases[i].line, cases[i].file);
    }

    sym_moves_free(&moves);
}


static void
test_what_is_il2cpp(sym_writer_t *w)
{
    ok(!sym_il2cpp_is(w), "a module without the runtime");
    (void) id_of(w, "il2cpp_init");
    ok(sym_il2cpp_is(w), "... and with it");
}


int
main(void)
{
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);

    test_what_is_il2cpp(w);
    test_map(w);
    sym_writer_free(w);
    return done_testing();
}
