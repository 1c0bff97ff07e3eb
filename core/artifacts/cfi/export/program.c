#include "artifacts/cfi/export/program.h"

#include <inttypes.h>

#include "base/cursor.h"

static const char *const words[SYM_CFI_OPS] = {
    [SYM_CFI_OP_GET_CFA] = ".cfa",
    [SYM_CFI_OP_CALLEE_PARAMETERS] = ".cbCalleeParams",
    [SYM_CFI_OP_ADD] = "+",
    [SYM_CFI_OP_SUB] = "-",
    [SYM_CFI_OP_MUL] = "*",
    [SYM_CFI_OP_DIV] = "/",
    [SYM_CFI_OP_DIV_SIGNED] = "sdiv",
    [SYM_CFI_OP_MOD] = "%",
    [SYM_CFI_OP_ALIGN] = "@",
    [SYM_CFI_OP_AND] = "and",
    [SYM_CFI_OP_OR] = "or",
    [SYM_CFI_OP_XOR] = "xor",
    [SYM_CFI_OP_SHL] = "shl",
    [SYM_CFI_OP_SHR] = "shr",
    [SYM_CFI_OP_SHRA] = "shra",
    [SYM_CFI_OP_EQ] = "eq",
    [SYM_CFI_OP_NE] = "ne",
    [SYM_CFI_OP_LT] = "lt",
    [SYM_CFI_OP_LE] = "le",
    [SYM_CFI_OP_GT] = "gt",
    [SYM_CFI_OP_GE] = "ge",
    [SYM_CFI_OP_NOT] = "not",
    [SYM_CFI_OP_NEG] = "neg",
    [SYM_CFI_OP_ABS] = "abs",
    [SYM_CFI_OP_DUP] = "dup",
    [SYM_CFI_OP_DROP] = "drop",
    [SYM_CFI_OP_SWAP] = "swap",
    [SYM_CFI_OP_ROT] = "rot",
};


static void
put_register(sym_unwind_arch_t arch, unsigned number, sym_out_t *out)
{
    const char *name = number < SYM_UNWIND_REGISTERS
                           ? sym_unwind_arch(arch)->names[number]
                           : NULL;

    sym_out_raw(out, sym_cstr(name != NULL ? name : "?"));
}


/* Writes an operation with an operand. */
static void
put_operand(sym_unwind_arch_t arch, uint8_t op, sym_cursor_t *c, sym_out_t *out)
{
    switch (op) {
    case SYM_CFI_OP_CONST:
        sym_out_printf(out, "%" PRId64, sym_sleb(c));
        break;
    case SYM_CFI_OP_GET:
        put_register(arch, sym_u8(c), out);
        break;
    case SYM_CFI_OP_SET:
        sym_out_raw(out, SYM_STR("="));
        put_register(arch, sym_u8(c), out);
        break;
    case SYM_CFI_OP_LOAD:
        sym_out_printf(out, "$T%u", sym_u8(c));
        break;
    case SYM_CFI_OP_STORE:
        sym_out_printf(out, "=$T%u", sym_u8(c));
        break;
    case SYM_CFI_OP_READ:
        sym_out_printf(out, "^%u", sym_u8(c));
        break;
    case SYM_CFI_OP_PICK:
        sym_out_printf(out, "pick%u", sym_u8(c));
        break;
    default:
        sym_out_printf(out, "%s%d", op == SYM_CFI_OP_SKIP ? "skip" : "bra",
                       (int16_t) sym_u16(c));
    }
}


void
sym_cfi_put_program(sym_unwind_arch_t arch, sym_str_t program, sym_out_t *out)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(program.data, program.len, "program", &err);
    const char *before = "";

    while (sym_left(&c) > 0) {
        const uint8_t op = sym_u8(&c);

        sym_out_raw(out, sym_cstr(before));
        before = " ";

        if (op >= SYM_CFI_OPS) {
            sym_out_raw(out, SYM_STR("?"));
        } else if (words[op] != NULL) {
            sym_out_raw(out, sym_cstr(words[op]));
        } else {
            put_operand(arch, op, &c, out);
        }
    }
}


/* --- programs of Breakpad --- */

typedef struct {
    uint8_t op;
    int64_t operand;
} step_t;


