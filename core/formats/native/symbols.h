/*
 * symbols.h - the symbol table of a debug file, by address.
 *
 * Names code that has lines and no function, and what no function covers at
 * all.  Addresses are relative to the image base, names are borrowed from the
 * file.
 */
#ifndef SYM_FORMATS_NATIVE_SYMBOLS_H
#define SYM_FORMATS_NATIVE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "formats/dwarf/dwarf.h"
#include "artifacts/symcache/write/writer.h"

typedef struct {
    uint64_t addr;
    uint64_t size; /* not 0; may reach over the next symbol */
    sym_str_t name;
    bool is_open; /* nobody wrote down where it ends */
} sym_native_symbol_t;

typedef struct {
    sym_native_symbol_t *items;
    size_t n, cap;
    uint64_t image_base;
    bool is_base_negative; /* as in sym_dwarf_input_t */
} sym_native_symbols_t;

/* To be added by rising address. */
sym_status_t sym_native_symbols_add(sym_native_symbols_t *s,
                                    const sym_native_symbol_t *symbol,
                                    sym_error_t *err);

/* A sym_dwarf_symbol_pt. */
sym_dwarf_symbol_t sym_native_symbols_find(void *ctx, uint64_t addr);

/* Hands all to the writer, as names of what no function covers. */
sym_status_t sym_native_symbols_write(const sym_native_symbols_t *s,
                                      sym_writer_t *w, sym_error_t *err);

void sym_native_symbols_free(sym_native_symbols_t *s);

#endif
