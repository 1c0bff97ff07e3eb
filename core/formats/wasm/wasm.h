/*
 * wasm.h - reads WebAssembly modules and their debug files.
 *
 * The loader's converter calls it.  It borrows its bytes, which must live until
 * sym_wasm_close(); views end with them.  An address is an offset in the file,
 * as in the stack traces of engines and in Sentry.  DWARF counts addresses from
 * the contents of the code section.
 *
 * Errors name the part and the byte in the file.  docs/formats/wasm.md lists
 * what is read.
 */
#ifndef SYM_FORMATS_WASM_WASM_H
#define SYM_FORMATS_WASM_WASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "object/object_id.h"

typedef struct sym_wasm_s sym_wasm_t;

typedef struct {
    uint64_t code_at;        /* offset of the contents of the code section */
    sym_str_t code;          /* contents of the code section; "": none */
    sym_str_t build_id;      /* contents of the section build_id, or "" */
    sym_str_t external_name; /* name of the file with the DWARF, or "" */
    bool has_debug_info;     /* .debug_info is present */
} sym_wasm_info_t;

/* True if the bytes begin with the magic number "\0asm". */
bool sym_wasm_is(const uint8_t *data, size_t len);

/* Reads the table of sections.  NULL: *err contains the reason. */
sym_wasm_t *sym_wasm_open(const uint8_t *data, size_t len, sym_error_t *err);
void sym_wasm_close(sym_wasm_t *w);

const sym_wasm_info_t *sym_wasm_info(const sym_wasm_t *w);

/* The first 16 bytes of build_id.  If build_id is shorter, the id is a hash of
 * the code section, which does not change when custom sections are removed.
 * Form NONE: the file has neither.  Returns true if the id is of build_id. */
bool sym_wasm_debug_id(const sym_wasm_t *w, sym_debug_id_t *id);

/* The bytes of the first custom section of that name; SYM_NOT_FOUND: none. */
sym_status_t sym_wasm_section(const sym_wasm_t *w, const char *name,
                              sym_str_t *bytes);

typedef struct {
    uint32_t addr; /* file offset of the body, after its size field */
    uint32_t size; /* up to the next function, or to the end of the last one */
    sym_str_t name;
} sym_wasm_symbol_t;

/* Any result but SYM_OK ends sym_wasm_symbols(), which then returns it. */
typedef sym_status_t (*sym_wasm_symbol_pt)(void *ctx,
                                           const sym_wasm_symbol_t *symbol,
                                           sym_error_t *err);

/* Calls `each` for the functions with a name, in ascending order of address.
 * Names are from the name section, otherwise from exports. */
sym_status_t sym_wasm_symbols(sym_wasm_t *w, sym_wasm_symbol_pt each, void *ctx,
                              sym_error_t *err);

#endif
