/*
 * rules.h - the unwind rules of an address: how the caller's registers are
 * found.
 *
 * Readers of files fill them in for the writer.  The artifact's reader fills
 * them in for the evaluator.  Programs (format.h) are views.
 */
#ifndef SYM_ARTIFACTS_CFI_RULES_H
#define SYM_ARTIFACTS_CFI_RULES_H

#include "artifacts/cfi/format.h"
#include "artifacts/cfi/registers.h"
#include "base/str.h"

/* How a value of the caller is found. */
typedef struct {
    sym_cfi_how_t how;
    uint8_t base;   /* used by SYM_CFI_REGISTER and SYM_CFI_AT_REGISTER */
    int64_t offset; /* used by these, and by SYM_CFI_CFA and SYM_CFI_AT_CFA */
    sym_str_t program; /* used by SYM_CFI_VALUE and SYM_CFI_AT_VALUE */
} sym_cfi_rule_t;

/*
 * The rules of one address.  A register without a rule keeps its value if the
 * architecture's functions restore it; otherwise its value is unknown.  A stack
 * pointer without a rule gets the CFA.
 */
typedef struct {
    /* not empty: a program sets the caller's registers, and there are no other
     * rules */
    sym_str_t program;
    uint32_t parameter_bytes; /* bytes pushed as parameters of the function;
                                 x86 */
    bool is_signal; /* the frame is a signal's: it interrupted its caller */

    sym_cfi_rule_t cfa;
    uint64_t has; /* bit N: rule[N] */
    sym_cfi_rule_t rule[SYM_UNWIND_REGISTERS];
} sym_cfi_rules_t;

#endif
