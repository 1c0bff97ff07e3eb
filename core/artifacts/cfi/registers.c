#include "artifacts/cfi/registers.h"

#define BIT(n) (UINT64_C(1) << (n))
#define BITS(from, to) ((BIT((to) + 1) - 1) & ~(BIT(from) - 1))

/* i386 psABI, table 2.14; EIP is the return address column. */
static const char *const x86[SYM_UNWIND_REGISTERS] = {
    "$eax", "$ecx", "$edx", "$ebx", "$esp", "$ebp", "$esi", "$edi", "$eip",
};

/* x86-64 psABI, figure 3.36 */
static const char *const x86_64[SYM_UNWIND_REGISTERS] = {
    "$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi", "$rbp", "$rsp", "$r8",
    "$r9",  "$r10", "$r11", "$r12", "$r13", "$r14", "$r15", "$rip",
};

/* DWARF for the Arm architecture, 4.1 */
static const char *const arm[SYM_UNWIND_REGISTERS] = {
    "r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
    "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc",
};

/* DWARF for the Arm 64-bit architecture, 4.1 */
static const char *const arm64[SYM_UNWIND_REGISTERS] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",
};

static const char *const mips[SYM_UNWIND_REGISTERS] = {
    "$zero", "$at", "$v0", "$v1", "$a0", "$a1", "$a2", "$a3", "$t0",
    "$t1",   "$t2", "$t3", "$t4", "$t5", "$t6", "$t7", "$s0", "$s1",
    "$s2",   "$s3", "$s4", "$s5", "$s6", "$s7", "$t8", "$t9", "$k0",
    "$k1",   "$gp", "$sp", "$fp", "$ra", "$pc",
};

static const char *const riscv[SYM_UNWIND_REGISTERS] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc",
};

static const char *const none[SYM_UNWIND_REGISTERS] = { NULL };

#define MIPS_ROW(bytes)                                                        \
    {                                                                          \
        (bytes), 32, 29, 30, 31, BITS(16, 23) | BITS(28, 28) | BIT(30), mips   \
    }
#define RISCV_ROW(bytes)                                                       \
    {                                                                          \
        (bytes), 32, 2, 8, 1, BITS(3, 4) | BITS(8, 9) | BITS(18, 27), riscv    \
    }

static const sym_unwind_arch_row_t archs[SYM_UNWIND_ARCHS] = {
    [SYM_UNWIND_UNKNOWN] = { 8, SYM_UNWIND_NO_REGISTER, SYM_UNWIND_NO_REGISTER,
                             SYM_UNWIND_NO_REGISTER, SYM_UNWIND_NO_REGISTER, 0,
                             none },
    [SYM_UNWIND_X86] = { 4, 8, 4, 5, SYM_UNWIND_NO_REGISTER,
                         BIT(3) | BITS(5, 7), x86 },
    [SYM_UNWIND_X86_64] = { 8, 16, 7, 6, SYM_UNWIND_NO_REGISTER,
                            BIT(3) | BIT(6) | BITS(12, 15), x86_64 },
    [SYM_UNWIND_ARM] = { 4, 15, 13, 11, 14, BITS(4, 11), arm },
    [SYM_UNWIND_ARM64] = { 8, 32, 31, 29, 30, BITS(19, 29), arm64 },
    [SYM_UNWIND_MIPS] = MIPS_ROW(4),
    [SYM_UNWIND_MIPS64] = MIPS_ROW(8),
    [SYM_UNWIND_RISCV] = RISCV_ROW(4),
    [SYM_UNWIND_RISCV64] = RISCV_ROW(8),
};


const sym_unwind_arch_row_t *
sym_unwind_arch(sym_unwind_arch_t arch)
{
    return &archs[(unsigned) arch < SYM_UNWIND_ARCHS ? arch
                                                     : SYM_UNWIND_UNKNOWN];
}


typedef struct {
    const char *name;
    uint8_t arch, number;
} alias_t;