/* False: there are no more operations. */
static bool
next_step(sym_cursor_t *c, step_t *step)
{
    if (sym_left(c) == 0) {
        return false;
    }

    *step = (step_t){ .op = sym_u8(c) };
    switch (step->op) {
    case SYM_CFI_OP_CONST:
        step->operand = sym_sleb(c);
        break;
    case SYM_CFI_OP_GET:
    case SYM_CFI_OP_SET:
    case SYM_CFI_OP_LOAD:
    case SYM_CFI_OP_STORE:
    case SYM_CFI_OP_READ:
        step->operand = sym_u8(c);
        break;
    default:
        break;
    }

    return true;
}


/* Gets the number of values that an operation adds to the stack.  False:
 * Breakpad does not have the operation. */
static bool
is_of_breakpad(uint8_t op, int *adds)
{
    switch (op) {
    case SYM_CFI_OP_CONST:
    case SYM_CFI_OP_GET:
    case SYM_CFI_OP_LOAD:
    case SYM_CFI_OP_CALLEE_PARAMETERS:
        *adds = 1;
        return true;
    case SYM_CFI_OP_READ:
        *adds = 0;
        return true;
    case SYM_CFI_OP_ADD:
    case SYM_CFI_OP_SUB:
    case SYM_CFI_OP_MUL:
    case SYM_CFI_OP_DIV:
    case SYM_CFI_OP_MOD:
    case SYM_CFI_OP_ALIGN:
    case SYM_CFI_OP_SET:
    case SYM_CFI_OP_STORE:
        *adds = -1;
        return true;
    default:
        return false;
    }
}


static bool
is_assignment(uint8_t op)
{
    return op == SYM_CFI_OP_SET || op == SYM_CFI_OP_STORE;
}


static void
put_step(const step_t *s, sym_out_t *out)
{
    switch (s->op) {
    case SYM_CFI_OP_CONST:
        sym_out_printf(out, "%" PRId64, s->operand);
        break;
    case SYM_CFI_OP_GET:
    case SYM_CFI_OP_SET:
        put_register(SYM_UNWIND_X86, (unsigned) s->operand, out);
        break;
    case SYM_CFI_OP_LOAD:
    case SYM_CFI_OP_STORE:
        sym_out_printf(out, "$T%" PRId64, s->operand);
        break;
    case SYM_CFI_OP_READ:
        sym_out_raw(out, SYM_STR("^"));
        break;
    default:
        sym_out_raw(out, sym_cstr(words[s->op]));
    }

    sym_out_raw(out, SYM_STR(" "));
}


bool
sym_cfi_is_windows(sym_str_t program)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(program.data, program.len, "program", &err);
    step_t step = { .op = SYM_CFI_OP_CONST };
    int depth = 0, adds;

    while (next_step(&c, &step)) {
        if (!is_of_breakpad(step.op, &adds)) {
            return false;
        }

        depth += adds;
        if (depth < 0 || (is_assignment(step.op) && depth != 0)) {
            return false; /* the program is not a row of assignments */
        }
    }

    return is_assignment(step.op) && err.status == SYM_OK;
}


/* in Breakpad's text the target precedes the value, here it follows */
void
sym_cfi_put_windows(sym_str_t program, sym_out_t *out)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(program.data, program.len, "program", &err);
    step_t step = { 0 };

    while (sym_left(&c) > 0) {
        sym_cursor_t ahead = c;

        while (next_step(&ahead, &step) && !is_assignment(step.op)) {
        }
        put_step(&step, out);

        while (next_step(&c, &step) && !is_assignment(step.op)) {
            put_step(&step, out);
        }
        sym_out_raw(out, sym_left(&c) > 0 ? SYM_STR("= ") : SYM_STR("="));
    }
}


void
sym_cfi_put_rule(sym_unwind_arch_t arch, const sym_cfi_rule_t *rule,
                 sym_out_t *out)
{
    const bool is_read = rule->how == SYM_CFI_AT_CFA
                         || rule->how == SYM_CFI_AT_REGISTER
                         || rule->how == SYM_CFI_AT_VALUE;

    switch (rule->how) {
    case SYM_CFI_CFA:
    case SYM_CFI_AT_CFA:
        sym_out_raw(out, SYM_STR(".cfa"));
        break;
    case SYM_CFI_REGISTER:
    case SYM_CFI_AT_REGISTER:
        put_register(arch, rule->base, out);
        break;
    case SYM_CFI_VALUE:
    case SYM_CFI_AT_VALUE:
        sym_cfi_put_program(arch, rule->program, out);
        break;
    default:
        sym_out_raw(out, SYM_STR(".undef"));
    }

    if (rule->offset != 0) {
        sym_out_printf(out, " %" PRId64 " +", rule->offset);
    }

    if (is_read) {
        sym_out_raw(out, SYM_STR(" ^"));
    }
}
