/*
 * convert.c - ELF files as a row of the formats.
 */
#include <inttypes.h>

#include "formats/elf/elf.h"
#include "formats/elf/debug_files.h"
#include "formats/native/native.h"
#include "formats/native/rules.h"
#include "formats/unwind/exidx.h"

static sym_status_t
add_symbol(void *ctx, const sym_elf_symbol_t *symbol, sym_error_t *err)
{
    return sym_native_symbols_add(
        ctx,
        &(sym_native_symbol_t){ symbol->addr, symbol->size, symbol->name,
                                symbol->is_open },
        err);
}


static sym_status_t
read_symbols(sym_elf_t *elf, sym_native_symbols_t *s, sym_error_t *err)
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
read_ids(sym_elf_t *elf, sym_native_t *module, sym_error_t *err)
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
    module->n_loads = sym_elf_loads(elf, module->loads);
    module->os = "Linux";
    return SYM_OK;
}


/* One ELF file and its companions. */
typedef struct {
    sym_elf_t *elf;
    sym_elf_companion_t debug, alt;
    sym_native_splits_t splits;
    sym_dwarf_sections_t alt_sections;
    sym_native_symbols_t symbols;

    sym_elf_unpacking_t *unpacking; /* for the DWARF data; or NULL */
    sym_dwarf_supply_t supply;
} elf_files_t;

/* Features of the file and of its debug file. */
static uint32_t
features_of(const sym_elf_t *elf, const sym_elf_t *debug)
{
    const sym_elf_info_t *a = sym_elf_info(elf), *b = sym_elf_info(debug);

    return sym_feature_flags(a->has_debug_info || b->has_debug_info,
                             a->has_symbols || b->has_symbols,
                             a->has_unwind_info || b->has_unwind_info);
}


/* Finds the debug information: in the file, or in a debug file that it
 * names. */
