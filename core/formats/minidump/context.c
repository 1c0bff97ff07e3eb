#include "formats/minidump/minidump.h"

#include "artifacts/crash/read/crash.h"

/* Bits that do not name the processor in the flags of a context. */
#define FLAGS_OF_PARTS 0xffu

/* All bits that name a processor; other bits are ignored. */
#define PROCESSORS                                                             \
    (0x10000u | 0x20000u | 0x40000u | 0x80000u | 0x100000u | 0x400000u         \
     | 0x1000000u | 0x10000000u | 0x20000000u | 0x40000000u | 0x80000000u)

#define PROCESSOR_ARM64_OLD 0x8003

/* The offsets of registers in a context, by DWARF number. */
typedef struct {
    uint32_t processor; /* bit in the context's flags */
    uint16_t bytes, flags_at;
    uint8_t width;
    uint8_t n;
    struct {
        uint8_t number, n; /* consecutive registers */
        uint16_t at;
    } rows[9];
} form_t;

/* CONTEXT of winnt.h for i386 */
static const form_t x86 = { 0x10000,
                            716,
                            0,
                            4,
                            9,
                            { { 7, 1, 0x9c },     /* edi */
                              { 6, 1, 0xa0 },     /* esi */
                              { 3, 1, 0xa4 },     /* ebx */
                              { 2, 1, 0xa8 },     /* edx */
                              { 1, 1, 0xac },     /* ecx */
                              { 0, 1, 0xb0 },     /* eax */
                              { 5, 1, 0xb4 },     /* ebp */
                              { 8, 1, 0xb8 },     /* eip */
                              { 4, 1, 0xc4 } } }; /* esp */
#define X86_EFLAGS_AT 0xc0

/* CONTEXT for x64 */
static const form_t x86_64 = { 0x100000,
                               1232,
                               0x30,
                               8,
                               9,
                               { { 0, 1, 0x78 },      /* rax */
                                 { 2, 1, 0x80 },      /* rcx */
                                 { 1, 1, 0x88 },      /* rdx */
                                 { 3, 1, 0x90 },      /* rbx */
                                 { 7, 1, 0x98 },      /* rsp */
                                 { 6, 1, 0xa0 },      /* rbp */
                                 { 4, 2, 0xa8 },      /* rsi, rdi */
                                 { 8, 8, 0xb8 },      /* r8 to r15 */
                                 { 16, 1, 0xf8 } } }; /* rip */

/* CONTEXT for ARM64 */
static const form_t arm64 = { 0x400000, 912, 0,
                              8,        2,   { { 0, 31, 8 }, { 31, 2, 256 } } };

/* older than the form of Windows: minidump_cpu_arm64.h */
static const form_t arm64_old = {
    0x80000000, 796, 0, 8, 2, { { 0, 31, 8 }, { 31, 2, 256 } }
};

/* minidump_cpu_arm.h */
static const form_t arm = { 0x40000000, 368, 0, 4, 1, { { 0, 16, 4 } } };

/* minidump_cpu_mips.h; registers have 8 bytes for both processors */
static const form_t mips = { 0x40000, 600, 0,
                             8,       2,   { { 0, 32, 8 }, { 32, 1, 312 } } };
static const form_t mips64 = { 0x80000, 600, 0,
                               8,       2,   { { 0, 32, 8 }, { 32, 1, 312 } } };


static const form_t *
form_of(const minidump_t *d)
{
    switch (d->crash.arch) {
    case SYM_UNWIND_X86:
        return &x86;
    case SYM_UNWIND_X86_64:
        return &x86_64;
    case SYM_UNWIND_ARM:
        return &arm;
    case SYM_UNWIND_ARM64:
        return d->processor == PROCESSOR_ARM64_OLD ? &arm64_old : &arm64;
    case SYM_UNWIND_MIPS:
        return &mips;
    case SYM_UNWIND_MIPS64:
        return &mips64;
    default:
        return NULL;
    }
}


static sym_cursor_t
at(const minidump_t *d, sym_str_t bytes, size_t offset, sym_error_t *err)
{
    return minidump_cursor(d, sym_str(bytes.data + offset, bytes.len - offset),
                           err);
}


bool
minidump_read_context(const minidump_t *d, minidump_place_t place,
                      sym_unwind_registers_t *registers)
{
    const form_t *form = form_of(d);
    sym_str_t bytes = minidump_bytes(d, place);
    sym_error_t unused;
    sym_cursor_t c;

    if (form == NULL || bytes.data == NULL || bytes.len < form->bytes) {
        return false;
    }

    c = at(d, bytes, form->flags_at, &unused);
    if ((sym_u32(&c) & PROCESSORS & ~FLAGS_OF_PARTS) != form->processor) {
        return false;
    }

    *registers = (sym_unwind_registers_t){ .arch = d->crash.arch };

    for (unsigned i = 0; i < form->n; i++) {
        c = at(d, bytes, form->rows[i].at, &unused);
        for (unsigned k = 0; k < form->rows[i].n; k++) {
            sym_unwind_set(registers, form->rows[i].number + k,
                           form->width == 4 ? sym_u32(&c) : sym_u64(&c));
        }
    }

    if (form == &x86) {
        c = at(d, bytes, X86_EFLAGS_AT, &unused);
        sym_unwind_set(registers, SYM_CRASH_EFLAGS, sym_u32(&c));
    }

    return true;
}
