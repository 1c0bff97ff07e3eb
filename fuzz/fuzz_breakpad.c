/*
 * A .sym file of any bytes, from the text to answers: reader, writer, and the
 * symcache's reader over what was written.  The first byte is the size of the
 * pieces in which the rest is fed.  The output of our writer must never be
 * damaged.
 */
#include <stdlib.h>

#include "formats/breakpad/breakpad.h"
#include "artifacts/symcache/read/reader.h"

#define EXTENTS_MAX 1024

typedef struct {
    uint8_t *data[EXTENTS_MAX];
    size_t len[EXTENTS_MAX];
} store_t;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static sym_status_t
put(void *ctx, uint32_t number, const uint8_t *data, size_t len,
    sym_error_t *err)
{
    store_t *s = ctx;

    if (number >= EXTENTS_MAX) {
        return sym_fail(err, SYM_FULL, "more extents than the target keeps");
    }

    if (s->data[number] != NULL) {
        abort(); /* each number is used once */
    }

    s->data[number] = malloc(len);
    s->len[number] = len;
    memcpy(s->data[number], data, len);
    return SYM_OK;
}


static sym_status_t
get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    store_t *s = ctx;

    if (number >= EXTENTS_MAX || s->data[number] == NULL) {
        return SYM_NOT_FOUND;
    }

    *data = s->data[number];
    *len = s->len[number];
    return SYM_OK;
}


static void
ask(sym_symcache_t *sc, uint64_t addr)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_answer_t a;
    bool is_plain;

    if (sym_symcache_lookup(sc, addr, levels, &a) != SYM_OK) {
        abort();
    }

    /* a function must not name code beyond its end */
    if (a.n_levels != 0
        && (addr < a.function_addr
            || (a.function_size != 0
                && addr - a.function_addr >= a.function_size)))
    {
        abort();
    }

    for (uint32_t i = 0; i < a.n_levels; i++) {
        (void) sym_symcache_string(sc, levels[i].name, text, &is_plain);
        (void) sym_symcache_string(sc, levels[i].file, text, &is_plain);
    }

    if (sc->damaged != 0) {
        abort();
    }
}


static void
ask_all(store_t *store)
{
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_error_t err = { 0 };
    sym_symcache_t sc;

    if (sym_symcache_open(&sc, get, store, &err) != SYM_OK) {
        abort();
    }

    for (uint32_t i = 0; i < SYM_INFO_COUNT; i++) {
        (void) sym_symcache_info(&sc, (sym_info_t) i, text);
    }

    for (uint64_t addr = 0; addr < 0x1200; addr++) {
        ask(&sc, addr);
    }

    for (uint64_t shift = 12; shift <= 40; shift++) {
        ask(&sc, ((uint64_t) 1 << shift) - 1);
        ask(&sc, (uint64_t) 1 << shift);
    }
}


static sym_status_t
feed(sym_breakpad_t *reader, const uint8_t *data, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;

        if (sym_breakpad_feed(reader, (const char *) data + at, len) != SYM_OK)
        {
            break;
        }
    }

    return sym_breakpad_end(reader);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    store_t store = { { NULL }, { 0 } };
    sym_error_t err = { 0 };
    sym_writer_t *writer = sym_writer_create(&err);
    sym_breakpad_t *reader = sym_breakpad_create(writer, &err);
    sym_status_t rc = SYM_NOMEM;
    const sym_breakpad_module_t *module;
    sym_module_info_t info;

    if (size > 0 && writer != NULL && reader != NULL) {
        size_t piece = data[0] == '\0' ? size : data[0];

        rc = feed(reader, data + 1, size - 1, piece);
    }

    if (rc == SYM_OK) {
        module = sym_breakpad_module(reader);
        info = (sym_module_info_t){ .debug_id = module->debug_id,
                                    .debug_file = module->debug_file,
                                    .code_id = module->code_id,
                                    .code_file = module->code_file,
                                    .arch = module->arch,
                                    .os = module->os,
                                    .source_bytes = size };
        rc = sym_writer_finish(writer, &info, put, &store, NULL);
    }

    sym_breakpad_free(reader);
    sym_writer_free(writer);

    if (rc == SYM_OK) {
        ask_all(&store);
    }

    for (size_t i = 0; i < EXTENTS_MAX; i++) {
        free(store.data[i]);
    }

    return 0;
}
