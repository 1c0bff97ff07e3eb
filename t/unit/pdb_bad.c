/*
 * PDBs that no linker should write: t/bad/pdb/CASE/input must fail with exactly
 * the text in .../error when it is opened, or when nothing is found in it.
 */
#include "bad_cases.h"
#include "formats/formats.h"

static void
ignore_note(void *ctx, const char *format, ...)
{
    (void) ctx;
    (void) format;
}


static sym_status_t
take_artifact(void *ctx, const sym_format_output_t *artifact, sym_error_t *err)
{
    (void) ctx;
    (void) artifact;
    (void) err;
    return SYM_OK;
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_format_services_t services = { .note = ignore_note };
    const sym_format_file_t f = { .data = in,
                                  .services = &services,
                                  .put = take_artifact };
    const sym_format_t *pdb = sym_format_of(SYM_CONVERSION_pdb);
    sym_error_t err = { 0 };
    char text[256];

    ok(pdb->probe((const uint8_t *) in.data, in.len), "%s: probed", name);
    (void) pdb->convert(&f, 0, &err);
    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
}


int
main(void)
{
    bad_cases("t/bad/pdb", 25, test_case);
    return done_testing();
}
