/*
 * symbols.h - the symbol table of a debug file, by address.
 *
 * It names code with lines but without a function, and code that no function
 * covers.  Addresses are relative to the image base, names are borrowed from
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
    bool is_open; /* its end is not recorded */
} sym_native_symbol_t;

typedef struct {
    sym_native_symbol_t *items;
    size_t n, cap;
    uint64_t image_base;
    bool is_base_negative; /* as in sym_dwarf_input_t */
} sym_native_symbols_t;

/* Adds a symbol; call it by rising address. */
sym_status_t sym_native_symbols_add(sym_native_symbols_t *s,
                                    const sym_native_symbol_t *symbol,
                                    sym_error_t *err);

/* A sym_dwarf_symbol_pt. */
sym_dwarf_symbol_t sym_native_symbols_find(void *ctx, uint64_t addr);

/* Passes all symbols to the writer, as names of code that no function
   covers. */
sym_status_t sym_native_symbols_write(const sym_native_symbols_t *s,
                                      sym_writer_t *w, sym_error_t *err);

void sym_native_symbols_free(sym_native_symbols_t *s);

#endif