/* Names of the MODULE record and of our own readers. */
static const alias_t arch_names[] = {
    { "x86", SYM_UNWIND_X86, 0 },        { "i386", SYM_UNWIND_X86, 0 },
    { "i686", SYM_UNWIND_X86, 0 },       { "x86_64", SYM_UNWIND_X86_64, 0 },
    { "x86_64h", SYM_UNWIND_X86_64, 0 }, { "amd64", SYM_UNWIND_X86_64, 0 },
    { "arm64", SYM_UNWIND_ARM64, 0 },    { "arm64e", SYM_UNWIND_ARM64, 0 },
    { "aarch64", SYM_UNWIND_ARM64, 0 },  { "mips", SYM_UNWIND_MIPS, 0 },
    { "mips64", SYM_UNWIND_MIPS64, 0 },  { "riscv", SYM_UNWIND_RISCV, 0 },
    { "riscv32", SYM_UNWIND_RISCV, 0 },  { "riscv64", SYM_UNWIND_RISCV64, 0 },
};

static const alias_t register_names[] = {
    { "r13", SYM_UNWIND_ARM, 13 },   { "r14", SYM_UNWIND_ARM, 14 },
    { "r15", SYM_UNWIND_ARM, 15 },   { "fp", SYM_UNWIND_ARM, 11 },
    { "fp", SYM_UNWIND_ARM64, 29 },  { "lr", SYM_UNWIND_ARM64, 30 },
    { "x31", SYM_UNWIND_ARM64, 31 }, { "wsp", SYM_UNWIND_ARM64, 31 },
    { "s8", SYM_UNWIND_MIPS, 30 },   { "s8", SYM_UNWIND_MIPS64, 30 },
    { "fp", SYM_UNWIND_RISCV, 8 },   { "fp", SYM_UNWIND_RISCV64, 8 },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))


sym_unwind_arch_t
sym_unwind_arch_named(sym_str_t name)
{
    for (size_t i = 0; i < COUNT(arch_names); i++) {
        if (sym_str_eq(name, sym_cstr(arch_names[i].name))) {
            return (sym_unwind_arch_t) arch_names[i].arch;
        }
    }

    /* arm, armv7s, ...; arm64_32 has 64-bit registers, but 32-bit words */
    return sym_str_starts(name, SYM_STR("arm"))
                   && !sym_str_starts(name, SYM_STR("arm64"))
               ? SYM_UNWIND_ARM
               : SYM_UNWIND_UNKNOWN;
}


const char *
sym_unwind_arch_name(sym_unwind_arch_t arch)
{
    for (size_t i = 0; i < COUNT(arch_names); i++) {
        if (arch_names[i].arch == arch) {
            return arch_names[i].name;
        }
    }

    return arch == SYM_UNWIND_ARM ? "arm" : "unknown";
}


static sym_str_t
without_dollar(sym_str_t name)
{
    return sym_str_starts(name, SYM_STR("$"))
               ? sym_str(name.data + 1, name.len - 1)
               : name;
}


unsigned
sym_unwind_register(sym_unwind_arch_t arch, sym_str_t name)
{
    const sym_unwind_arch_row_t *row = sym_unwind_arch(arch);

    name = without_dollar(name);

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        if (row->names[i] != NULL
            && sym_str_eq(name, without_dollar(sym_cstr(row->names[i]))))
        {
            return i;
        }
    }

    for (size_t i = 0; i < COUNT(register_names); i++) {
        if (register_names[i].arch == arch
            && sym_str_eq(name, sym_cstr(register_names[i].name)))
        {
            return register_names[i].number;
        }
    }

    return SYM_UNWIND_NO_REGISTER;
}


void
sym_unwind_set(sym_unwind_registers_t *r, unsigned number, uint64_t value)
{
    if (number < SYM_UNWIND_REGISTERS) {
        r->value[number] = sym_unwind_arch(r->arch)->word_bytes == 4
                               ? (uint32_t) value
                               : value;
        r->valid |= BIT(number);
    }
}
