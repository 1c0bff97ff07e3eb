/*
 * A Mach-O file of any bytes: opens every slice, unpacks and touches every
 * section with DWARF; symbols must be sorted and in the image.
 */
#include "check.h"
#include "formats/macho/macho.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
touch(sym_str_t bytes)
{
    volatile uint8_t sum = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        sum = (uint8_t) (sum + (uint8_t) bytes.data[i]);
    }
}


static void
ask_sections(sym_macho_t *m)
{
    static const char *const names[] = { ".debug_info", ".debug_str_offsets",
                                         "__eh_frame", "__text",
                                         ".debug_line" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sym_error_t err = { 0 };
        sym_str_t bytes = { NULL, 0 };
        sym_status_t rc = sym_macho_section(m, names[i], &bytes, &err);

        check(rc == SYM_NOT_FOUND || rc == err.status);
        touch(bytes);
    }
}


static void
ask_symbols(sym_macho_t *m)
{
    sym_error_t err = { 0 };
    sym_macho_symbols_t s;

    if (sym_macho_symbols(m, &s, &err) != SYM_OK) {
        check(err.what != NULL);
        return;
    }

    for (size_t i = 0; i < s.n; i++) {
        touch(s.symbols[i].name);
        check(s.symbols[i].name.len != 0);
        check(i + 1 == s.n
              || (s.symbols[i].addr < s.symbols[i + 1].addr
                  && s.symbols[i].size
                         <= s.symbols[i + 1].addr - s.symbols[i].addr));
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sym_macho_options_t options = { .unpacked_max = 1 << 20 };
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    sym_error_t err = { 0 };
    size_t n;

    if (sym_macho_slices(data, size, slices, &n, &err) != SYM_OK) {
        check(n == 0 && err.what != NULL);
        return 0;
    }

    for (size_t i = 0; i < n; i++) {
        sym_error_t slice_err = { 0 };
        char id[SYM_ID_MAX];
        sym_macho_t *m =
            sym_macho_open(data, size, &slices[i], &options, &slice_err);

        check((m == NULL) == (slice_err.status != SYM_OK));
        check(slice_err.offset <= size);
        if (m != NULL) {
            check(sym_macho_debug_id(m, id) <= SYM_ID_MAX);
            ask_sections(m);
            ask_symbols(m);
        }
        sym_macho_close(m);
    }
    return 0;
}
