/*
 * The reader over extents of any bytes: the input is cut into extents (u16
 * length, then the bytes), and addresses and strings are looked up; then it is
 * written as Breakpad text, which walks all of it.
 */
#include <stddef.h>
#include <stdint.h>

#include "artifacts/symcache/export/breakpad.h"
#include "extents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static void
ask(sym_symcache_t *sc, uint32_t addr)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_string_ref_t parts[SYM_PARTS_MAX];
    sym_answer_t answer;
    bool is_plain;

    if (sym_symcache_lookup(sc, addr, levels, &answer) != SYM_OK) {
        return;
    }

    for (uint32_t i = 0; i < answer.n_levels; i++) {
        (void) sym_symcache_string(sc, levels[i].name, text, &is_plain);
        (void) sym_symcache_parts(sc, levels[i].name, parts);
        (void) sym_symcache_string(sc, levels[i].file, text, &is_plain);
        (void) sym_symcache_string(sc, sym_symcache_shown(sc, levels[i].name),
                                   text, &is_plain);
    }

    if (sym_symcache_statement(sc, addr, levels)) {
        (void) sym_symcache_string(sc, levels[0].file, text, &is_plain);
    }
}


/* Discards the text, and ends after this many windows, because a small input
 * can expand to more text than there is time for. */
#define WINDOWS_MAX 8

static bool
next_window(sym_out_t *out, size_t need)
{
    unsigned *left = out->ctx;
    static char window[SYM_OUT_NEED_MAX];

    (void) need;
    out->pos = window;
    out->end = window + sizeof(window);
    return (*left)-- > 0;
}


static void
write_all(sym_symcache_t *sc)
{
    const sym_module_key_t key = { .scope = SYM_STR(""),
                                   .name = SYM_STR("name"),
                                   .id = SYM_STR("ABC1") };
    const sym_dump_t options = { .key = &key };
    unsigned left = WINDOWS_MAX;
    sym_out_t out = { .more = next_window, .ctx = &left };
    sym_error_t err = { 0 };

    (void) sym_breakpad_export(sc, &options, &out, &err);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    input_t in = cut(data, size);
    sym_error_t err = { 0 };
    sym_symcache_t sc;
    uint64_t addr;

    if (sym_symcache_open(&sc, get, &in, &err) != SYM_OK) {
        return 0;
    }

    for (uint32_t i = 0; i < SYM_INFO_COUNT; i++) {
        (void) sym_symcache_info(&sc, (sym_info_t) i, text);
    }

    for (uint32_t i = 0; i < 256; i++) {
        ask(&sc, i * 16);
        ask(&sc, i << 24 | i);
        (void) sym_symcache_offset(&sc, (uint64_t) i << 8, &addr);
    }

    write_all(&sc);

    return 0;
}
