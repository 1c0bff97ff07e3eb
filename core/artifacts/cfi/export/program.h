/*
 * program.h - writes rules and programs as postfix text.
 */
#ifndef SYM_ARTIFACTS_CFI_EXPORT_PROGRAM_H
#define SYM_ARTIFACTS_CFI_EXPORT_PROGRAM_H

#include "artifacts/cfi/rules.h"
#include "json/out.h"

/* Words for the operations, in the order of their numbers.  Operations that
 * Breakpad has get Breakpad's word. */
void sym_cfi_put_program(sym_unwind_arch_t arch, sym_str_t program,
                         sym_out_t *out);

/* Whether a program consists of operations of Breakpad's STACK WIN; false for
 * "". */
bool sym_cfi_is_windows(sym_str_t program);

/* Writes such a program in Breakpad's syntax: "$T0 $esp 4 + = $eip $T0 ^ =". */
void sym_cfi_put_windows(sym_str_t program, sym_out_t *out);

/* "$rsp 8 +", "[.cfa -8 +]" */
void sym_cfi_put_rule(sym_unwind_arch_t arch, const sym_cfi_rule_t *rule,
                      sym_out_t *out);

#endif
