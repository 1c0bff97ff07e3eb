/*
 * cfi_unwind.c - computes the caller's registers from a frame's registers and
 * rules.
 */
#include <string.h>

#include "artifacts/cfi/read/cfi.h"

/* State while the rules of one frame are evaluated. */
typedef struct {
    const sym_unwind_registers_t *callee;
    const sym_unwind_memory_t *memory;
    const sym_unwind_arch_row_t *arch;
    sym_unwind_registers_t *set; /* registers that a program has set */
    uint64_t cfa;
    bool has_cfa;
    sym_error_t *err;
} frame_t;


static uint64_t
cut(const frame_t *f, uint64_t value)
{
    return f->arch->word_bytes == 4 ? (uint32_t) value : value;
}


static bool
read_memory(const frame_t *f, uint64_t address, unsigned size, uint64_t *value)
{
    if (!f->memory->read(f->memory->ctx, cut(f, address), size, value)) {
        (void) sym_fail(f->err, SYM_TRUNCATED,
                        "the rules need memory that is not in the dump");
        return false;
    }

    return true;
}


static bool
get_register(const frame_t *f, const sym_unwind_registers_t *r, unsigned number,
             uint64_t *value)
{
    if (!sym_unwind_has(r, number)) {
        (void) sym_fail(f->err, SYM_UNSUPPORTED,
                        "the rules need a register that is not known");
        return false;
    }

    *value = r->value[number];
    return true;
}


static bool
fail_program(const frame_t *f, sym_status_t status, const char *what)
{
    (void) sym_fail(f->err, status, what);
    return false;
}


/* --- programs --- */

typedef struct {
    const frame_t *f;
    const uint8_t *start, *pos, *end;
    uint64_t stack[SYM_CFI_STACK_MAX];
    unsigned n;
    uint64_t slots[SYM_CFI_SLOTS];
} machine_t;


static bool
take_byte(machine_t *m, uint8_t *byte)
{
    if (m->pos == m->end) {
        return fail_program(m->f, SYM_DAMAGED, "an unwind program is cut");
    }

    *byte = *m->pos++;
    return true;
}


static bool
take_number(machine_t *m, uint64_t *value)
{
    unsigned bits = 0;
    uint8_t byte = 0x80;

    *value = 0;
    while (byte >= 0x80) {
        if (bits >= 70 || !take_byte(m, &byte)) {
            return fail_program(m->f, SYM_DAMAGED, "an unwind program is cut");
        }

        *value |= bits < 64 ? (uint64_t) (byte & 0x7f) << bits : 0;
        bits += 7;
    }

    if (bits < 64 && (byte & 0x40) != 0) {
        *value |= ~UINT64_C(0) << bits;
    }

    return true;
}


static bool
push(machine_t *m, uint64_t value)
{
    if (m->n == SYM_CFI_STACK_MAX) {
        return fail_program(m->f, SYM_LIMIT,
                            "the stack of an unwind program is full");
    }

    m->stack[m->n++] = cut(m->f, value);
    return true;
}


static bool
need(machine_t *m, unsigned n)
{
    return m->n >= n
           || fail_program(m->f, SYM_MALFORMED,
                           "the stack of an unwind program is empty");
}


/* A value of the stack as a signed number. */
static int64_t
sign(const machine_t *m, uint64_t value)
{
    return m->f->arch->word_bytes == 4 ? (int32_t) (uint32_t) value
                                       : (int64_t) value;
}


static bool
divide(machine_t *m, uint8_t op, uint64_t a, uint64_t b, uint64_t *result)
{
    if (b == 0) {
        return fail_program(m->f, SYM_MALFORMED,
                            "an unwind program divides by zero");
    }

    switch (op) {
    case SYM_CFI_OP_DIV:
        *result = a / b;
        break;
    case SYM_CFI_OP_DIV_SIGNED:
        /* the lowest number divided by -1 does not fit */
        *result =
            sign(m, b) == -1 ? 0 - a : (uint64_t) (sign(m, a) / sign(m, b));
        break;
    case SYM_CFI_OP_MOD:
        *result = a % b;
        break;
    default:
        *result = a - a % b;
    }

    return true;
}


static uint64_t
shift(const machine_t *m, uint8_t op, uint64_t a, uint64_t by)
{
    const unsigned width = 8u * m->f->arch->word_bytes;

    if (op == SYM_CFI_OP_SHRA) {
        return (uint64_t) (sign(m, a) >> (by < width ? by : width - 1));
    }

    if (by >= width) {
        return 0;
    }

    return op == SYM_CFI_OP_SHL ? a << by : a >> by;
}


