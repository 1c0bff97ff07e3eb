/*
 * A PE file of any bytes: touches the debug directory, the embedded portable
 * PDB and the sections with DWARF; functions and symbols must be sorted.
 */
#include "check.h"
#include "formats/pe/functions.h"
#include "formats/pe/pe.h"

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
ask_debug(sym_pe_t *pe)
{
    char text[SYM_ID_TEXT_MAX];
    sym_error_t err = { 0 };
    sym_pe_codeview_t cv;
    sym_pe_debug_t entry;
    sym_debug_id_t id;
    sym_str_t ppdb = { NULL, 0 };
    sym_status_t rc;

    for (size_t i = 0; sym_pe_debug(pe, i, &entry); i++) {
        touch(entry.bytes);
    }

    sym_pe_debug_id(pe, &id);
    check(sym_pe_codeview(pe, &cv) == (id.form != SYM_DEBUG_ID_NONE));
    if (id.form != SYM_DEBUG_ID_NONE) {
        touch(cv.pdb_file);
    }
    check(sym_pe_code_id(pe, text) > 8);

    rc = sym_pe_embedded(pe, &ppdb, &err);
    check(rc == SYM_NOT_FOUND || rc == err.status);
    touch(ppdb);
}


static void
ask_sections(sym_pe_t *pe)
{
    static const char *const names[] = { ".debug_info", ".debug_line", ".text",
                                         ".gnu_debuglink" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sym_error_t err = { 0 };
        sym_str_t bytes = { NULL, 0 };
        sym_status_t rc = sym_pe_section(pe, names[i], &bytes, &err);

        check(rc == SYM_NOT_FOUND || rc == err.status);
        touch(bytes);
    }
}


static void
ask_functions(sym_pe_t *pe)
{
    sym_error_t err = { 0 };
    sym_pe_functions_t f;

    check(sym_pe_functions(pe, &f, &err) == SYM_OK);
    for (size_t i = 0; i < f.n; i++) {
        check(f.items[i].begin < f.items[i].end);
        check(i + 1 == f.n || f.items[i].begin < f.items[i + 1].begin);
        check(sym_pe_function_before(&f, f.items[i].begin) == &f.items[i]);
    }
}


static sym_status_t
take_symbol(void *ctx, const sym_pe_symbol_t *symbol, sym_error_t *err)
{
    uint64_t *end = ctx;

    (void) err;
    check(symbol->size != 0 && symbol->name.len != 0);
    check(symbol->rva >= *end);
    *end = (uint64_t) symbol->rva + symbol->size;
    check(*end <= (uint64_t) UINT32_MAX + 1);
    touch(symbol->name);
    return SYM_OK;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sym_pe_options_t options = { .unpacked_max = 1 << 20 };
    sym_error_t err = { 0 };
    uint64_t end = 0;
    sym_pe_t *pe = sym_pe_open(data, size, &options, &err);

    check((pe == NULL) == (err.status != SYM_OK));
    check(err.offset <= size || err.status == SYM_UNSUPPORTED);
    if (pe != NULL) {
        ask_debug(pe);
        ask_sections(pe);
        ask_functions(pe);
        check(sym_pe_symbols(pe, NULL, take_symbol, &end, &err) == SYM_OK);
    }
    sym_pe_close(pe);
    return 0;
}
