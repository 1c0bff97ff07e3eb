/*
 * postfix.h - compiles Breakpad's postfix expressions to rules and programs.
 *
 * STACK CFI has an expression for each register.  STACK WIN and the frame data
 * of PDB files have programs that assign to registers (Breakpad's
 * symbol_files.md; postfix_evaluator-inl.h).  The output is a program of
 * artifacts/cfi/format.h, in the caller's buffer.
 */
#ifndef SYM_FORMATS_UNWIND_POSTFIX_H
#define SYM_FORMATS_UNWIND_POSTFIX_H

#include "artifacts/cfi/rules.h"
#include "base/buffer.h"

/* Compiles a rule such as "$rsp 8 +".  The rule's program is in `code`, which
 * must be empty before.  False: the text is not an expression. */
bool sym_postfix_rule(sym_unwind_arch_t arch, sym_str_t text,
                      sym_buffer_t *code, sym_cfi_rule_t *rule);

/* Sizes of the parts of a function's frame on x86, in bytes. */
typedef struct {
    uint32_t parameters, saved_registers, locals;
} sym_frame_sizes_t;

/* Compiles a program such as "$T0 $ebp = $eip $T0 4 + ^ = ..." into `code`,
 * which must be empty before.  False: the text is not a program. */
bool sym_postfix_program(sym_str_t text, const sym_frame_sizes_t *sizes,
                         sym_buffer_t *code);

/* Makes the program of a function that has none (FPO).  Its return address is
 * above its locals, saved registers, and the parameters of its callee. */
void sym_postfix_fpo(const sym_frame_sizes_t *sizes, bool uses_base_pointer,
                     sym_buffer_t *code);

#endif
