/*
 * Files that no linker should write: t/bad/pe/CASE/input must fail with exactly
 * the text in .../error, when it is opened or when its DWARF, its symbols or
 * its portable PDB are read.
 */
#include "bad_cases.h"
#include "formats/pe/pe.h"

static sym_status_t
ignore(void *ctx, const sym_pe_symbol_t *symbol, sym_error_t *err)
{
    (void) ctx;
    (void) symbol;
    return err->status;
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_pe_options_t options = { .unpacked_max = 1 << 20 };
    sym_error_t err = { 0 };
    char text[256];
    sym_str_t bytes;
    sym_pe_t *pe =
        sym_pe_open((const uint8_t *) in.data, in.len, &options, &err);

    if (pe != NULL) {
        (void) sym_pe_section(pe, ".debug_info", &bytes, &err);
        (void) sym_pe_symbols(pe, NULL, ignore, NULL, &err);
        (void) sym_pe_embedded(pe, &bytes, &err);
    }

    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
    sym_pe_close(pe);
}


int
main(void)
{
    bad_cases("t/bad/pe", 8, test_case);
    return done_testing();
}
