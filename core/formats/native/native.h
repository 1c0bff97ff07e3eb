/*
 * native.h - conversion steps that ELF, Mach-O, PE and WebAssembly files share.
 *
 * The format's reader fills in a sym_native_t; sym_native_convert() does the
 * steps before and after that.
 */
#ifndef SYM_FORMATS_NATIVE_NATIVE_H
#define SYM_FORMATS_NATIVE_NATIVE_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "artifacts/symcache/format.h"
#include "formats/dwarf/dwarf.h"
#include "formats/format.h"
#include "formats/native/symbols.h"
#include "object/object_id.h"

typedef struct {
    const uint8_t *data;
    size_t len;
    const sym_format_services_t *services;
    sym_writer_t *writer;
    bool wants_symbols, wants_rules;
    sym_cfi_writer_t *cfi; /* unwind rules; NULL: none */

    /* the object; the reader sets these fields */
    char debug_id[SYM_ID_MAX];
    size_t debug_id_len;
    char code_id[2 * SYM_BUILD_ID_MAX];
    size_t code_id_len;
    sym_str_t debug_file;  /* debug file named in the file, or "" */
    sym_str_t debug_path;  /* the same with its folders, or "" */
    const char *arch, *os; /* static */
    uint64_t image_base;
    sym_load_t loads[SYM_LOADS_MAX]; /* its code in the file */
    size_t n_loads;
    uint32_t features;  /* sym_feature_flags() */
    bool is_incomplete; /* companion files were missing, and a note names
                           them */
    bool is_bare;       /* the file has no symbols */
} sym_native_t;

/* Calls read() to pass object number `which` to the writer, then stores the
 * object. */
sym_status_t sym_native_convert(const sym_format_file_t *f,
                                sym_status_t (*read)(sym_native_t *n,
                                                     size_t which,
                                                     sym_error_t *err),
                                size_t which, sym_error_t *err);

#define SYM_NATIVE_SECTIONS 9
extern const char *const sym_native_section_names[SYM_NATIVE_SECTIONS];

/* Gets each DWARF section by its ELF name with a call of find.  Missing
 * sections (SYM_NOT_FOUND) stay empty. */
sym_status_t sym_native_sections(
    sym_status_t (*find)(void *ctx, const char *name, sym_str_t *bytes,
                         sym_error_t *err),
    void *ctx, sym_dwarf_sections_t *s, sym_error_t *err);

/* Reads DWARF, then the symbols.  SYM_UNSUPPORTED: neither contains a name. */
sym_status_t sym_native_write(sym_native_t *n, sym_dwarf_input_t *in,
                              sym_native_symbols_t *symbols, bool may_be_empty,
                              sym_error_t *err);

#endif
