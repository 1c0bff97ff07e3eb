#include "artifacts/crash/read/crash.h"

#include "base/cursor.h"

/* Least size of an item.  It bounds the number of items. */
#define MODULE_BYTES 37
#define THREAD_BYTES 37
#define FRAME_BYTES 12
#define NOTE_BYTES 8
#define FIELD_BYTES 8

static sym_status_t
damaged(sym_error_t *err, const char *what)
{
    err->status = SYM_OK;
    return sym_fail(err, SYM_DAMAGED, what);
}


/* Joins the extents into one block. */
static sym_status_t
join(const sym_extent_source_t *extents, sym_arena_t *arena, sym_str_t *bytes,
     sym_error_t *err)
{
    const uint8_t *data;
    uint8_t *to;
    size_t len, total = 0;

    for (uint32_t i = 0; i < extents->n; i++) {
        if (extents->get(extents->ctx, i, &data, &len) != SYM_OK
            || len > SYM_CRASH_BYTES_MAX - total)
        {
            return damaged(err, "an extent of the report is missing");
        }
        total += len;
    }

    to = sym_arena_alloc(arena, total);
    if (to == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    *bytes = sym_str((const char *) to, total);

    for (uint32_t i = 0; i < extents->n; i++) {
        if (extents->get(extents->ctx, i, &data, &len) != SYM_OK || len > total)
        {
            return damaged(err, "an extent of the report is missing");
        }
        memcpy(to, data, len);
        to += len;
        total -= len;
    }

    return SYM_OK;
}


static sym_str_t
text(sym_cursor_t *c)
{
    sym_str_t s = sym_bytes(c, sym_u32(c));

    return s.data != NULL ? s : SYM_STR("");
}


/* Reads a number of items, which must fit the remaining bytes. */
static uint32_t
count(sym_cursor_t *c, uint32_t most, size_t item_bytes)
{
    uint32_t n = sym_u32(c);

    if (n > most || n > sym_left(c) / item_bytes) {
        sym_cursor_fail(c, SYM_DAMAGED, "more items than there can be");
        return 0;
    }

    return n;
}


static bool
flag(sym_cursor_t *c)
{
    return sym_u8(c) != 0;
}


static void
read_module(sym_cursor_t *c, sym_crash_module_t *m)
{
    m->addr = sym_u64(c);
    m->size = sym_u64(c);
    m->is_unloaded = flag(c);
    m->code_file = text(c);
    m->debug_file = text(c);
    m->debug_id = text(c);
    m->code_id = text(c);
    m->version = text(c);
}


static void
read_registers(sym_cursor_t *c, sym_unwind_registers_t *r)
{
    r->valid = sym_u64(c) & ((UINT64_C(1) << SYM_UNWIND_REGISTERS) - 1);

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        r->value[i] = sym_unwind_has(r, i) ? sym_u64(c) : 0;
    }
}


static void
read_thread(sym_cursor_t *c, const sym_crash_t *crash, sym_crash_thread_t *t)
{
    t->id = sym_u32(c);
    t->has_name = flag(c);
    t->name = text(c);
    t->is_writer = flag(c);
    t->has_context = flag(c);
    t->registers.arch = crash->arch;
    if (t->has_context) {
        read_registers(c, &t->registers);
    }

    t->stack.addr = sym_u64(c);
    t->stack.size = sym_u64(c);
    t->stack.at = sym_u64(c);
    t->first_frame = sym_u32(c);
    t->n_frames = sym_u32(c);
}


static void
read_head(sym_cursor_t *c, sym_crash_t *crash)
{
    crash->failure = text(c);
    crash->refusal = text(c);
    crash->time_s = sym_u64(c);
    crash->os = (sym_os_t) sym_u8(c);
    crash->arch = (sym_unwind_arch_t) sym_u8(c);
    crash->cpu = text(c);
    crash->os_version = text(c);
    crash->os_build = text(c);
    crash->cpu_info = text(c);
    crash->n_cpus = sym_u32(c);
    crash->has_pid = flag(c);
    crash->pid = sym_u32(c);
    crash->is_crash = flag(c);
    crash->address = sym_u64(c);
    crash->reason = text(c);
    crash->assertion = text(c);
    crash->requesting = sym_u32(c);
}


