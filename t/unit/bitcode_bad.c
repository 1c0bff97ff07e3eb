/*
 * Maps that no tool should write: t/bad/bitcode/CASE/input must fail with exactly
 * the text in .../error.  Property lists begin with "<".
 */
#include "bad_cases.h"
#include "formats/bitcode/symbol_map.h"
#include "formats/bitcode/uuid_map.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    uint8_t uuid[SYM_UUID_BYTES];
    sym_symbol_map_t map = { 0 };
    sym_error_t err = { 0 };
    char text[256];

    if (in.len != 0 && in.data[0] == '<') {
        (void) sym_uuid_map_read(in, uuid, &err);
    } else {
        (void) sym_symbol_map_read(&map, in, &err);
    }

    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
    sym_symbol_map_free(&map);
}


int
main(void)
{
    bad_cases("t/bad/bitcode", 15, test_case);
    return done_testing();
}
