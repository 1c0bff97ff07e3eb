/*
 * code.h - writes the operations of unwind programs (artifacts/cfi/format.h).
 */
#ifndef SYM_FORMATS_UNWIND_CODE_H
#define SYM_FORMATS_UNWIND_CODE_H

#include "artifacts/cfi/format.h"
#include "base/buffer.h"

static inline void
sym_code_op(sym_buffer_t *code, sym_cfi_op_t op)
{
    const uint8_t byte = (uint8_t) op;

    sym_buffer_put(code, &byte, 1);
}


/* Writes an operation with an operand of one byte. */
static inline void
sym_code_op8(sym_buffer_t *code, sym_cfi_op_t op, unsigned operand)
{
    const uint8_t bytes[2] = { (uint8_t) op, (uint8_t) operand };

    sym_buffer_put(code, bytes, sizeof(bytes));
}


static inline void
sym_code_const(sym_buffer_t *code, int64_t value)
{
    uint8_t bytes[1 + SYM_LEB_MAX] = { SYM_CFI_OP_CONST };

    sym_buffer_put(code, bytes,
                   (size_t) (sym_sleb_write(bytes + 1, value) - bytes));
}


#endif
