/*
 * convert.c - Mach-O files as a row of the formats.
 */
#include "formats/macho/hidden.h"
#include "formats/native/native.h"
#include "formats/native/rules.h"
#include "formats/unwind/compact.h"

static sym_status_t
find_section(void *ctx, const char *name, sym_str_t *bytes, sym_error_t *err)
{
    return sym_macho_section(ctx, name, bytes, err);
}


static sym_status_t
read_ids(const sym_macho_t *m, sym_native_t *module, sym_error_t *err)
{
    module->debug_id_len = sym_macho_debug_id(m, module->debug_id);
    module->code_id_len = sym_macho_code_id(m, module->code_id);
    module->arch = sym_macho_info(m)->arch;
    module->image_base = sym_macho_info(m)->image_base;
    module->os = "mac";
    module->features = sym_feature_flags(sym_macho_info(m)->has_debug_info,
                                         sym_macho_info(m)->has_symbols,
                                         sym_macho_info(m)->has_unwind_info);

    return module->debug_id_len != 0
               ? SYM_OK
               : sym_fail(err, SYM_UNSUPPORTED, "the file has no UUID");
}


static sym_status_t
read_symbols(sym_macho_t *m, const sym_macho_hidden_t *hidden,
             sym_native_symbols_t *to, sym_error_t *err)
{
    sym_macho_symbols_t from;
    sym_status_t rc = sym_macho_symbols(m, &from, err);

    to->image_base = sym_macho_info(m)->image_base;

    for (size_t i = 0; i < from.n && rc == SYM_OK; i++) {
        const sym_macho_symbol_t *s = &from.symbols[i];

        rc = sym_native_symbols_add(
            to,
            &(sym_native_symbol_t){ s->addr, s->size,
                                    sym_macho_hidden_symbol(hidden, s->name),
                                    false },
            err);
    }

    return rc;
}


/*
 * Whether a file has symbols to offer.  A library without code (only constants)
 * has a dSYM with DWARF, too, but nothing to name.
 */
static bool
may_be_empty(const sym_macho_info_t *info)
{
    return info->is_dsym && info->has_debug_info;
}


static sym_status_t
read_frames(sym_native_t *f, sym_macho_t *m, sym_unwind_arch_t arch,
            const char *name, sym_error_t *err)
{
    const sym_macho_info_t *info = sym_macho_info(m);
    sym_frames_input_t in = { .address = sym_macho_section_address(m, name),
                              .text = sym_macho_section_address(m, "__text"),
                              .image_base = info->image_base,
                              .arch = arch,
                              .is_eh = name[2] == 'e',
                              .is_64bit = info->is_64bit,
                              .is_big_endian = info->is_big_endian,
                              .is_apple = true };
    sym_status_t rc = sym_macho_section(m, name, &in.bytes, err);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    return rc == SYM_OK ? sym_native_frames(f, &in, err) : rc;
}


static sym_status_t
read_compact(sym_native_t *f, sym_macho_t *m, sym_unwind_arch_t arch,
             sym_error_t *err)
{
    const sym_macho_info_t *info = sym_macho_info(m);
    sym_compact_input_t in = {
        .arch = arch,
        .is_big_endian = info->is_big_endian,
        .text_address =
            sym_macho_section_address(m, "__text") - info->image_base,
    };
    sym_error_t broken = { 0 };
    char text[256];
    sym_status_t rc = sym_macho_section(m, "__unwind_info", &in.bytes, err);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    if (rc == SYM_OK
        && (rc = sym_macho_section(m, "__text", &in.text, err))
               == SYM_NOT_FOUND)
    {
        rc = SYM_OK;
        in.text = sym_str("", 0);
    }

    rc = rc == SYM_OK ? sym_compact_read(&in, f->cfi, &broken, err) : rc;

    if (rc == SYM_OK && broken.status != SYM_OK) {
        f->services->note(f->services->ctx,
                          "its compact unwind information is broken: %s",
                          sym_error_text(&broken, text, sizeof(text)));
    }

    return rc;
}


static sym_status_t
read_rules(sym_native_t *f, sym_macho_t *m, sym_error_t *err)
{
    sym_unwind_arch_t arch;
    sym_status_t rc = sym_native_rules_begin(f, &arch, 0, err);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    rc = rc != SYM_OK ? rc : read_frames(f, m, arch, "__eh_frame", err);
    rc = rc != SYM_OK ? rc : read_frames(f, m, arch, "__debug_frame", err);
    return rc != SYM_OK ? rc : read_compact(f, m, arch, err);
}


