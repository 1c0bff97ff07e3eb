/*
 * crash_tools.c - kind `crash` in commands: prints a crash report as text.
 */
#include "artifacts/crash/read/crash.h"
#include "artifacts/export/tools.h"

static const char *const formats[] = { "text", NULL };

static void
put_line(sym_out_t *out, const char *key, sym_str_t value)
{
    if (value.len != 0) {
        sym_out_printf(out, "%s ", key);
        sym_out_visible(out, value);
        sym_out_raw(out, SYM_STR("\n"));
    }
}


static void
put_module(sym_out_t *out, const sym_crash_module_t *m)
{
    sym_out_printf(out, "%s 0x%llx 0x%llx ",
                   m->is_unloaded ? "unloaded" : "module",
                   (unsigned long long) m->addr, (unsigned long long) m->size);
    sym_out_visible(out, m->debug_id.len != 0 ? m->debug_id : SYM_STR("-"));
    sym_out_raw(out, SYM_STR(" "));
    sym_out_visible(out, m->code_id.len != 0 ? m->code_id : SYM_STR("-"));
    sym_out_raw(out, SYM_STR(" "));
    sym_out_visible(out, m->code_file);
    sym_out_raw(out, SYM_STR("\n"));
}


static void
put_thread(sym_out_t *out, const sym_crash_t *crash,
           const sym_crash_thread_t *t)
{
    sym_out_printf(out, "thread %u stack 0x%llx 0x%llx ", t->id,
                   (unsigned long long) t->stack.addr,
                   (unsigned long long) t->stack.size);
    sym_out_visible(out, t->name);
    sym_out_raw(out, SYM_STR("\n"));

    for (unsigned i = 0; t->has_context && i < SYM_UNWIND_REGISTERS; i++) {
        const char *name = sym_crash_register_name(crash->arch, i);

        if (name != NULL && sym_unwind_has(&t->registers, i)) {
            sym_out_printf(out, "register %s 0x%llx\n", name,
                           (unsigned long long) t->registers.value[i]);
        }
    }

    for (uint32_t i = 0; i < t->n_frames; i++) {
        const sym_crash_frame_t *frame = &crash->frames[t->first_frame + i];

        sym_out_printf(out, "frame 0x%llx ", (unsigned long long) frame->addr);
        sym_out_visible(out, frame->function);
        sym_out_raw(out, SYM_STR("\n"));
    }
}


static void
put_crash(sym_out_t *out, const sym_crash_t *crash)
{
    sym_out_printf(out, "time %llu\n", (unsigned long long) crash->time_s);
    put_line(out, "os", sym_cstr(sym_crash_os_name(crash->os)));
    put_line(out, "os_version", crash->os_version);
    put_line(out, "os_build", crash->os_build);
    put_line(out, "cpu", crash->cpu);
    put_line(out, "cpu_info", crash->cpu_info);
    put_line(out, "reason", crash->reason);
    if (crash->is_crash) {
        sym_out_printf(out, "address 0x%llx\n",
                       (unsigned long long) crash->address);
    }
    put_line(out, "assertion", crash->assertion);

    for (uint32_t i = 0; i < crash->n_notes; i++) {
        sym_out_raw(out, SYM_STR("note "));
        sym_out_visible(out, crash->notes[i].key);
        sym_out_raw(out, SYM_STR(" "));
        sym_out_visible(out, crash->notes[i].value);
        sym_out_raw(out, SYM_STR("\n"));
    }
    for (uint32_t i = 0; i < crash->n_modules; i++) {
        put_module(out, &crash->modules[i]);
    }
    for (uint32_t i = 0; i < crash->n_threads && !out->failed; i++) {
        put_thread(out, crash, &crash->threads[i]);
    }
}


static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_arena_t arena;
    sym_crash_t crash;
    sym_status_t rc;

    (void) how;
    (void) format; /* there is only one format */
    sym_arena_init(&arena, 0);
    rc = sym_crash_read(extents, &arena, &crash, err);
    if (rc == SYM_OK) {
        put_crash(out, &crash);
    }

    sym_arena_drop(&arena);
    return rc;
}


const sym_kind_tools_t sym_crash_tools = {
    .kind = SYM_KIND_CRASH,
    .formats = formats,
    .dump = dump,
};
