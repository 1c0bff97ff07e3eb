/*
 * file.h - the internals of an open WebAssembly file; private to
 * core/formats/wasm.
 */
#ifndef SYM_FORMATS_WASM_FILE_H
#define SYM_FORMATS_WASM_FILE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "formats/wasm/wasm.h"

/* Core Specification, 5.5.2 */
#define SYM_WASM_CUSTOM 0
#define SYM_WASM_IMPORT 2
#define SYM_WASM_EXPORT 7
#define SYM_WASM_CODE 10
#define SYM_WASM_SECTIONS 16 /* more than there are kinds */

typedef struct {
    sym_str_t name, bytes;
} sym_wasm_custom_t;

struct sym_wasm_s {
    const uint8_t *data;
    size_t len;
    sym_wasm_info_t info;
    sym_arena_t arena;

    sym_str_t sections[SYM_WASM_SECTIONS]; /* the first section of each kind */
    sym_wasm_custom_t *customs;
    size_t n_customs;
};

/* A u32 in LEB128 (Core Specification, 5.2.2). */
uint32_t sym_wasm_u32(sym_cursor_t *c);

/* A name: its length, then its bytes (Core Specification, 5.2.4). */
sym_str_t sym_wasm_name(sym_cursor_t *c);

/* A cursor over a part of the file.  Its errors contain file offsets. */
sym_cursor_t sym_wasm_cursor(const sym_wasm_t *w, sym_str_t bytes,
                             const char *part, sym_error_t *err);

#endif
