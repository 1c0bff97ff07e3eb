/*
 * loads.c - where the bytes of a file are in memory.
 *
 * Profiles have addresses of a process and the offset in the file of each mapping.
 */
#include "formats/elf/file.h"

static bool
is_code(const sym_elf_segment_t *s)
{
    return s->type == SYM_PT_LOAD && s->is_code && s->memory_size != 0;
}


/* False: objcopy --only-keep-debug has cut segments to what is left of them, and
 * moved them. */
static bool
has_offsets(const sym_elf_t *e)
{
    for (size_t i = 0; i < e->n_segments; i++) {
        const sym_elf_segment_t *s = &e->segments[i];

        if (is_code(s) && s->file_size == s->memory_size) {
            return true;
        }
    }

    return e->info.has_code;
}


/* The linker puts a segment's bytes at the next offset that is equal to its address,
 * modulo its alignment (System V ABI, chapter 5, p_align). */
static uint64_t
offset_after(uint64_t end, const sym_elf_segment_t *s)
{
    const uint64_t align = s->align;
    const bool is_power = align != 0 && (align & (align - 1)) == 0;

    return is_power ? end + ((s->addr - end) & (align - 1)) : end;
}


size_t
sym_elf_loads(const sym_elf_t *e, sym_load_t loads[SYM_LOADS_MAX])
{
    const bool is_known = has_offsets(e);
    uint64_t end = 0;
    size_t n = 0;

    for (size_t i = 0; i < e->n_segments && n < SYM_LOADS_MAX; i++) {
        const sym_elf_segment_t *s = &e->segments[i];
        const uint64_t offset = is_known ? s->offset : offset_after(end, s);

        if (s->type != SYM_PT_LOAD) {
            continue;
        }

        end = offset + s->memory_size;
        if (is_code(s)) {
            loads[n++] = (sym_load_t){
                .offset = offset,
                .bytes = is_known ? s->file_size : s->memory_size,
                .addr = s->addr - e->info.image_base,
            };
        }
    }

    return n;
}
