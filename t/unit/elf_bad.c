/*
 * Files that no linker should write: t/bad/elf/CASE/input must fail with
 * exactly the text in .../error, when it is opened or when its parts are read.
 */
#include <stdlib.h>

#include "bad_cases.h"
#include "formats/elf/elf.h"

static sym_status_t
ignore(void *ctx, const sym_elf_symbol_t *s, sym_error_t *err)
{
    (void) ctx;
    (void) s;
    (void) err;
    return SYM_OK;
}


/* In the order of the header; the first failure is kept. */
static void
ask(sym_elf_t *e, sym_error_t *err)
{
    sym_elf_symbol_stats_t stats;
    sym_debuglink_t link;
    sym_elf_altlink_t alt;
    sym_str_t bytes;

    (void) sym_elf_section(e, ".debug_info", &bytes, err);
    (void) sym_elf_debuglink(e, &link, err);
    (void) sym_elf_altlink(e, &alt, err);

    if (err->status == SYM_OK) {
        (void) sym_elf_symbols(e, ignore, NULL, &stats, err);
        if (stats.broken != 0) {
            *err = stats.first_why;
        }
    }
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_elf_options_t options = { .unpacked_max = 1 << 20 };
    /* at the end of its block: valgrind and ASan see a read one byte past it */
    uint8_t *bytes = malloc(in.len + (in.len == 0));
    sym_error_t err = { 0 };
    char text[256];
    sym_elf_t *e;

    if (bytes == NULL) {
        abort();
    }

    memcpy(bytes, in.data == NULL ? "" : in.data, in.len);
    e = sym_elf_open(bytes, in.len, &options, &err);
    if (e != NULL) {
        ask(e, &err);
    }

    if (!ok(sym_str_eq(sym_cstr(sym_error_text(&err, text, sizeof(text))),
                       want),
            "%s", name))
    {
        printf("#   got '%s', want '%.*s'\n", text, (int) want.len, want.data);
    }

    sym_elf_close(e);
    free(bytes);
}


int
main(void)
{
    bad_cases("t/bad/elf", 25, test_case);
    return done_testing();
}
