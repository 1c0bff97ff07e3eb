/*
 * A minidump: read, written as a report, which its reader must find sound, and all
 * stacks are walked without rules.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "artifacts/crash/read/crash.h"
#include "artifacts/crash/write/crash_writer.h"
#include "artifacts/kinds.h"
#include "base/sort.h"
#include "check.h"
#include "extents.h"
#include "formats/minidump/minidump.h"

/* Images and threads that are used. */
#define IMAGES_MAX 64
#define THREADS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
read_dump(void *ctx, uint64_t at, void *to, size_t len)
{
    const sym_str_t *data = ctx;

    check(at <= data->len && len <= data->len - at);
    memcpy(to, data->data + at, len);
    return true;
}


static sym_status_t
no_rules(void *ctx, uint32_t image, uint64_t offset,
         const sym_unwind_registers_t *callee,
         const sym_unwind_memory_t *memory, sym_unwind_registers_t *caller)
{
    (void) ctx;
    (void) image;
    (void) offset;
    (void) callee;
    (void) memory;
    (void) caller;
    return SYM_NOT_FOUND;
}


static sym_status_t
any_code(void *ctx, uint32_t image, uint64_t offset)
{
    (void) ctx;
    (void) image;
    return offset % 3 == 0 ? SYM_NOT_FOUND : SYM_OK;
}


static uint32_t
find_images(const sym_crash_t *crash, sym_image_t images[IMAGES_MAX])
{
    sym_sort_item_t order[IMAGES_MAX];
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < crash->n_modules && n < IMAGES_MAX; i++) {
        if (crash->modules[i].size != 0) {
            order[n++] = (sym_sort_item_t){ crash->modules[i].addr, i };
        }
    }

    check(sym_sort(order, n));
    for (uint32_t i = 0; i < n; i++) {
        const sym_crash_module_t *m = &crash->modules[order[i].at];

        if (kept == 0
            || m->addr - images[kept - 1].addr >= images[kept - 1].size) {
            images[kept++] = (sym_image_t){ m->addr, m->size };
        }
    }

    return kept;
}


static void
walk(const sym_crash_t *crash, sym_str_t data)
{
    const sym_walk_owner_t owner = { read_dump, no_rules, any_code, &data };
    sym_image_t images[IMAGES_MAX];
    sym_process_t process;
    static sym_walk_t w;

    sym_process_init(&process, crash->arch, crash->os, images,
                     find_images(crash, images), &owner);

    for (uint32_t i = 0; i < crash->n_threads && i < THREADS_MAX; i++) {
        const sym_crash_thread_t *t = &crash->threads[i];
        uint32_t budget = UINT32_MAX;

        sym_walk_begin(&w, &process, t->has_context ? &t->registers : NULL,
                       &t->stack, SYM_WALK_FRAMES_MAX);
        check(sym_walk_step(&w, &budget) == SYM_OK);
        check(w.end != SYM_WALK_NOT_ENDED);
        check(w.n_frames <= SYM_WALK_FRAMES_MAX);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t bytes = sym_str((const char *) data, size);
    minidump_t d = { .is_big_endian = false };
    sym_error_t err = { 0 };

    if (minidump_read(&d, bytes, &err) == SYM_OK) {
        input_t made = { .n = 0 };
        sym_writer_stats_t stats;

        if (sym_crash_write(&d.crash, take_extent, &made, &stats, &err)
            == SYM_OK) {
            const sym_extent_source_t extents = { get, &made, made.n };

            check(sym_kind_verify(sym_kind_find(SYM_KIND_CRASH), &extents, &err)
                  == SYM_OK);
        }
        drop_extents(&made);
        walk(&d.crash, bytes);
    }

    sym_arena_drop(&d.arena);
    return 0;
}