static sym_status_t
open_debug(elf_files_t *e, const sym_format_services_t *services,
           sym_elf_t **debug, sym_error_t *err)
{
    const sym_elf_info_t *info = sym_elf_info(e->elf);

    *debug = e->elf;
    if (info->has_debug_info || !info->has_code) {
        return SYM_OK;
    }

    if (sym_elf_debug_open(e->elf, services, &e->debug, err) != SYM_OK) {
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
    sym_status_t rc = sym_elf_unpack(elf, sym_native_section_names,
                                     SYM_NATIVE_SECTIONS, pool, err);

    return rc != SYM_OK ? rc : sym_native_sections(find_section, elf, s, err);
}


/* If there is a pool, sections are read while they are unpacked. */
static sym_status_t
begin_sections(elf_files_t *e, sym_elf_t *elf, const sym_thread_pool_t *pool,
               sym_dwarf_input_t *in, sym_error_t *err)
{
    if (pool == NULL) {
        return get_sections(elf, NULL, &in->sections, err);
    }

    e->unpacking = sym_elf_unpack_begin(elf, sym_native_section_names,
                                        SYM_NATIVE_SECTIONS, err);
    if (e->unpacking == NULL) {
        return err->status;
    }

    e->supply = (sym_dwarf_supply_t){ sym_elf_unpack_some, sym_elf_unpack_wait,
                                      e->unpacking };
    in->supply = &e->supply;
    return sym_native_sections(find_section, elf, &in->sections, err);
}


/* Reads the DWARF of a file, including parts in other files. */
static sym_status_t
open_dwarf(elf_files_t *e, sym_elf_t *debug,
           const sym_format_services_t *services, sym_dwarf_input_t *in,
           sym_error_t *err)
{
    sym_status_t rc = begin_sections(e, debug, services->pool, in, err);

    if (rc != SYM_OK || in->sections.info.len == 0) {
        return rc;
    }

    rc = sym_elf_alt_open(debug, services, &e->alt, err);
    if (rc == SYM_OK && e->alt.elf != NULL) {
        in->alt = &e->alt_sections;
        rc = get_sections(e->alt.elf, services->pool, &e->alt_sections, err);
    }

    return rc == SYM_OK ? sym_native_splits_open(
               &e->splits, &sym_elf_split_format, in, services, err)
                        : rc;
}


static sym_status_t
read_frames(sym_native_t *f, sym_elf_t *elf, sym_unwind_arch_t arch,
            const char *name, sym_error_t *err)
{
    const sym_elf_info_t *info = sym_elf_info(elf);
    sym_frames_input_t in = { .address = sym_elf_section_address(elf, name),
                              .text = sym_elf_section_address(elf, ".text"),
                              .data = sym_elf_section_address(elf, ".got"),
                              .image_base = info->image_base,
                              .arch = arch,
                              .is_eh = name[1] == 'e',
                              .is_64bit = info->is_64bit,
                              .is_big_endian = info->is_big_endian };
    sym_status_t rc = sym_elf_section(elf, name, &in.bytes, err);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    return rc == SYM_OK ? sym_native_frames(f, &in, err) : rc;
}


static sym_status_t
read_exidx(sym_native_t *f, sym_elf_t *elf, sym_error_t *err)
{
    const sym_elf_info_t *info = sym_elf_info(elf);
    sym_exidx_input_t in = {
        .index.address = sym_elf_section_address(elf, ".ARM.exidx"),
        .table.address = sym_elf_section_address(elf, ".ARM.extab"),
        .code_end = sym_elf_section_address(elf, ".text"),
        .image_base = info->image_base,
        .is_big_endian = info->is_big_endian,
    };
    sym_str_t text = SYM_STR("");
    uint64_t broken = 0;
    sym_status_t rc = sym_elf_section(elf, ".ARM.exidx", &in.index.bytes, err);

    if (rc != SYM_OK
        || sym_elf_section(elf, ".ARM.extab", &in.table.bytes, err)
               > SYM_NOT_FOUND
        || sym_elf_section(elf, ".text", &text, err) > SYM_NOT_FOUND)
    {
        return err->status;
    }

    in.code_end += text.len;
    rc = sym_exidx_read(&in, f->cfi, &broken, err);
    if (rc == SYM_OK && broken != 0) {
        f->services->note(f->services->ctx,
                          "unwind rules of %" PRIu64 " functions are broken",
                          broken);
    }

    return rc;
}


static sym_status_t
read_rules(sym_native_t *f, sym_elf_t *elf, sym_error_t *err)
{
    sym_unwind_arch_t arch;
    sym_status_t rc = sym_native_rules_begin(f, &arch, 0, err);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    rc = rc != SYM_OK ? rc : read_frames(f, elf, arch, ".eh_frame", err);
    rc = rc != SYM_OK ? rc : read_frames(f, elf, arch, ".debug_frame", err);
    return rc == SYM_OK && arch == SYM_UNWIND_ARM ? read_exidx(f, elf, err)
                                                  : rc;
}


static sym_status_t
read_elf(sym_native_t *f, elf_files_t *e, sym_error_t *err)
{
    sym_dwarf_input_t in = {
        .is_big_endian = sym_elf_info(e->elf)->is_big_endian,
        .image_base = sym_elf_info(e->elf)->image_base,
    };
    sym_elf_t *debug = NULL;
    sym_status_t rc = read_ids(e->elf, f, err);

    rc = rc != SYM_OK ? rc : read_rules(f, e->elf, err);

    if (rc != SYM_OK || !f->wants_symbols) {
        return rc;
    }

    rc = open_debug(e, f->services, &debug, err);
    rc = rc != SYM_OK ? rc : read_symbols(debug, &e->symbols, err);

    if (rc == SYM_OK) {
        f->features = features_of(e->elf, debug);
    }

    if (rc == SYM_OK && e->symbols.n == 0 && debug != e->elf) {
        rc = read_symbols(e->elf, &e->symbols, err);
    }

    rc = rc != SYM_OK ? rc : open_dwarf(e, debug, f->services, &in, err);
    f->is_incomplete = e->alt.is_missing;
    return rc != SYM_OK ? rc
                        : sym_native_write(f, &in, &e->symbols, false, err);
}


/* A failure to unpack causes other errors, so it is reported first. */
static sym_status_t
read_and_settle(sym_native_t *f, elf_files_t *e, sym_error_t *err)
{
    sym_error_t why = { 0 };
    sym_status_t rc = read_elf(f, e, err);

    if (sym_elf_unpack_end(e->unpacking, &why) != SYM_OK) {
        *err = why;
        return why.status;
    }

    return rc;
}


static sym_status_t
read_object(sym_native_t *f, size_t which, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max =
                                            f->services->unpacked_max };
    elf_files_t e = { .elf = sym_elf_open(f->data, f->len, &options, err) };
    sym_status_t rc = e.elf == NULL ? err->status : read_and_settle(f, &e, err);

    (void) which; /* the file has one object */
    sym_native_symbols_free(&e.symbols);
    sym_native_splits_close(&e.splits);
    sym_elf_companion_close(&e.alt);
    sym_elf_companion_close(&e.debug);
    sym_elf_close(e.elf);
    return rc;
}


/* gABI, "ELF Header" */
#define DATA_AT 5 /* EI_DATA */
#define DATA_BIG 2
#define TYPE_AT 16 /* e_type */
#define TYPE_REL 1
#define TYPE_CORE 4

/* Addresses in object files and core dumps are not usable. */
static bool
is_wanted(const uint8_t *head, size_t len)
{
    unsigned type;

    if (len < TYPE_AT + 2) {
        return false;
    }

    type = head[TYPE_AT + (head[DATA_AT] == DATA_BIG ? 1 : 0)];
    return type != TYPE_REL && type != TYPE_CORE;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    sym_status_t rc = SYM_NOT_FOUND;

    if (f->services->takes_parts
        && !is_wanted((const uint8_t *) f->data.data, f->data.len))
    {
        rc = sym_elf_alt_put(f, err);
    }

    return rc != SYM_NOT_FOUND ? rc
                               : sym_native_convert(f, read_object, which, err);
}


const sym_format_t sym_format_elf = {
    .title = "ELF",
    .probe = sym_elf_is,
    .is_wanted = is_wanted,
    .is_nameless = true,
    .convert = convert,
};
