/*
 * A WebAssembly file of any bytes: touches its facts; symbols must be sorted
 * and in the file.
 */
#include "check.h"
#include "formats/wasm/wasm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    uint64_t end;  /* of the previous symbol */
    uint64_t size; /* of the file */
} seen_t;

static void
touch(sym_str_t bytes)
{
    volatile uint8_t sum = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        sum = (uint8_t) (sum + (uint8_t) bytes.data[i]);
    }
}


static sym_status_t
take_symbol(void *ctx, const sym_wasm_symbol_t *symbol, sym_error_t *err)
{
    seen_t *seen = ctx;

    (void) err;
    check(symbol->size != 0 && symbol->name.len != 0);
    check(symbol->addr >= seen->end);
    seen->end = (uint64_t) symbol->addr + symbol->size;
    check(seen->end <= seen->size);
    touch(symbol->name);
    return SYM_OK;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 };
    seen_t seen = { .size = size };
    sym_str_t bytes = { NULL, 0 };
    sym_debug_id_t id;
    sym_wasm_t *w = sym_wasm_open(data, size, &err);

    check((w == NULL) == (err.status != SYM_OK));
    check(err.offset <= size);
    if (w != NULL) {
        touch(sym_wasm_info(w)->code);
        touch(sym_wasm_info(w)->build_id);
        touch(sym_wasm_info(w)->external_name);
        check(sym_wasm_info(w)->code_at + sym_wasm_info(w)->code.len <= size);
        (void) sym_wasm_debug_id(w, &id);
        (void) sym_wasm_section(w, ".debug_info", &bytes);
        touch(bytes);

        if (sym_wasm_symbols(w, take_symbol, &seen, &err) != SYM_OK) {
            check(err.what != NULL && err.offset <= size);
        }
    }
    sym_wasm_close(w);
    return 0;
}
