/*
 * Maps of C# lines that no tool should write: t/bad/il2cpp/CASE/input must fail
 * with exactly the text in .../error.  The module has the file a.cpp.
 */
#include "bad_cases.h"
#include "formats/il2cpp/line_map.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_error_t err = { 0 }, bad = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_moves_t moves;
    uint32_t id;
    char text[256];

    (void) sym_writer_string(w, SYM_STR("a.cpp"), &id);
    (void) sym_il2cpp_read(&moves, w, in, &bad);
    is_str(want, sym_error_text(&bad, text, sizeof(text)), name);
    ok(moves.list == NULL && moves.n == 0, "%s: nothing is taken", name);
    sym_writer_free(w);
}


int
main(void)
{
    bad_cases("t/bad/il2cpp", 12, test_case);
    return done_testing();
}
