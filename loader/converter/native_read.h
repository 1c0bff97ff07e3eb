/*
 * native_read.h - what native.c asks of the readers of debug files.
 *
 * Each gets the whole file in memory, and hands one module of it to the writer.
 */
#ifndef SYMLOADER_CONVERTER_NATIVE_READ_H
#define SYMLOADER_CONVERTER_NATIVE_READ_H

#include "formats/dwarf/dwarf.h"
#include "formats/macho/macho.h"
#include "converter/native.h"
#include "converter/native_symbols.h"

typedef struct {
    const uint8_t *data;
    size_t len;
    const native_means_t *means;
    sym_writer_t *writer;
    native_module_t *module;
} native_file_t;

sym_status_t native_read_elf(const native_file_t *f, sym_error_t *err);
sym_status_t native_read_macho(const native_file_t *f,
                               const sym_macho_slice_t *slice,
                               sym_error_t *err);

/* The debug id of a slice; 0: it has none, or cannot be read. */
size_t native_macho_id(const native_file_t *f, const sym_macho_slice_t *slice,
                       char id[SYM_ID_MAX]);

#define NATIVE_SECTIONS 9
extern const char *const native_section_names[NATIVE_SECTIONS];

/* The DWARF sections by ELF's names, each by one call of find; what is not
 * there (SYM_NOT_FOUND) stays empty. */
sym_status_t native_sections(sym_status_t (*find)(void *ctx, const char *name,
                                                  sym_str_t *bytes,
                                                  sym_error_t *err),
                             void *ctx, sym_dwarf_sections_t *s,
                             sym_error_t *err);

/* DWARF first, then the symbols; SYM_UNSUPPORTED: neither names anything, and
 * that is no answer. */
sym_status_t native_write(const native_file_t *f, sym_dwarf_input_t *in,
                          native_symbols_t *symbols, bool may_be_empty,
                          sym_error_t *err);

#endif