/* Lines of Mach-O files follow atos's rules, because users compare with it. */
static sym_status_t
read_slice(sym_native_t *f, sym_macho_t *m, const sym_macho_hidden_t *hidden,
           sym_native_symbols_t *symbols, sym_error_t *err)
{
    sym_dwarf_input_t in = {
        .is_big_endian = sym_macho_info(m)->is_big_endian,
        .image_base = sym_macho_info(m)->image_base,
        .has_statements = true,
        .resolve = hidden->map.n != 0 ? sym_macho_hidden_resolve : NULL,
        .resolve_ctx = hidden,
    };
    sym_status_t rc = read_ids(m, f, err);

    rc = rc != SYM_OK ? rc : read_rules(f, m, err);

    if (rc != SYM_OK || !f->wants_symbols) {
        return rc;
    }

    f->is_incomplete = hidden->is_missing;
    rc = read_symbols(m, hidden, symbols, err);
    rc = rc != SYM_OK ? rc
                      : sym_native_sections(find_section, m, &in.sections, err);
    return rc != SYM_OK
               ? rc
               : sym_native_write(f, &in, symbols,
                                  may_be_empty(sym_macho_info(m)), err);
}


static sym_status_t
read_object(sym_native_t *f, size_t which, sym_error_t *err)
{
    const sym_macho_options_t options = {
        .unpacked_max = f->services->unpacked_max,
    };
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    sym_native_symbols_t symbols = { 0 };
    sym_macho_hidden_t hidden = { 0 };
    sym_macho_t *m = NULL;
    size_t n;
    sym_status_t rc = sym_macho_slices(f->data, f->len, slices, &n, err);

    if (rc == SYM_OK) {
        m = sym_macho_open(f->data, f->len, &slices[which], &options, err);
        rc = m == NULL ? err->status
                       : sym_macho_hidden_open(m, f->services, &hidden, err);
        rc = rc != SYM_OK ? rc : read_slice(f, m, &hidden, &symbols, err);
    }

    sym_native_symbols_free(&symbols);
    sym_macho_hidden_close(&hidden);
    sym_macho_close(m);
    return rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    return sym_native_convert(f, read_object, which, err);
}


static size_t
id_of(const sym_format_file_t *f, const sym_macho_slice_t *slice,
      char id[SYM_ID_MAX])
{
    const sym_macho_options_t options = { .unpacked_max =
                                              f->services->unpacked_max };
    sym_error_t bad = { 0 };
    sym_macho_t *m = sym_macho_open((const uint8_t *) f->data.data, f->data.len,
                                    slice, &options, &bad);
    size_t len = m != NULL ? sym_macho_debug_id(m, id) : 0;

    sym_macho_close(m);
    return len;
}


static sym_status_t
list_objects(const sym_format_file_t *f,
             sym_format_object_t objects[SYM_FORMAT_OBJECTS_MAX], size_t *n,
             sym_error_t *err)
{
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    sym_status_t rc = sym_macho_slices((const uint8_t *) f->data.data,
                                       f->data.len, slices, n, err);

    /* convert() finds arch and id of a thin file itself */
    for (size_t i = 0; rc == SYM_OK && *n > 1 && i < *n; i++) {
        objects[i].arch = slices[i].arch;
        objects[i].id_len = id_of(f, &slices[i], objects[i].id);
    }

    return rc;
}


/* <mach-o/loader.h>, filetype: four bytes, of which three are zero */
#define TYPE_AT 12
#define TYPE_OBJECT 1
#define TYPE_CORE 4

#define FAT_FIRST_BYTE 0xca

/* Addresses in object files and core dumps are not usable.  The header of a fat
 * file does not show its type. */
static bool
is_wanted(const uint8_t *head, size_t len)
{
    unsigned type;

    if (head[0] == FAT_FIRST_BYTE) {
        return true;
    }

    if (len < TYPE_AT + 4) {
        return false;
    }

    type = head[TYPE_AT] | head[TYPE_AT + 3];
    return type != TYPE_OBJECT && type != TYPE_CORE;
}


_Static_assert(SYM_MACHO_SLICES_MAX <= SYM_FORMAT_OBJECTS_MAX,
               "all slices of a file are objects");

const sym_format_t sym_format_macho = {
    .title = "Mach-O",
    .probe = sym_macho_is,
    .is_wanted = is_wanted,
    .is_nameless = true,
    .objects = list_objects,
    .convert = convert,
};