static bool
compare(const machine_t *m, uint8_t op, uint64_t a, uint64_t b)
{
    const int64_t x = sign(m, a), y = sign(m, b);

    switch (op) {
    case SYM_CFI_OP_EQ:
        return x == y;
    case SYM_CFI_OP_NE:
        return x != y;
    case SYM_CFI_OP_LT:
        return x < y;
    case SYM_CFI_OP_LE:
        return x <= y;
    case SYM_CFI_OP_GT:
        return x > y;
    default:
        return x >= y;
    }
}


/* Operations that replace the two top values by one. */
static bool
run_binary(machine_t *m, uint8_t op)
{
    uint64_t a, b, result;

    if (!need(m, 2)) {
        return false;
    }

    b = m->stack[--m->n];
    a = m->stack[--m->n];

    switch (op) {
    case SYM_CFI_OP_ADD:
        result = a + b;
        break;
    case SYM_CFI_OP_SUB:
        result = a - b;
        break;
    case SYM_CFI_OP_MUL:
        result = a * b;
        break;
    case SYM_CFI_OP_DIV:
    case SYM_CFI_OP_DIV_SIGNED:
    case SYM_CFI_OP_MOD:
    case SYM_CFI_OP_ALIGN:
        if (!divide(m, op, a, b, &result)) {
            return false;
        }
        break;
    case SYM_CFI_OP_AND:
        result = a & b;
        break;
    case SYM_CFI_OP_OR:
        result = a | b;
        break;
    case SYM_CFI_OP_XOR:
        result = a ^ b;
        break;
    case SYM_CFI_OP_SHL:
    case SYM_CFI_OP_SHR:
    case SYM_CFI_OP_SHRA:
        result = shift(m, op, a, b);
        break;
    default:
        result = compare(m, op, a, b);
    }

    return push(m, result);
}


/* Operations that replace the top value. */
static bool
run_unary(machine_t *m, uint8_t op)
{
    uint64_t top;

    if (!need(m, 1)) {
        return false;
    }

    top = m->stack[--m->n];

    if (op == SYM_CFI_OP_NOT) {
        return push(m, ~top);
    }

    return push(m, op == SYM_CFI_OP_NEG || sign(m, top) < 0 ? 0 - top : top);
}


/* Operations that only rearrange values of the stack. */
static bool
run_stack(machine_t *m, uint8_t op)
{
    uint64_t *top = m->stack + m->n;
    uint8_t at = 0;
    uint64_t first;

    switch (op) {
    case SYM_CFI_OP_DUP:
        return need(m, 1) && push(m, top[-1]);
    case SYM_CFI_OP_DROP:
        if (!need(m, 1)) {
            return false;
        }
        m->n--;
        return true;
    case SYM_CFI_OP_PICK:
        return take_byte(m, &at) && need(m, at + 1u)
               && push(m, m->stack[m->n - 1 - at]);
    case SYM_CFI_OP_SWAP:
        if (!need(m, 2)) {
            return false;
        }
        first = top[-1];
        top[-1] = top[-2];
        top[-2] = first;
        return true;
    default: /* DWARF 5, 2.5.1.3, DW_OP_rot: the top becomes the third value */
        if (!need(m, 3)) {
            return false;
        }
        first = top[-1];
        top[-1] = top[-2];
        top[-2] = top[-3];
        top[-3] = first;
        return true;
    }
}


/* Operations on registers, variables and memory. */
static bool
run_access(machine_t *m, uint8_t op)
{
    uint64_t value = 0;
    uint8_t operand;

    if (!take_byte(m, &operand)) {
        return false;
    }

    if (op != SYM_CFI_OP_GET && op != SYM_CFI_OP_LOAD) {
        if (!need(m, 1)) {
            return false;
        }
        value = m->stack[--m->n];
    }

    switch (op) {
    case SYM_CFI_OP_GET:
        return get_register(m->f, m->f->set != NULL ? m->f->set : m->f->callee,
                            operand, &value)
               && push(m, value);
    case SYM_CFI_OP_SET:
        if (m->f->set == NULL) {
            return fail_program(m->f, SYM_DAMAGED,
                                "an expression sets a register");
        }
        sym_unwind_set(m->f->set, operand, value);
        return true;
    case SYM_CFI_OP_LOAD:
        return push(m, m->slots[operand % SYM_CFI_SLOTS]);
    case SYM_CFI_OP_STORE:
        m->slots[operand % SYM_CFI_SLOTS] = value;
        return true;
    default:
        if (operand != 1 && operand != 2 && operand != 4 && operand != 8) {
            return fail_program(m->f, SYM_DAMAGED,
                                "an unwind program reads no word");
        }
        return read_memory(m->f, value, operand, &value) && push(m, value);
    }
}


