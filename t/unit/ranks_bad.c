/*
 * Damaged lists of what a fleet uses: t/bad/ranks/CASE/input must be refused with
 * exactly the text in .../error.  Checksums are right, except in the case
 * "checksum", so that the reader gets as far as the fault.
 */
#include "bad_cases.h"

#include "share/ranks.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_ranks_t *ranks = sym_ranks_create(0);
    sym_error_t err = { 0 };
    char text[256];

    ok(sym_ranks_read(ranks, in.data, in.len, &err) != SYM_OK, "%s", name);
    (void) sym_error_text(&err, text, sizeof(text));
    ok(sym_str_eq(want, sym_cstr(text)), "%s: %s", name, text);
    sym_ranks_free(ranks);
}


int
main(void)
{
    bad_cases("t/bad/ranks", 24, test_case);
    return done_testing();
}
