#include "formats/unwind/expression.h"

#include "artifacts/cfi/registers.h"
#include "formats/unwind/code.h"

/* DWARF 5, table 7.9 */
#define DW_OP_addr 0x03
#define DW_OP_deref 0x06
#define DW_OP_const1u 0x08
#define DW_OP_consts 0x11
#define DW_OP_over 0x14
#define DW_OP_pick 0x15
#define DW_OP_plus_uconst 0x23
#define DW_OP_bra 0x28
#define DW_OP_skip 0x2f
#define DW_OP_lit0 0x30
#define DW_OP_breg0 0x70
#define DW_OP_bregx 0x92
#define DW_OP_deref_size 0x94
#define DW_OP_nop 0x96
#define DW_OP_call_frame_cfa 0x9c

#define JUMPS_MAX 32
#define NOWHERE UINT16_MAX

/* Our operation, plus one; 0: unknown, or it has operands. */
static const uint8_t plain[0x30] = {
    [0x12] = 1 + SYM_CFI_OP_DUP,        [0x13] = 1 + SYM_CFI_OP_DROP,
    [0x16] = 1 + SYM_CFI_OP_SWAP,       [0x17] = 1 + SYM_CFI_OP_ROT,
    [0x19] = 1 + SYM_CFI_OP_ABS,        [0x1a] = 1 + SYM_CFI_OP_AND,
    [0x1b] = 1 + SYM_CFI_OP_DIV_SIGNED, [0x1c] = 1 + SYM_CFI_OP_SUB,
    [0x1d] = 1 + SYM_CFI_OP_MOD,        [0x1e] = 1 + SYM_CFI_OP_MUL,
    [0x1f] = 1 + SYM_CFI_OP_NEG,        [0x20] = 1 + SYM_CFI_OP_NOT,
    [0x21] = 1 + SYM_CFI_OP_OR,         [0x22] = 1 + SYM_CFI_OP_ADD,
    [0x24] = 1 + SYM_CFI_OP_SHL,        [0x25] = 1 + SYM_CFI_OP_SHR,
    [0x26] = 1 + SYM_CFI_OP_SHRA,       [0x27] = 1 + SYM_CFI_OP_XOR,
    [0x29] = 1 + SYM_CFI_OP_EQ,         [0x2a] = 1 + SYM_CFI_OP_GE,
    [0x2b] = 1 + SYM_CFI_OP_GT,         [0x2c] = 1 + SYM_CFI_OP_LE,
    [0x2d] = 1 + SYM_CFI_OP_LT,         [0x2e] = 1 + SYM_CFI_OP_NE,
};

typedef struct {
    size_t at;     /* position of its operand in the code */
    size_t target; /* target in the expression */
} jump_t;

typedef struct {
    sym_cursor_t c;
    unsigned word_bytes;
    sym_buffer_t *code;
    size_t code_start;
    int64_t len; /* length of the expression */
    jump_t jumps[JUMPS_MAX];
    unsigned n_jumps;
    uint16_t places[SYM_EXPRESSION_MAX + 1]; /* position in the code, by byte
                                                of the expression */
} compiler_t;


/* DW_OP_const1u .. DW_OP_consts */
static int64_t
read_constant(sym_cursor_t *c, uint8_t op)
{
    switch (op - DW_OP_const1u) {
    case 0:
        return sym_u8(c);
    case 1:
        return (int8_t) sym_u8(c);
    case 2:
        return sym_u16(c);
    case 3:
        return (int16_t) sym_u16(c);
    case 4:
        return sym_u32(c);
    case 5:
        return (int32_t) sym_u32(c);
    case 6:
    case 7:
        return (int64_t) sym_u64(c);
    case 8:
        return (int64_t) sym_uleb(c);
    default:
        return sym_sleb(c);
    }
}


static bool
put_base(compiler_t *m, uint64_t number)
{
    if (number >= SYM_UNWIND_REGISTERS) {
        return false;
    }

    sym_code_op8(m->code, SYM_CFI_OP_GET, (unsigned) number);
    sym_code_const(m->code, sym_sleb(&m->c));
    sym_code_op(m->code, SYM_CFI_OP_ADD);
    return true;
}


