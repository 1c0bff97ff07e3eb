/*
 * convert.c - PE files as a row of the formats.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/native/choose.h"
#include "formats/native/debuglink.h"
#include "formats/native/native.h"
#include "formats/native/rules.h"
#include "formats/pe/unwind.h"
#include "formats/native/undecorate.h"
#include "formats/pe/pe.h"
#include "formats/ppdb/ppdb.h"

static sym_status_t
find_section(void *ctx, const char *name, sym_str_t *bytes, sym_error_t *err)
{
    return sym_pe_section(ctx, name, bytes, err);
}


/*
 * Removes the suffix by which gcc and clang distinguish copies and parts of a
 * function ("f.part.0", "f.cold"), because DWARF, Sentry and dump_syms call all
 * of them f.
 */
static sym_str_t
without_clone(sym_str_t name)
{
    static const char *const marks[] = { "cold",    "constprop", "isra",
                                         "part",    "llvm",      "localalias",
                                         "lto_priv" };
    size_t end = name.len, dot;

    while (end > 0 && name.data[end - 1] >= '0' && name.data[end - 1] <= '9') {
        end--;
    }

    end = end < name.len && end > 0 && name.data[end - 1] == '.' ? end - 1
                                                                 : name.len;
    for (dot = end; dot > 0 && name.data[dot - 1] != '.'; dot--) {
        /* the last word */
    }

    for (size_t i = 0; dot > 1 && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (sym_str_eq(sym_str(name.data + dot, end - dot), sym_cstr(marks[i])))
        {
            return sym_str(name.data, dot - 1);
        }
    }

    return name;
}


/* Removes all such suffixes. */
static sym_str_t
plain_name(sym_str_t name)
{
    sym_str_t shorter = without_clone(name);

    while (shorter.len != name.len) {
        name = shorter;
        shorter = without_clone(name);
    }

    return sym_undecorate(name);
}


static sym_status_t
add_symbol(void *ctx, const sym_pe_symbol_t *symbol, sym_error_t *err)
{
    return sym_native_symbols_add(
        ctx,
        &(sym_native_symbol_t){ symbol->rva, symbol->size,
                                plain_name(symbol->name), symbol->is_open },
        err);
}


/* With either separator, because the build machine may not have run Windows. */
static sym_str_t
file_name_of(const sym_pe_codeview_t *cv)
{
    return sym_str_after_last(cv->pdb_file, SYM_STR("/\\"));
}


/*
 * A linker that writes no debug information writes no CodeView entry.  Sentry
 * and Breakpad give all such files a debug id of zeros.  Here the code id is
 * used, spelled as an id of PDB 2.0.
 */
static void
read_ids(const sym_pe_t *pe, sym_native_t *module)
{
    sym_pe_codeview_t cv;
    char text[SYM_ID_TEXT_MAX];
    sym_debug_id_t id;
    size_t len;

    if (sym_pe_codeview(pe, &cv)) {
        module->debug_path = cv.pdb_file;
        module->debug_file = file_name_of(&cv);
    }

    sym_pe_debug_id(pe, &id);
    len = sym_debug_id_write_breakpad(&id, text);
    module->code_id_len = sym_pe_code_id(pe, module->code_id);

    module->debug_id_len =
        len != 0 ? sym_debug_id_canonical(sym_str(text, len), module->debug_id)
                 : sym_debug_id_canonical(
                     sym_str(module->code_id, module->code_id_len),
                     module->debug_id);
    module->arch = sym_pe_info(pe)->arch;
    module->image_base = sym_pe_info(pe)->image_base;
    module->os = "windows";
    module->features = sym_feature_flags(sym_pe_info(pe)->has_debug_info,
                                         sym_pe_info(pe)->has_exports,
                                         sym_pe_info(pe)->has_unwind_info);
}


/* --- the debug file of a stripped file --- */

typedef struct {
    sym_companion_file_t file;
    sym_pe_t *pe; /* NULL: not found */

    const sym_format_services_t *services;
    sym_debuglink_t link;
} debug_t;

static void
debug_close(debug_t *d)
{
    sym_pe_close(d->pe);
    free(d->file.data);
    *d = (debug_t){ 0 };
}


static bool
read_link(sym_pe_t *pe, sym_debuglink_t *link)
{
    sym_error_t bad = { 0 };
    sym_str_t bytes;
    sym_cursor_t c;

    if (sym_pe_section(pe, SYM_DEBUGLINK, &bytes, &bad) != SYM_OK) {
        return false;
    }

    c = sym_cursor(bytes.data, bytes.len, SYM_DEBUGLINK, &bad);
    return sym_debuglink_read(&c, link) == SYM_OK;
}


static sym_status_t
take_debug(void *ctx, const sym_companion_file_t *file, sym_error_t *err)
{
    debug_t *d = ctx;
    const sym_pe_options_t options = { .unpacked_max =
                                           d->services->unpacked_max };
    sym_error_t bad = { 0 };

    if (sym_debuglink_crc(0, file->data, file->len) != d->link.crc) {
        d->services->note(
            d->services->ctx, "%.*s is another file: its CRC is not %08" PRIx32,
            (int) d->link.name.len, d->link.name.data, d->link.crc);
        return SYM_NOT_FOUND;
    }

    d->pe = sym_pe_open(file->data, file->len, &options, &bad);
    return bad.status == SYM_NOMEM ? sym_fail(err, bad.status, bad.what)
                                   : SYM_OK;
}


