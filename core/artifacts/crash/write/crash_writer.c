#include "artifacts/crash/write/crash_writer.h"

#include "base/buffer.h"
#include "base/little.h"

static void
put_u8(sym_buffer_t *b, unsigned value)
{
    uint8_t byte = (uint8_t) value;

    sym_buffer_put(b, &byte, 1);
}


static void
put_u32(sym_buffer_t *b, uint32_t value)
{
    uint8_t bytes[4];

    sym_put32(bytes, value);
    sym_buffer_put(b, bytes, sizeof(bytes));
}


static void
put_u64(sym_buffer_t *b, uint64_t value)
{
    uint8_t bytes[8];

    sym_put64(bytes, value);
    sym_buffer_put(b, bytes, sizeof(bytes));
}


/* Writes nothing beyond the limit, which sym_crash_write() then reports. */
static void
put_text(sym_buffer_t *b, sym_str_t text)
{
    if (b->len > SYM_CRASH_BYTES_MAX) {
        return;
    }

    put_u32(b, (uint32_t) text.len);
    sym_buffer_put(b, text.data, text.len);
}


static void
put_head(sym_buffer_t *b, const sym_crash_t *crash)
{
    put_u32(b, SYM_CRASH_MAGIC);
    put_u32(b, SYM_CRASH_VERSION);
    put_text(b, crash->failure);
    put_text(b, crash->refusal);
    put_u64(b, crash->time_s);
    put_u8(b, crash->os);
    put_u8(b, crash->arch);
    put_text(b, crash->cpu);
    put_text(b, crash->os_version);
    put_text(b, crash->os_build);
    put_text(b, crash->cpu_info);
    put_u32(b, crash->n_cpus);
    put_u8(b, crash->has_pid);
    put_u32(b, crash->pid);
    put_u8(b, crash->is_crash);
    put_u64(b, crash->address);
    put_text(b, crash->reason);
    put_text(b, crash->assertion);
    put_u32(b, crash->requesting);
}


static void
put_module(sym_buffer_t *b, const sym_crash_module_t *m)
{
    put_u64(b, m->addr);
    put_u64(b, m->size);
    put_u8(b, m->is_unloaded);
    put_text(b, m->code_file);
    put_text(b, m->debug_file);
    put_text(b, m->debug_id);
    put_text(b, m->code_id);
    put_text(b, m->version);
}


static void
put_thread(sym_buffer_t *b, const sym_crash_thread_t *t)
{
    put_u32(b, t->id);
    put_u8(b, t->has_name);
    put_text(b, t->name);
    put_u8(b, t->is_writer);
    put_u8(b, t->has_context);
    if (t->has_context) {
        put_u64(b, t->registers.valid);
        for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
            if (sym_unwind_has(&t->registers, i)) {
                put_u64(b, t->registers.value[i]);
            }
        }
    }

    put_u64(b, t->stack.addr);
    put_u64(b, t->stack.size);
    put_u64(b, t->stack.at);
    put_u32(b, t->first_frame);
    put_u32(b, t->n_frames);
}


static void
put_crash(sym_buffer_t *b, const sym_crash_t *crash)
{
    put_head(b, crash);

    put_u32(b, crash->n_modules);
    for (uint32_t i = 0; i < crash->n_modules; i++) {
        put_module(b, &crash->modules[i]);
    }

    put_u32(b, crash->n_threads);
    for (uint32_t i = 0; i < crash->n_threads; i++) {
        put_thread(b, &crash->threads[i]);
    }

    put_u32(b, crash->n_frames);
    for (uint32_t i = 0; i < crash->n_frames; i++) {
        put_u64(b, crash->frames[i].addr);
        put_text(b, crash->frames[i].function);
    }

    put_u32(b, crash->n_notes);
    for (uint32_t i = 0; i < crash->n_notes; i++) {
        put_text(b, crash->notes[i].key);
        put_text(b, crash->notes[i].value);
    }

    put_u32(b, crash->n_fields);
    for (uint32_t i = 0; i < crash->n_fields; i++) {
        put_text(b, crash->fields[i].name);
        put_text(b, crash->fields[i].value);
    }
}


sym_status_t
sym_crash_write(const sym_crash_t *crash, sym_extent_put_pt put, void *ctx,
                sym_writer_stats_t *stats, sym_error_t *err)
{
    sym_buffer_t b = { 0 };
    sym_status_t rc = SYM_OK;

    put_crash(&b, crash);
    if (b.failed) {
        rc = sym_fail(err, SYM_NOMEM, NULL);
    } else if (b.len > SYM_CRASH_BYTES_MAX) {
        rc = sym_fail(err, SYM_LIMIT, "the report's texts are too long");
    }

    *stats = (sym_writer_stats_t){ .bytes = b.len, .quality = 1 };

    for (size_t at = 0; at < b.len && rc == SYM_OK; at += SYM_EXTENT_MAX) {
        size_t len = b.len - at;

        rc = put(ctx, stats->extents++, b.data + at,
                 len < SYM_EXTENT_MAX ? len : SYM_EXTENT_MAX, err);
    }

    sym_buffer_free(&b);
    return rc;
}
