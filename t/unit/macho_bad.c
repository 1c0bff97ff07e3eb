/*
 * Files that no linker should write: t/bad/macho/CASE/input must fail with
 * exactly the text in .../error, when it is opened or when its DWARF and
 * symbols are read.
 */
#include "bad_cases.h"
#include "formats/macho/macho.h"

static void
read_slice(sym_str_t in, const sym_macho_slice_t *slice, sym_error_t *err)
{
    const sym_macho_options_t options = { .unpacked_max = 1 << 20 };
    sym_macho_symbols_t symbols;
    sym_str_t bytes;
    sym_macho_t *m =
        sym_macho_open((const uint8_t *) in.data, in.len, slice, &options, err);

    if (m != NULL) {
        (void) sym_macho_section(m, ".debug_info", &bytes, err);
        (void) sym_macho_symbols(m, &symbols, err);
    }
    sym_macho_close(m);
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    sym_error_t err = { 0 };
    char text[256];
    size_t n;

    if (sym_macho_slices((const uint8_t *) in.data, in.len, slices, &n, &err)
        == SYM_OK)
    {
        read_slice(in, &slices[0], &err);
    }

    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
}


int
main(void)
{
    bad_cases("t/bad/macho", 20, test_case);
    return done_testing();
}
