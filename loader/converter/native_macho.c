/*
 * native_macho.c - Mach-O files, slice by slice, into a writer.
 */
#include "formats/macho/macho.h"
#include "converter/native_read.h"

static sym_status_t
find_section(void *ctx, const char *name, sym_str_t *bytes, sym_error_t *err)
{
    return sym_macho_section(ctx, name, bytes, err);
}


static sym_status_t
read_ids(const sym_macho_t *m, native_module_t *module, sym_error_t *err)
{
    module->debug_id_len = sym_macho_debug_id(m, module->debug_id);
    module->code_id_len = sym_macho_code_id(m, module->code_id);
    module->arch = sym_macho_info(m)->arch;
    module->image_base = sym_macho_info(m)->image_base;
    module->os = "mac";

    return module->debug_id_len != 0
               ? SYM_OK
               : sym_fail(err, SYM_UNSUPPORTED, "the file has no UUID");
}


static sym_status_t
read_symbols(sym_macho_t *m, native_symbols_t *to, sym_error_t *err)
{
    sym_macho_symbols_t from;
    sym_status_t rc = sym_macho_symbols(m, &from, err);

    to->image_base = sym_macho_info(m)->image_base;

    for (size_t i = 0; i < from.n && rc == SYM_OK; i++) {
        const sym_macho_symbol_t *s = &from.symbols[i];

        rc = native_symbols_add(
            to, &(native_symbol_t){ s->addr, s->size, s->name, false }, err);
    }

    return rc;
}


/*
 * A library without code (constants only) has a dSYM with DWARF, too: then it
 * is known that there is nothing to name.
 */
static bool
may_be_empty(const sym_macho_info_t *info)
{
    return info->is_dsym && info->has_debug_info;
}


/* atos is who answers for such files, so the lines are those that it shows. */
static sym_status_t
read_slice(const native_file_t *f, sym_macho_t *m, native_symbols_t *symbols,
           sym_error_t *err)
{
    sym_dwarf_input_t in = {
        .is_big_endian = sym_macho_info(m)->is_big_endian,
        .image_base = sym_macho_info(m)->image_base,
        .has_statements = true,
    };
    sym_status_t rc = read_ids(m, f->module, err);

    rc = rc != SYM_OK ? rc : read_symbols(m, symbols, err);
    rc =
        rc != SYM_OK ? rc : native_sections(find_section, m, &in.sections, err);
    return rc != SYM_OK ? rc
                        : native_write(f, &in, symbols,
                                       may_be_empty(sym_macho_info(m)), err);
}


sym_status_t
native_read_macho(const native_file_t *f, const sym_macho_slice_t *slice,
                  sym_error_t *err)
{
    const sym_macho_options_t options = { .unpacked_max =
                                              f->means->unpacked_max };
    native_symbols_t symbols = { 0 };
    sym_macho_t *m = sym_macho_open(f->data, f->len, slice, &options, err);
    sym_status_t rc = m == NULL ? err->status : read_slice(f, m, &symbols, err);

    native_symbols_free(&symbols);
    sym_macho_close(m);
    return rc;
}


size_t
native_macho_id(const native_file_t *f, const sym_macho_slice_t *slice,
                char id[SYM_ID_MAX])
{
    const sym_macho_options_t options = { .unpacked_max =
                                              f->means->unpacked_max };
    sym_error_t err = { 0 };
    sym_macho_t *m = sym_macho_open(f->data, f->len, slice, &options, &err);
    size_t len = m != NULL ? sym_macho_debug_id(m, id) : 0;

    sym_macho_close(m);
    return len;
}
