/*
 * symbols.h - the symbol table of a debug file, by address.
 *
 * It names code that has lines but no function, and code that no function
 * covers.  Addresses are relative to the image base.  Names are borrowed from
 * the file.
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
    uint64_t size; /* not 0; may extend over the next symbol */
    sym_str_t name;
    bool is_open; /* its end is unknown */
} sym_native_symbol_t;

typedef struct {
    sym_native_symbol_t *items;
    size_t n, cap;
    uint64_t image_base;
    bool is_base_negative; /* as in sym_dwarf_input_t */
} sym_native_symbols_t;

/* Adds a symbol.  Symbols must be added in ascending order of address. */
sym_status_t sym_native_symbols_add(sym_native_symbols_t *s,
                                    const sym_native_symbol_t *symbol,
                                    sym_error_t *err);

/* The symbol that covers an address; a sym_dwarf_symbol_pt. */
sym_dwarf_symbol_t sym_native_symbols_find(void *ctx, uint64_t addr);

/* Passes all symbols to the writer, to name code that no function covers. */
sym_status_t sym_native_symbols_write(const sym_native_symbols_t *s,
                                      sym_writer_t *w, sym_error_t *err);

void sym_native_symbols_free(sym_native_symbols_t *s);

#endif
