/*
 * The sections of a debug file, of any bytes, from DWARF to answers: reader,
 * writer, and the symcache's reader over what was written.  The input is that
 * of t/unit/dwarf_container.h.
 */
#include <stdlib.h>

#include "../t/unit/dwarf_container.h"
#include "../t/unit/memory_extents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static sym_dwarf_symbol_t
symbol(void *ctx, uint64_t addr)
{
    (void) ctx;
    return (sym_dwarf_symbol_t){
        .name = (addr & 4) != 0 ? SYM_STR("symbol") : SYM_STR(""),
        .begin = addr & ~(uint64_t) 63,
        .end = addr / 2 + 4096, /* also before addr */
    };
}


/* Code of the seeds, and of inputs derived from them, is below this address. */
#define ADDRESSES 0x2000

/* Each input is looked up at different addresses, because all of them would
 * take ten times as long as the rest. */
#define STEP 64

static void
ask(memory_extents_t *memory, uint64_t first)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    sym_error_t err = { 0 };
    sym_symcache_t sc;
    sym_answer_t a;

    if (sym_symcache_open(&sc, memory_get, memory, &err) != SYM_OK) {
        abort();
    }

    for (uint64_t addr = first; addr < ADDRESSES; addr += STEP) {
        if (sym_symcache_lookup(&sc, addr, levels, &a) != SYM_OK
            || (a.n_levels != 0 && addr < a.function_addr))
        {
            abort();
        }
    }

    if (sc.damaged != 0) {
        abort();
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory_extents_t memory = { 0 };
    sym_dwarf_input_t in;
    container_t container;
    sym_dwarf_stats_t stats;
    sym_error_t err = { 0 };
    sym_writer_t *writer = sym_writer_create(&err);
    sym_status_t rc = SYM_NOMEM;

    container_open(data, size, &in, &container);
    in.symbol = symbol;

    if (writer != NULL) {
        rc = sym_dwarf_read(&in, writer, &stats, &err);
    }

    if (rc == SYM_OK) {
        rc = sym_writer_finish(writer, &(sym_module_info_t){ 0 }, memory_put,
                               &memory, NULL);
    }

    sym_writer_free(writer);
    if (rc == SYM_OK) {
        ask(&memory, size % STEP);
    }

    memory_free(&memory);
    return 0;
}
