/*
 * native_elf.c - ELF files, into a writer.
 */
#include "elf/elf.h"
#include "native_read.h"

static sym_status_t
add_symbol(void *ctx, const sym_elf_symbol_t *symbol, sym_error_t *err)
{
    return native_symbols_add(
        ctx, &(native_symbol_t){ symbol->addr, symbol->size, symbol->name },
        err);
}


static sym_status_t
read_symbols(sym_elf_t *elf, native_symbols_t *s, sym_error_t *err)
{
    sym_elf_symbol_stats_t stats;
    sym_status_t rc = sym_elf_symbols(elf, add_symbol, s, &stats, err);

    s->image_base = sym_elf_info(elf)->image_base;
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
find_section(void *ctx, const char *name, sym_str_t *bytes, sym_error_t *err)
{
    return sym_elf_section(ctx, name, bytes, err);
}


static sym_status_t
read_ids(sym_elf_t *elf, native_module_t *module, sym_error_t *err)
{
    sym_str_t build_id;

    if (sym_elf_build_id(elf, &build_id) == SYM_OK) {
        module->code_id_len = sym_elf_code_id(build_id, module->code_id);
    }

    if (sym_elf_debug_id(elf, module->debug_id) != SYM_OK) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the file has neither a build id nor code");
    }

    module->debug_id_len = SYM_ELF_DEBUG_ID_LEN;
    module->arch = sym_elf_info(elf)->arch;
    module->image_base = sym_elf_info(elf)->image_base;
    module->os = "Linux";
    return SYM_OK;
}


static sym_status_t
read_elf(const native_file_t *f, sym_elf_t *elf, native_symbols_t *symbols,
         sym_error_t *err)
{
    sym_dwarf_input_t in = {
        .is_big_endian = sym_elf_info(elf)->is_big_endian,
        .image_base = sym_elf_info(elf)->image_base,
        .rows = SYM_DWARF_ROWS_ALL,
    };
    sym_status_t rc = read_ids(elf, f->module, err);

    rc = rc != SYM_OK ? rc : read_symbols(elf, symbols, err);
    rc = rc != SYM_OK ? rc
                      : native_sections(find_section, elf, &in.sections, err);
    return rc != SYM_OK ? rc : native_write(f, &in, symbols, false, err);
}


sym_status_t
native_read_elf(const native_file_t *f, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max =
                                            f->means->unpacked_max };
    native_symbols_t symbols = { 0 };
    sym_elf_t *elf = sym_elf_open(f->data, f->len, &options, err);
    sym_status_t rc =
        elf == NULL ? err->status : read_elf(f, elf, &symbols, err);

    native_symbols_free(&symbols);
    sym_elf_close(elf);
    return rc;
}