static sym_status_t
check(const sym_crash_t *crash, sym_error_t *err)
{
    bool is_sound = crash->os < SYM_OSES && crash->arch < SYM_UNWIND_ARCHS
                    && (crash->requesting == SYM_CRASH_NO_THREAD
                        || crash->requesting < crash->n_threads);

    for (uint32_t i = 0; i < crash->n_threads; i++) {
        const sym_crash_thread_t *t = &crash->threads[i];

        is_sound = is_sound && t->first_frame <= crash->n_frames
                   && t->n_frames <= crash->n_frames - t->first_frame
                   && t->stack.at <= UINT64_MAX - t->stack.size;
    }

    return is_sound ? SYM_OK : damaged(err, "a reference leads nowhere");
}


/* Reads the items of a list, after their number. */
#define READ_LIST(c, arena, crash, list, n, most, bytes, read)                 \
    do {                                                                       \
        (crash)->n = count((c), (most), (bytes));                              \
        (crash)->list =                                                        \
            sym_arena_calloc((arena), (crash)->n, sizeof(*(crash)->list));     \
        if ((crash)->list == NULL) {                                           \
            return sym_fail(err, SYM_NOMEM, NULL);                             \
        }                                                                      \
        for (uint32_t i = 0; i < (crash)->n && sym_ok(c); i++) {               \
            read;                                                              \
        }                                                                      \
    } while (0)

sym_status_t
sym_crash_read_bytes(sym_str_t bytes, sym_arena_t *arena, sym_crash_t *crash,
                     sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "crash report", err);

    if (sym_u32(&c) != SYM_CRASH_MAGIC) {
        return damaged(err, "it begins with another number");
    }
    if (sym_u32(&c) != SYM_CRASH_VERSION) {
        return sym_fail(err, SYM_VERSION, "crash report of another version");
    }

    *crash = (sym_crash_t){ .time_s = 0 };
    read_head(&c, crash);
    READ_LIST(&c, arena, crash, modules, n_modules, SYM_CRASH_MODULES_MAX,
              MODULE_BYTES, read_module(&c, &crash->modules[i]));
    READ_LIST(&c, arena, crash, threads, n_threads, SYM_CRASH_THREADS_MAX,
              THREAD_BYTES, read_thread(&c, crash, &crash->threads[i]));
    READ_LIST(&c, arena, crash, frames, n_frames, SYM_CRASH_FRAMES_MAX,
              FRAME_BYTES, crash->frames[i].addr = sym_u64(&c);
              crash->frames[i].function = text(&c));
    READ_LIST(&c, arena, crash, notes, n_notes, SYM_CRASH_NOTES_MAX, NOTE_BYTES,
              crash->notes[i].key = text(&c);
              crash->notes[i].value = text(&c));

    READ_LIST(&c, arena, crash, fields, n_fields, SYM_CRASH_FIELDS_MAX,
              FIELD_BYTES, crash->fields[i].name = text(&c);
              crash->fields[i].value = text(&c));

    return sym_ok(&c) ? check(crash, err) : damaged(err, "it is cut off");
}


sym_status_t
sym_crash_read(const sym_extent_source_t *extents, sym_arena_t *arena,
               sym_crash_t *crash, sym_error_t *err)
{
    sym_str_t bytes = SYM_STR("");
    sym_status_t rc = join(extents, arena, &bytes, err);

    return rc == SYM_OK ? sym_crash_read_bytes(bytes, arena, crash, err) : rc;
}


const char *
sym_crash_os_name(sym_os_t os)
{
    static const char *const names[SYM_OSES] = {
        "",        "Windows", "macOS", "iOS",  "Linux",
        "Solaris", "Android", "PS3",   "NaCl",
    };

    return (unsigned) os < SYM_OSES ? names[os] : "";
}


/* Registers whose names differ from those in unwind rules. */
static const char *
shown_name(sym_unwind_arch_t arch, unsigned number, const char *name)
{
    switch (arch) {
    case SYM_UNWIND_X86:
        return number == SYM_CRASH_EFLAGS ? "eflags" : name;
    case SYM_UNWIND_ARM:
        return number == 11 ? "fp" : name;
    case SYM_UNWIND_ARM64:
        return number == 29 ? "fp" : number == 30 ? "lr" : name;
    case SYM_UNWIND_MIPS:
    case SYM_UNWIND_MIPS64:
        return (number >= 16 && number <= 23) || number >= 28 ? name : NULL;
    default:
        return name;
    }
}


const char *
sym_crash_register_name(sym_unwind_arch_t arch, unsigned number)
{
    const char *name;

    if (number >= SYM_UNWIND_REGISTERS) {
        return NULL;
    }

    name = shown_name(arch, number, sym_unwind_arch(arch)->names[number]);
    return name != NULL && name[0] == '$' ? name + 1 : name;
}
