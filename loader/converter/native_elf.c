/*
 * native_elf.c - ELF files, into a writer.
 */
#include "formats/elf/elf.h"
#include "converter/native_companions.h"
#include "converter/native_read.h"

static sym_status_t
add_symbol(void *ctx, const sym_elf_symbol_t *symbol, sym_error_t *err)
{
    return native_symbols_add(ctx,
                              &(native_symbol_t){ symbol->addr, symbol->size,
                                                  symbol->name,
                                                  symbol->is_open },
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


/* One ELF file and those that go with it. */
typedef struct {
    sym_elf_t *elf;
    native_companion_t debug, alt;
    native_splits_t splits;
    sym_dwarf_sections_t alt_sections;
    native_symbols_t symbols;

    sym_elf_unpacking_t *unpacking; /* of the DWARF, or NULL */
    sym_dwarf_supply_t supply;
} elf_files_t;

/* Who has the debug information: the file, or one that it names. */
static sym_status_t
open_debug(elf_files_t *e, uint64_t unpacked_max, sym_elf_t **debug,
           sym_error_t *err)
{
    const sym_elf_info_t *info = sym_elf_info(e->elf);

    *debug = e->elf;
    if (info->has_debug_info || !info->has_code) {
        return SYM_OK;
    }

    if (native_debug_open(e->elf, unpacked_max, &e->debug, err) != SYM_OK) {
        return err->status;
    }

    if (e->debug.elf != NULL) {
        *debug = e->debug.elf;
    }

    return SYM_OK;
}


static sym_status_t
get_sections(sym_elf_t *elf, const sym_thread_pool_t *pool,
             sym_dwarf_sections_t *s, sym_error_t *err)
{
    sym_status_t rc =
        sym_elf_unpack(elf, native_section_names, NATIVE_SECTIONS, pool, err);

    return rc != SYM_OK ? rc : native_sections(find_section, elf, s, err);
}


/* With a pool they are read while they are unpacked. */
static sym_status_t
begin_sections(elf_files_t *e, sym_elf_t *elf, const sym_thread_pool_t *pool,
               sym_dwarf_input_t *in, sym_error_t *err)
{
    if (pool == NULL) {
        return get_sections(elf, NULL, &in->sections, err);
    }

    e->unpacking =
        sym_elf_unpack_begin(elf, native_section_names, NATIVE_SECTIONS, err);
    if (e->unpacking == NULL) {
        return err->status;
    }

    e->supply = (sym_dwarf_supply_t){ sym_elf_unpack_some, sym_elf_unpack_wait,
                                      e->unpacking };
    in->supply = &e->supply;
    return native_sections(find_section, elf, &in->sections, err);
}


/* The DWARF of a file, and what of it is in others. */
static sym_status_t
open_dwarf(elf_files_t *e, sym_elf_t *debug, const native_means_t *means,
           sym_dwarf_input_t *in, sym_error_t *err)
{
    uint64_t unpacked_max = means->unpacked_max;
    sym_status_t rc = begin_sections(e, debug, means->pool, in, err);

    if (rc != SYM_OK || in->sections.info.len == 0) {
        return rc;
    }

    rc = native_alt_open(debug, unpacked_max, &e->alt, err);
    if (rc == SYM_OK && e->alt.elf != NULL) {
        in->alt = &e->alt_sections;
        rc = get_sections(e->alt.elf, means->pool, &e->alt_sections, err);
    }

    return rc == SYM_OK ? native_splits_open(&e->splits, in, unpacked_max, err)
                        : rc;
}


static sym_status_t
read_elf(const native_file_t *f, elf_files_t *e, sym_error_t *err)
{
    sym_dwarf_input_t in = {
        .is_big_endian = sym_elf_info(e->elf)->is_big_endian,
        .image_base = sym_elf_info(e->elf)->image_base,
    };
    sym_elf_t *debug = NULL;
    sym_status_t rc = read_ids(e->elf, f->module, err);

    rc = rc != SYM_OK ? rc : open_debug(e, f->means->unpacked_max, &debug, err);
    rc = rc != SYM_OK ? rc : read_symbols(debug, &e->symbols, err);

    if (rc == SYM_OK && e->symbols.n == 0 && debug != e->elf) {
        rc = read_symbols(e->elf, &e->symbols, err);
    }

    rc = rc != SYM_OK ? rc : open_dwarf(e, debug, f->means, &in, err);
    f->module->is_incomplete = e->alt.is_missing;
    return rc != SYM_OK ? rc : native_write(f, &in, &e->symbols, false, err);
}


/* What cannot be unpacked is why the rest went wrong. */
static sym_status_t
read_and_settle(const native_file_t *f, elf_files_t *e, sym_error_t *err)
{
    sym_error_t why = { 0 };
    sym_status_t rc = read_elf(f, e, err);

    if (sym_elf_unpack_end(e->unpacking, &why) != SYM_OK) {
        *err = why;
        return why.status;
    }

    return rc;
}


sym_status_t
native_read_elf(const native_file_t *f, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max =
                                            f->means->unpacked_max };
    elf_files_t e = { .elf = sym_elf_open(f->data, f->len, &options, err) };
    sym_status_t rc = e.elf == NULL ? err->status : read_and_settle(f, &e, err);

    native_symbols_free(&e.symbols);
    native_splits_close(&e.splits);
    native_companion_close(&e.alt);
    native_companion_close(&e.debug);
    sym_elf_close(e.elf);
    return rc;
}