static bool
run_jump(machine_t *m, uint8_t op)
{
    uint8_t low, high;
    int32_t by;

    if (!take_byte(m, &low) || !take_byte(m, &high)) {
        return false;
    }

    if (op == SYM_CFI_OP_BRANCH) {
        if (!need(m, 1)) {
            return false;
        }
        if (m->stack[--m->n] == 0) {
            return true;
        }
    }

    by = (int16_t) (low | high << 8);
    if (by < m->start - m->pos || by > m->end - m->pos) {
        return fail_program(m->f, SYM_MALFORMED,
                            "an unwind program jumps out of itself");
    }

    m->pos += by;
    return true;
}


static bool
run_step(machine_t *m)
{
    uint64_t value;
    uint8_t op;

    if (!take_byte(m, &op)) {
        return false;
    }

    switch (op) {
    case SYM_CFI_OP_CONST:
        return take_number(m, &value) && push(m, value);
    case SYM_CFI_OP_GET_CFA:
        return m->f->has_cfa ? push(m, m->f->cfa)
                             : fail_program(m->f, SYM_MALFORMED,
                                            "the rule of the CFA needs itself");
    case SYM_CFI_OP_CALLEE_PARAMETERS:
        return push(m, m->f->callee->callee_parameter_bytes);
    case SYM_CFI_OP_GET:
    case SYM_CFI_OP_SET:
    case SYM_CFI_OP_LOAD:
    case SYM_CFI_OP_STORE:
    case SYM_CFI_OP_READ:
        return run_access(m, op);
    case SYM_CFI_OP_NOT:
    case SYM_CFI_OP_NEG:
    case SYM_CFI_OP_ABS:
        return run_unary(m, op);
    case SYM_CFI_OP_DUP:
    case SYM_CFI_OP_DROP:
    case SYM_CFI_OP_PICK:
    case SYM_CFI_OP_SWAP:
    case SYM_CFI_OP_ROT:
        return run_stack(m, op);
    case SYM_CFI_OP_SKIP:
    case SYM_CFI_OP_BRANCH:
        return run_jump(m, op);
    default:
        return op < SYM_CFI_OPS
                   ? run_binary(m, op)
                   : fail_program(m->f, SYM_DAMAGED,
                                  "an unwind program has no such operation");
    }
}


static bool
run(machine_t *m, const frame_t *f, sym_str_t program)
{
    m->f = f;
    m->start = (const uint8_t *) program.data;
    m->pos = m->start;
    m->end = m->start + program.len;
    m->n = 0;
    memset(m->slots, 0, sizeof(m->slots));

    for (unsigned steps = 0; m->pos != m->end; steps++) {
        if (steps == SYM_CFI_STEPS_MAX) {
            return fail_program(f, SYM_LIMIT, "an unwind program does not end");
        }

        if (!run_step(m)) {
            return false;
        }
    }

    return true;
}


static bool
evaluate(const frame_t *f, sym_str_t program, uint64_t *value)
{
    machine_t m;

    if (!run(&m, f, program) || !need(&m, 1)) {
        return false;
    }

    *value = m.stack[m.n - 1];
    return true;
}


/* --- rules --- */

static bool
apply(const frame_t *f, const sym_cfi_rule_t *rule, uint64_t *value)
{
    bool is_read = false;

    switch (rule->how) {
    case SYM_CFI_CFA:
    case SYM_CFI_AT_CFA:
        if (!f->has_cfa) {
            return fail_program(f, SYM_MALFORMED,
                                "the rule of the CFA needs itself");
        }
        *value = f->cfa + (uint64_t) rule->offset;
        is_read = rule->how == SYM_CFI_AT_CFA;
        break;
    case SYM_CFI_REGISTER:
    case SYM_CFI_AT_REGISTER:
        if (!get_register(f, f->callee, rule->base, value)) {
            return false;
        }
        *value += (uint64_t) rule->offset;
        is_read = rule->how == SYM_CFI_AT_REGISTER;
        break;
    case SYM_CFI_VALUE:
    case SYM_CFI_AT_VALUE:
        if (!evaluate(f, rule->program, value)) {
            return false;
        }
        is_read = rule->how == SYM_CFI_AT_VALUE;
        break;
    default:
        return fail_program(f, SYM_DAMAGED, "a rule without a value");
    }

    return !is_read || read_memory(f, *value, f->arch->word_bytes, value);
}


/* Keeps the registers that every function restores. */
static uint64_t
kept(const frame_t *f, uint32_t flags)
{
    const uint64_t rsi_rdi = UINT64_C(3) << 4;

    return f->arch->saved
           | (f->callee->arch == SYM_UNWIND_X86_64
                      && (flags & SYM_CFI_FLAG_WINDOWS) != 0
                  ? rsi_rdi
                  : 0);
}


