/*
 * Sections that no compiler should write: the first broken unit of
 * t/bad/dwarf/CASE/input must be rejected with exactly the text in .../error.
 */
#include "bad_cases.h"
#include "dwarf_container.h"
#include "fake_writer.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    container_t container;
    sym_dwarf_input_t input;
    sym_dwarf_stats_t stats;
    char got[256];

    container_open((const uint8_t *) in.data, in.len, &input, &container);
    is_status(sym_dwarf_read(&input, w, &stats, &err), SYM_OK, &err, name);
    ok(stats.units_broken != 0, "%s: a unit is broken", name);
    (void) sym_error_text(&stats.first_broken, got, sizeof(got));
    if (!ok(sym_str_eq(sym_cstr(got), want), "%s", name)) {
        printf("#   got '%s', want '%.*s'\n", got, (int) want.len, want.data);
    }
    sym_writer_free(w);
}


int
main(void)
{
    bad_cases("t/bad/dwarf", 9, test_case);
    return done_testing();
}