static bool
put_jump(compiler_t *m, uint8_t op)
{
    const int16_t by = (int16_t) sym_u16(&m->c);
    const int64_t target = (m->c.pos - m->c.start) + by;
    const uint8_t operand[2] = { 0, 0 };

    if (m->n_jumps == JUMPS_MAX || target < 0 || target > m->len) {
        return false;
    }

    sym_code_op(m->code, op == DW_OP_bra ? SYM_CFI_OP_BRANCH : SYM_CFI_OP_SKIP);
    m->jumps[m->n_jumps++] = (jump_t){ m->code->len, (size_t) target };
    sym_buffer_put(m->code, operand, sizeof(operand));
    return true;
}


/* Compiles operations with operands. */
static bool
put_other(compiler_t *m, uint8_t op)
{
    switch (op) {
    case DW_OP_addr:
        sym_code_const(m->code, m->word_bytes == 8 ? (int64_t) sym_u64(&m->c)
                                                   : sym_u32(&m->c));
        return true;
    case DW_OP_deref:
        sym_code_op8(m->code, SYM_CFI_OP_READ, m->word_bytes);
        return true;
    case DW_OP_deref_size:
        sym_code_op8(m->code, SYM_CFI_OP_READ, sym_u8(&m->c));
        return true;
    case DW_OP_over:
        sym_code_op8(m->code, SYM_CFI_OP_PICK, 1);
        return true;
    case DW_OP_pick:
        sym_code_op8(m->code, SYM_CFI_OP_PICK, sym_u8(&m->c));
        return true;
    case DW_OP_plus_uconst:
        sym_code_const(m->code, (int64_t) sym_uleb(&m->c));
        sym_code_op(m->code, SYM_CFI_OP_ADD);
        return true;
    case DW_OP_bra:
    case DW_OP_skip:
        return put_jump(m, op);
    case DW_OP_bregx:
        return put_base(m, sym_uleb(&m->c));
    case DW_OP_call_frame_cfa:
        sym_code_op(m->code, SYM_CFI_OP_GET_CFA);
        return true;
    default:
        return op == DW_OP_nop;
    }
}


static bool
put_operation(compiler_t *m, uint8_t op)
{
    if (op < sizeof(plain) && plain[op] != 0) {
        sym_code_op(m->code, (sym_cfi_op_t) (plain[op] - 1));
        return true;
    }

    if (op >= DW_OP_const1u && op <= DW_OP_consts) {
        sym_code_const(m->code, read_constant(&m->c, op));
        return true;
    }

    if (op >= DW_OP_lit0 && op < DW_OP_lit0 + 32) {
        sym_code_const(m->code, op - DW_OP_lit0);
        return true;
    }

    return op >= DW_OP_breg0 && op < DW_OP_breg0 + 32
               ? put_base(m, op - DW_OP_breg0)
               : put_other(m, op);
}


/* Sets the targets of the code's jumps to those of the expression's. */
static bool
settle_jumps(compiler_t *m)
{
    for (unsigned i = 0; i < m->n_jumps; i++) {
        const jump_t *jump = &m->jumps[i];
        const size_t next = jump->at - m->code_start + 2;
        const uint16_t place = m->places[jump->target];

        if (place == NOWHERE) {
            return false;
        }

        sym_put16(m->code->data + jump->at, (uint32_t) (place - next));
    }

    return true;
}


bool
sym_expression_compile(sym_cursor_t expression, unsigned word_bytes,
                       sym_buffer_t *code)
{
    const size_t len = sym_left(&expression);
    compiler_t m = { .word_bytes = word_bytes,
                     .code = code,
                     .code_start = code->len,
                     .len = (int64_t) len };
    sym_error_t err = { 0 };

    if (len > SYM_EXPRESSION_MAX) {
        return false;
    }

    m.c = sym_cursor(expression.pos, len, "expression", &err);
    m.c.is_big_endian = expression.is_big_endian;
    memset(m.places, 0xff, (len + 1) * sizeof(m.places[0]));

    while (sym_left(&m.c) > 0) {
        m.places[m.c.pos - m.c.start] = (uint16_t) (code->len - m.code_start);
        if (!put_operation(&m, sym_u8(&m.c))) {
            return false;
        }
    }

    m.places[len] = (uint16_t) (code->len - m.code_start);
    return sym_ok(&m.c) && !code->failed && settle_jumps(&m);
}
