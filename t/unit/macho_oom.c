/*
 * Memory runs out while a Mach-O file is read: each allocation in turn fails.
 */
#include <zlib.h>

#include "macho_kit.h"
#include "oom.h"

/* A file with a packed section and a symbol. */
static void
make_file(kit_t *k)
{
    uint8_t packed[64] = "ZLIB\0\0\0\0\0\0\0\4";
    uLongf len = sizeof(packed) - 12;
    size_t at, section, symtab;

    if (compress(packed + 12, &len, (const Bytef *) "INFO", 4) != Z_OK) {
        abort();
    }

    kit_header(k, 0x01000007, 3, 2);
    at = kit_segment(k, "__TEXT", 0, 0x1000, 0, 0, 2);
    (void) kit_section(k, "__TEXT", "__text", 0, 0x100, 0x80000400);
    section = kit_section(k, "__DWARF", "__zdebug_info", 0, len + 12, 0);
    kit_end(k, at);
    symtab = kit_symtab(k);
    kit_number(k, section, kit_bytes(k, packed, len + 12), 4);
    kit_number(k, symtab, k->len, 4);
    kit_number(k, symtab + 4, 1, 4);
    kit_nlist(k, 1, 0x0f, 1, 0, 0x10);
    kit_number(k, symtab + 8, kit_bytes(k, "\0_f", 4), 4);
    kit_number(k, symtab + 12, 4, 4);
}


static sym_status_t
read_file(const kit_t *k, sym_error_t *err)
{
    const sym_macho_slice_t slice = { .size = k->len };
    const sym_macho_options_t options = { .unpacked_max = 1 << 20 };
    sym_macho_symbols_t s;
    sym_str_t bytes;
    sym_macho_t *m = sym_macho_open(k->data, k->len, &slice, &options, err);

    if (m != NULL && sym_macho_section(m, ".debug_info", &bytes, err) == SYM_OK)
    {
        (void) sym_macho_symbols(m, &s, err);
    }
    sym_macho_close(m);
    return err->status;
}


int
main(void)
{
    kit_t k = { .is_64bit = true };
    sym_status_t rc = SYM_NOMEM;
    unsigned long n;

    make_file(&k);
    for (n = 0; rc != SYM_OK && n < 100; n++) {
        sym_error_t err = { 0 };

        allocations_left = n;
        rc = read_file(&k, &err);
        allocations_left = (unsigned long) -1;
        if (rc != SYM_OK) {
            is_status(rc, SYM_NOMEM, &err, "out of memory");
        }
    }

    ok(rc == SYM_OK, "with enough memory it is read");
    ok(n > 2, "some allocations were made to fail");
    return done_testing();
}