/* Returns SYM_OK even if no debug file was found: then to->pe is NULL. */
static sym_status_t
debug_open(sym_pe_t *pe, const sym_format_services_t *services, debug_t *to,
           sym_error_t *err)
{
    sym_companion_t want;

    to->services = services;
    if (!read_link(pe, &to->link)
        || !sym_companion_set(&want, SYM_COMPANION_DEBUG, to->link.name,
                              SYM_STR(""), SYM_STR("")))
    {
        return SYM_OK;
    }

    return sym_native_choose(&want, services, take_debug, to, &to->file, err);
}


/* --- conversion --- */

/* gcc and clang describe functions of x86 by call frame information.  Some
 * linkers cut the section's name at 8 bytes. */
static sym_status_t
read_frames(sym_native_t *f, sym_pe_t *pe, sym_error_t *err)
{
    static const char *const names[] = { ".eh_frame", ".eh_fram",
                                         ".debug_frame" };
    const uint64_t base = sym_pe_info(pe)->image_base;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sym_frames_input_t in = {
            .address = base + sym_pe_section_rva(pe, names[i]),
            .text = base + sym_pe_section_rva(pe, ".text"),
            .image_base = base,
            .arch = SYM_UNWIND_X86,
            .is_eh = names[i][1] == 'e',
        };
        sym_status_t rc = sym_pe_section(pe, names[i], &in.bytes, err);

        rc = rc == SYM_OK ? sym_native_frames(f, &in, err) : rc;
        if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
            return rc;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_rules(sym_native_t *f, sym_pe_t *pe, sym_error_t *err)
{
    sym_unwind_arch_t arch;
    uint64_t broken = 0;
    sym_status_t rc =
        sym_native_rules_begin(f, &arch, SYM_CFI_FLAG_WINDOWS, err);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    rc = rc != SYM_OK ? rc : sym_pe_unwind(pe, f->cfi, &broken, err);
    rc = rc == SYM_OK && arch == SYM_UNWIND_X86 ? read_frames(f, pe, err) : rc;

    if (rc == SYM_OK && broken != 0) {
        f->services->note(f->services->ctx,
                          "unwind rules of %" PRIu64 " functions are broken",
                          broken);
    }

    return rc;
}


static sym_status_t
read_pe(sym_native_t *f, sym_pe_t *pe, debug_t *debug,
        sym_native_symbols_t *symbols, sym_error_t *err)
{
    sym_pe_t *from = pe;
    sym_dwarf_input_t in = { .image_base = sym_pe_info(pe)->image_base,
                             .undecorate = sym_undecorate };
    sym_status_t rc;

    read_ids(pe, f);
    rc = read_rules(f, pe, err);

    if (rc != SYM_OK || !f->wants_symbols) {
        return rc;
    }

    symbols->image_base = in.image_base;
    if (!sym_pe_info(pe)->has_debug_info && sym_pe_info(pe)->has_code
        && debug_open(pe, f->services, debug, err) != SYM_OK)
    {
        return err->status;
    }

    if (debug->pe != NULL) {
        from = debug->pe;
        f->features |=
            sym_pe_info(from)->has_debug_info ? SYM_FLAG_DEBUG_INFO : 0;
    }

    rc = sym_pe_symbols(pe, debug->pe, add_symbol, symbols, err);
    rc = rc != SYM_OK
             ? rc
             : sym_native_sections(find_section, from, &in.sections, err);

    if (rc == SYM_OK && symbols->n == 0 && in.sections.info.len == 0
        && f->debug_file.len != 0 && !f->services->takes_empty)
    {
        f->is_bare = true;
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the file names no functions: its PDB does");
    }

    return rc != SYM_OK ? rc : sym_native_write(f, &in, symbols, false, err);
}


static sym_status_t
read_object(sym_native_t *f, size_t which, sym_error_t *err)
{
    const sym_pe_options_t options = { .unpacked_max =
                                           f->services->unpacked_max };
    sym_native_symbols_t symbols = { 0 };
    debug_t debug = { 0 };
    sym_pe_t *pe = sym_pe_open(f->data, f->len, &options, err);
    sym_status_t rc =
        pe == NULL ? err->status : read_pe(f, pe, &debug, &symbols, err);

    (void) which; /* the file has one object */
    sym_native_symbols_free(&symbols);
    debug_close(&debug);
    sym_pe_close(pe);
    return rc;
}


/* Converts only the embedded portable PDB of an assembly.  SYM_NOT_FOUND: the
 * assembly has none. */
static sym_status_t
convert_embedded(const sym_format_file_t *f, sym_pe_t *pe, sym_error_t *err)
{
    sym_pe_codeview_t cv;
    sym_str_t ppdb, name = SYM_STR("");
    sym_status_t rc = sym_pe_embedded(pe, &ppdb, err);

    if (rc == SYM_OK && sym_pe_codeview(pe, &cv)) {
        name = file_name_of(&cv);
    }

    return rc == SYM_OK ? sym_ppdb_convert(f, ppdb, name, err) : rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    const sym_pe_options_t options = { .unpacked_max =
                                           f->services->unpacked_max };
    sym_pe_t *pe =
        sym_pe_open((const uint8_t *) f->data.data, f->data.len, &options, err);
    sym_status_t rc = pe == NULL ? err->status
                      : sym_format_wants(f, SYM_KIND_SYMCACHE)
                          ? convert_embedded(f, pe, err)
                          : SYM_NOT_FOUND;

    sym_pe_close(pe);
    return rc == SYM_NOT_FOUND ? sym_native_convert(f, read_object, which, err)
                               : rc;
}


/* Every PE file is accepted: the probe has already checked the header. */
static bool
is_wanted(const uint8_t *head, size_t len)
{
    return sym_pe_is(head, len);
}


const sym_format_t sym_format_pe = {
    .title = "PE",
    .probe = sym_pe_is,
    .is_wanted = is_wanted,
    .is_nameless = true,
    .convert = convert,
};
