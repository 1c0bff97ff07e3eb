/*
 * registers.h - the registers of a thread, as unwinding needs them.
 *
 * Only integer registers are kept, by their DWARF numbers, because a frame's
 * address never depends on others.  On each architecture the program counter
 * has its own number.
 */
#ifndef SYM_ARTIFACTS_CFI_REGISTERS_H
#define SYM_ARTIFACTS_CFI_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Artifacts contain these numbers, so a number is never reused. */
typedef enum {
    SYM_UNWIND_UNKNOWN,
    SYM_UNWIND_X86,
    SYM_UNWIND_X86_64,
    SYM_UNWIND_ARM,
    SYM_UNWIND_ARM64,
    SYM_UNWIND_MIPS,
    SYM_UNWIND_MIPS64,
    SYM_UNWIND_RISCV,
    SYM_UNWIND_RISCV64,
    SYM_UNWIND_ARCHS
} sym_unwind_arch_t;

/* Registers have numbers below this limit. */
#define SYM_UNWIND_REGISTERS 33
#define SYM_UNWIND_NO_REGISTER 0xffu

typedef struct {
    sym_unwind_arch_t arch;
    uint64_t valid; /* bit N: value[N] is known */
    uint64_t value[SYM_UNWIND_REGISTERS];

    /* x86: bytes of parameters that the frame pushed for its callee; 0 for the
     * innermost frame.  sym_cfi_unwind() sets it in the caller's registers. */
    uint32_t callee_parameter_bytes;

    /* The program counter is the next instruction, not a return address.  True
     * for the innermost frame, and for a frame that a signal interrupted. */
    bool is_interrupted;
} sym_unwind_registers_t;

/* The constants of an architecture. */
typedef struct {
    uint8_t word_bytes; /* 4 or 8 */
    uint8_t pc, sp;     /* numbers */
    uint8_t fp;         /* the frame pointer, by convention */
    uint8_t lr;         /* SYM_UNWIND_NO_REGISTER: calls push the return
                           address */
    uint64_t saved; /* registers that a function restores before it returns */
    const char *const *names; /* Breakpad's names, by number; NULL: no
                                 register */
} sym_unwind_arch_row_t;

/* The architecture's row; a row without names if it is unknown. */
const sym_unwind_arch_row_t *sym_unwind_arch(sym_unwind_arch_t arch);

/* The architecture of a name of Breakpad: "x86", "x86_64", "arm64", ...; or
 * SYM_UNWIND_UNKNOWN. */
sym_unwind_arch_t sym_unwind_arch_named(sym_str_t name);

/* Breakpad's name of the architecture; or "unknown". */
const char *sym_unwind_arch_name(sym_unwind_arch_t arch);

/* The number of a register, or SYM_UNWIND_NO_REGISTER.  Other usual names are
 * known, too ("fp" and "x29").  A '$' before the name is ignored. */
unsigned sym_unwind_register(sym_unwind_arch_t arch, sym_str_t name);

static inline bool
sym_unwind_has(const sym_unwind_registers_t *r, unsigned number)
{
    return number < SYM_UNWIND_REGISTERS && (r->valid >> number & 1) != 0;
}


/* Sets a register.  The value is cut to the architecture's word width. */
void sym_unwind_set(sym_unwind_registers_t *r, unsigned number, uint64_t value);

/* 0: unknown */
static inline uint64_t
sym_unwind_get(const sym_unwind_registers_t *r, unsigned number)
{
    return sym_unwind_has(r, number) ? r->value[number] : 0;
}


static inline uint64_t
sym_unwind_pc(const sym_unwind_registers_t *r)
{
    return sym_unwind_get(r, sym_unwind_arch(r->arch)->pc);
}


static inline uint64_t
sym_unwind_sp(const sym_unwind_registers_t *r)
{
    return sym_unwind_get(r, sym_unwind_arch(r->arch)->sp);
}


#endif