static sym_status_t
follow_program(frame_t *f, const sym_cfi_rules_t *rules,
               sym_unwind_registers_t *caller)
{
    const uint64_t pc = UINT64_C(1) << f->arch->pc, sp = UINT64_C(1)
                                                         << f->arch->sp;
    sym_unwind_registers_t work = *f->callee;
    machine_t m;
    bool is_run;

    /* a program that does not set the program counter is an error, not the end
     * of the stack */
    work.valid &= ~pc;
    f->set = &work;
    is_run = run(&m, f, rules->program);
    f->set = NULL;
    if (!is_run) {
        return f->err->status;
    }

    if ((work.valid & pc) == 0 || (work.valid & sp) == 0) {
        return sym_fail(f->err, SYM_MALFORMED,
                        "an unwind program finds no return address");
    }

    work.valid &= f->arch->saved | pc | sp;
    work.callee_parameter_bytes = rules->parameter_bytes;
    work.is_interrupted = false;
    *caller = work;
    return SYM_OK;
}


static sym_status_t
follow_rules(frame_t *f, const sym_cfi_rules_t *rules, uint32_t flags,
             sym_unwind_registers_t *caller)
{
    if (!apply(f, &rules->cfa, &f->cfa)) {
        return f->err->status;
    }

    f->cfa = cut(f, f->cfa);
    f->has_cfa = true;
    *caller = (sym_unwind_registers_t){ .arch = f->callee->arch,
                                        .is_interrupted = rules->is_signal };
    caller->valid = f->callee->valid & kept(f, flags) & ~rules->has;
    memcpy(caller->value, f->callee->value, sizeof(caller->value));
    sym_unwind_set(caller, f->arch->sp, f->cfa);

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        const sym_cfi_rule_t *rule = &rules->rule[i];
        uint64_t value;

        if ((rules->has >> i & 1) == 0) {
            continue;
        }

        if (rule->how == SYM_CFI_UNDEFINED) {
            caller->valid &= ~(UINT64_C(1) << i);
        } else if (apply(f, rule, &value)) {
            sym_unwind_set(caller, i, value);
        } else if (i == f->arch->pc || i == f->arch->sp
                   || f->err->status == SYM_DAMAGED)
        {
            return f->err->status;
        } else {
            /* an error loses only this register */
            *f->err = (sym_error_t){ 0 };
        }
    }

    return SYM_OK;
}


sym_status_t
sym_cfi_follow(const sym_cfi_rules_t *rules, uint32_t flags,
               const sym_unwind_registers_t *registers,
               const sym_unwind_memory_t *memory,
               sym_unwind_registers_t *caller, sym_error_t *err)
{
    frame_t f = { .callee = registers,
                  .memory = memory,
                  .arch = sym_unwind_arch(registers->arch),
                  .err = err };

    if (f.arch->pc >= SYM_UNWIND_REGISTERS) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "registers of an unknown architecture");
    }

    return rules->program.len != 0 ? follow_program(&f, rules, caller)
                                   : follow_rules(&f, rules, flags, caller);
}


/* A leaf function needs no rules: its return address is where the call put it.
 * Only the function that is executing can be a leaf. */
static bool
is_leaf(const sym_cfi_t *c, const sym_unwind_registers_t *registers,
        sym_cfi_rules_t *rules)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(c->arch);
    const bool is_pushed = arch->lr == SYM_UNWIND_NO_REGISTER;

    if ((c->flags & SYM_CFI_FLAG_WINDOWS) == 0 || !registers->is_interrupted
        || (c->arch != SYM_UNWIND_X86_64 && c->arch != SYM_UNWIND_ARM64))
    {
        return false;
    }

    *rules = (sym_cfi_rules_t){ .has = UINT64_C(1) << arch->pc };
    rules->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                                   .base = arch->sp,
                                   .offset = is_pushed ? arch->word_bytes : 0 };
    rules->rule[arch->pc] =
        is_pushed
            ? (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA,
                                .offset = -(int64_t) arch->word_bytes }
            : (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER, .base = arch->lr };
    return true;
}


sym_status_t
sym_cfi_unwind(const sym_cfi_t *c, uint32_t address,
               const sym_unwind_registers_t *registers,
               const sym_unwind_memory_t *memory,
               sym_unwind_registers_t *caller, sym_error_t *err)
{
    sym_cfi_rules_t rules;
    sym_status_t rc;

    if (registers->arch != c->arch) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the module is for another processor");
    }

    rc = sym_cfi_lookup(c, address, &rules);
    if (rc == SYM_NOT_FOUND && is_leaf(c, registers, &rules)) {
        rc = SYM_OK;
    }

    if (rc != SYM_OK) {
        return sym_fail(err, rc,
                        rc == SYM_NOT_FOUND ? "no unwind rules at the address"
                                            : "the unwind rules are damaged");
    }

    return sym_cfi_follow(&rules, c->flags, registers, memory, caller, err);
}
