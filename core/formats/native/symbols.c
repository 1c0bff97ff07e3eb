#include "formats/native/symbols.h"

#include <stdlib.h>

sym_status_t
sym_native_symbols_add(sym_native_symbols_t *s,
                       const sym_native_symbol_t *symbol, sym_error_t *err)
{
    if (s->n == s->cap) {
        size_t cap = s->cap == 0 ? 1024 : 2 * s->cap;
        sym_native_symbol_t *grown = realloc(s->items, cap * sizeof(*grown));

        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        s->items = grown;
        s->cap = cap;
    }

    s->items[s->n++] = *symbol;
    return SYM_OK;
}


sym_dwarf_symbol_t
sym_native_symbols_find(void *ctx, uint64_t addr)
{
    const sym_native_symbols_t *s = ctx;
    sym_dwarf_symbol_t found = { .end = UINT64_MAX };
    size_t low = 0, high = s->n;
    const sym_native_symbol_t *last;

    if (addr < s->image_base && !s->is_base_negative) {
        return found;
    }

    addr -= s->image_base;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->items[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low < s->n) {
        found.end = s->image_base + s->items[low].addr;
    }

    last = &s->items[low - (low != 0)];
    if (low != 0 && addr - last->addr < last->size) {
        found.name = last->name;
        found.begin = s->image_base + last->addr;
        if (last->size < found.end - found.begin) {
            found.end = found.begin + last->size;
        }
    }

    return found;
}


/* Distance at which the writer's name slots are prefetched. */
#define NAMES_AHEAD 16

sym_status_t
sym_native_symbols_write(const sym_native_symbols_t *s, sym_writer_t *w,
                         sym_error_t *err)
{
    uint32_t hashes[NAMES_AHEAD], name;
    sym_status_t rc = SYM_OK;

    for (size_t next = 0, i = 0; i < s->n && rc == SYM_OK; i++) {
        const sym_native_symbol_t *symbol = &s->items[i];

        if (symbol->addr > UINT32_MAX) {
            break; /* no client can request it */
        }

        for (; next < s->n && next - i < NAMES_AHEAD; next++) {
            hashes[next % NAMES_AHEAD] =
                sym_writer_expect(w, s->items[next].name);
        }

        rc = sym_writer_expected(w, symbol->name, hashes[i % NAMES_AHEAD],
                                 &name);
        if (rc == SYM_OK) {
            rc = (symbol->is_open ? sym_writer_open_symbol : sym_writer_symbol)(
                w, (uint32_t) symbol->addr, symbol->size, name);
        }
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, NULL);
}


void
sym_native_symbols_free(sym_native_symbols_t *s)
{
    free(s->items);
    *s = (sym_native_symbols_t){ 0 };
}
