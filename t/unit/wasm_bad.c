/*
 * Files that no tool should write: t/bad/wasm/CASE/input must fail with exactly
 * the text in .../error, when it is opened or when its symbols are read.
 */
#include "bad_cases.h"
#include "formats/wasm/wasm.h"

static sym_status_t
ignore(void *ctx, const sym_wasm_symbol_t *symbol, sym_error_t *err)
{
    (void) ctx;
    (void) symbol;
    return err->status;
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_error_t err = { 0 };
    char text[256];
    sym_wasm_t *w = sym_wasm_open((const uint8_t *) in.data, in.len, &err);

    if (w != NULL) {
        (void) sym_wasm_symbols(w, ignore, NULL, &err);
    }

    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
    sym_wasm_close(w);
}


int
main(void)
{
    bad_cases("t/bad/wasm", 8, test_case);
    return done_testing();
}
