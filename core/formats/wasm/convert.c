/*
 * convert.c - WebAssembly modules as a row of the formats.
 */
#include "formats/native/choose.h"
#include "formats/native/native.h"
#include "formats/native/splits.h"
#include "formats/wasm/wasm.h"

#include <stdlib.h>

static sym_status_t
find_section(void *ctx, const char *name, sym_str_t *bytes, sym_error_t *err)
{
    (void) err;
    return sym_wasm_section(ctx, name, bytes);
}


static sym_status_t
add_symbol(void *ctx, const sym_wasm_symbol_t *symbol, sym_error_t *err)
{
    return sym_native_symbols_add(ctx,
                                  &(sym_native_symbol_t){ symbol->addr,
                                                          symbol->size,
                                                          symbol->name, false },
                                  err);
}


static sym_status_t
read_ids(const sym_wasm_t *w, sym_native_t *module, sym_error_t *err)
{
    const sym_format_services_t *services = module->services;
    static const char digits[] = "0123456789abcdef";
    sym_str_t build_id = sym_wasm_info(w)->build_id;
    char text[SYM_ID_TEXT_MAX];
    sym_debug_id_t id;

    if (!sym_wasm_debug_id(w, &id) && id.form != SYM_DEBUG_ID_NONE) {
        services->note(services->ctx, "the module has no build_id of 16 bytes, "
                                      "so its id is a hash of its code");
    }

    module->debug_id_len = sym_debug_id_write_breakpad(&id, text);
    if (module->debug_id_len == 0) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the module has neither code nor a build_id of 16 "
                        "bytes");
    }

    memcpy(module->debug_id, text, module->debug_id_len);
    for (size_t i = 0; i < build_id.len && i < SYM_BUILD_ID_MAX; i++) {
        uint8_t byte = (uint8_t) build_id.data[i];

        module->code_id[module->code_id_len++] = digits[byte >> 4];
        module->code_id[module->code_id_len++] = digits[byte & 15];
    }

    module->arch = "wasm32";
    module->os = "wasm";
    return SYM_OK;
}


/* --- the file that contains the DWARF --- */

typedef struct {
    sym_companion_file_t file;
    sym_wasm_t *wasm; /* NULL: not found */

    const sym_wasm_t *module;
    const sym_format_services_t *services;
    sym_str_t name;
} debug_t;

static void
debug_close(debug_t *d)
{
    sym_wasm_close(d->wasm);
    free(d->file.data);
    *d = (debug_t){ 0 };
}


/* True if both files are of one build.  Their build_ids decide, or, if one has
 * none, their code sections. */
static bool
is_debug_of(const sym_wasm_t *module, const sym_wasm_t *debug)
{
    const sym_wasm_info_t *a = sym_wasm_info(module), *b = sym_wasm_info(debug);

    if (a->build_id.len != 0 && b->build_id.len != 0) {
        return sym_str_eq(a->build_id, b->build_id);
    }

    return a->code.len != 0 && sym_str_eq(a->code, b->code);
}


static sym_status_t
take_debug(void *ctx, const sym_companion_file_t *file, sym_error_t *err)
{
    debug_t *d = ctx;
    sym_error_t bad = { 0 };

    d->wasm = sym_wasm_open(file->data, file->len, &bad);
    if (bad.status == SYM_NOMEM) {
        return sym_fail(err, bad.status, bad.what);
    }

    if (d->wasm != NULL && is_debug_of(d->module, d->wasm)) {
        return SYM_OK;
    }

    sym_wasm_close(d->wasm);
    d->wasm = NULL;
    d->services->note(d->services->ctx, "%.*s is of another build",
                      (int) d->name.len, d->name.data);
    return SYM_NOT_FOUND;
}


/* Returns SYM_OK even if no debug file was found: then to->wasm is NULL. */
static sym_status_t
debug_open(const sym_wasm_t *module, const sym_format_services_t *services,
           debug_t *to, sym_error_t *err)
{
    sym_companion_t want;

    to->module = module;
    to->services = services;
    /* the folders of a URL or path are those of the build machine */
    to->name =
        sym_str_after_last(sym_wasm_info(module)->external_name, SYM_STR("/"));
    if (to->name.len == 0
        || !sym_companion_set(&want, SYM_COMPANION_DEBUG, to->name, SYM_STR(""),
                              SYM_STR("")))
    {
        return SYM_OK;
    }

    return sym_native_choose(&want, services, take_debug, to, &to->file, err);
}


/* --- split units --- */

static void *
open_split(const sym_native_splits_t *splits, const sym_companion_file_t *file,
           sym_error_t *err)
{
    (void) splits;
    return sym_wasm_open(file->data, file->len, err);
}


static void
close_split(void *object)
{
    sym_wasm_close(object);
}


static const sym_split_format_t split_format = { open_split, find_section,
                                                 close_split };


/* --- conversion --- */

/* Reads a module, and its parts in other files. */
typedef struct {
    sym_wasm_t *wasm;
    debug_t debug;
    sym_native_splits_t splits;
    sym_native_symbols_t symbols;
} wasm_files_t;

static sym_status_t
read_wasm(sym_native_t *f, wasm_files_t *files, sym_error_t *err)
{
    sym_dwarf_input_t in = { .is_base_negative = true };
    sym_wasm_t *w = files->wasm, *from = w;
    sym_str_t frames;
    sym_status_t rc = read_ids(w, f, err);

    if (rc == SYM_OK && !sym_wasm_info(w)->has_debug_info) {
        rc = debug_open(w, f->services, &files->debug, err);
        from = files->debug.wasm != NULL ? files->debug.wasm : w;
    }

    f->features = sym_feature_flags(
        sym_wasm_info(from)->has_debug_info, true,
        sym_wasm_section(from, ".debug_frame", &frames) == SYM_OK);

    /* the debug file may have no code section, or one at another offset */
    in.image_base = 0 - sym_wasm_info(w)->code_at;
    files->symbols.image_base = in.image_base;
    files->symbols.is_base_negative = true;

    rc = rc != SYM_OK ? rc
                      : sym_wasm_symbols(w, add_symbol, &files->symbols, err);
    rc = rc != SYM_OK
             ? rc
             : sym_native_sections(find_section, from, &in.sections, err);
    if (rc == SYM_OK && in.sections.info.len != 0) {
        rc = sym_native_splits_open(&files->splits, &split_format, &in,
                                    f->services, err);
    }

    return rc != SYM_OK ? rc
                        : sym_native_write(f, &in, &files->symbols, false, err);
}


static sym_status_t
read_object(sym_native_t *f, size_t which, sym_error_t *err)
{
    wasm_files_t files = { .wasm = sym_wasm_open(f->data, f->len, err) };
    sym_status_t rc =
        files.wasm == NULL ? err->status : read_wasm(f, &files, err);

    (void) which; /* the file has one object */
    sym_native_symbols_free(&files.symbols);
    sym_native_splits_close(&files.splits);
    debug_close(&files.debug);
    sym_wasm_close(files.wasm);
    return rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    return sym_native_convert(f, read_object, which, err);
}


static bool
is_wanted(const uint8_t *head, size_t len)
{
    return sym_wasm_is(head, len);
}


const sym_format_t sym_format_wasm = {
    .title = "WebAssembly",
    .probe = sym_wasm_is,
    .is_wanted = is_wanted,
    .is_nameless = true,
    .convert = convert,
};
