#include "formats/unwind/run.h"

#include "formats/unwind/code.h"
#include "formats/unwind/expression.h"

/* DWARF 5, table 7.29 */
enum {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_GNU_WINDOW_SAVE = 0x2d, /* arm64: signs the return address */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET = 0x2f,
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0
};


/* --- rules --- */

/* Our number of a register; SYM_UNWIND_NO_REGISTER: it is not tracked. */
static unsigned
register_of(const sym_frames_t *f, uint64_t number)
{
    /* on these architectures the number of the program counter is ours, not
     * DWARF's */
    const bool is_own_pc = f->in->arch >= SYM_UNWIND_MIPS;

    if (number >= SYM_UNWIND_REGISTERS || (is_own_pc && number == f->arch->pc))
    {
        return SYM_UNWIND_NO_REGISTER;
    }

    /* gcc on Apple's i386 numbers them as an older debugger did */
    if (f->in->is_apple && f->in->is_eh && f->in->arch == SYM_UNWIND_X86
        && (number == 4 || number == 5))
    {
        return 9 - (unsigned) number;
    }

    return f->arch->names[number] != NULL ? (unsigned) number
                                          : SYM_UNWIND_NO_REGISTER;
}


static void
set_rule(sym_frame_run_t *r, uint64_t number, sym_cfi_rule_t rule)
{
    const unsigned n = register_of(r->f, number);

    if (n != SYM_UNWIND_NO_REGISTER) {
        r->rules.rule[n] = rule;
        r->rules.has |= UINT64_C(1) << n;
    }
}


static void
drop_rule(sym_frame_run_t *r, uint64_t number)
{
    const unsigned n = register_of(r->f, number);

    if (n != SYM_UNWIND_NO_REGISTER) {
        r->rules.has &= ~(UINT64_C(1) << n);
    }
}


static void
restore_rule(sym_frame_run_t *r, uint64_t number)
{
    const unsigned n = register_of(r->f, number);

    if (n == SYM_UNWIND_NO_REGISTER) {
        return;
    }

    drop_rule(r, number);
    if ((r->cie->initial.has >> n & 1) != 0) {
        set_rule(r, number, r->cie->initial.rule[n]);
    }
}


/* DW_CFA_same_value: callee-saved registers need no rule for it. */
static void
keep_register(sym_frame_run_t *r, uint64_t number)
{
    const unsigned n = register_of(r->f, number);

    drop_rule(r, number);
    if (n != SYM_UNWIND_NO_REGISTER && (r->f->arch->saved >> n & 1) == 0) {
        set_rule(
            r, number,
            (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER, .base = (uint8_t) n });
    }
}


static void
move_register(sym_frame_run_t *r, uint64_t number, uint64_t from)
{
    const unsigned n = register_of(r->f, from);

    if (n == SYM_UNWIND_NO_REGISTER) {
        set_rule(r, number, (sym_cfi_rule_t){ .how = SYM_CFI_UNDEFINED });
    } else {
        set_rule(
            r, number,
            (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER, .base = (uint8_t) n });
    }
}


static sym_cfi_rule_t
offset_rule(sym_cfi_how_t how, const sym_cie_t *cie, int64_t factor)
{
    return (sym_cfi_rule_t){
        .how = how,
        .offset = (int64_t) ((uint64_t) factor * (uint64_t) cie->data_align),
    };
}


/* Reads a block that is an expression.  needs_cfa: the stack begins with the
 * CFA. */
static sym_cfi_rule_t
expression_rule(sym_frame_run_t *r, sym_cursor_t *c, sym_cfi_how_t how,
                bool needs_cfa)
{
    sym_frames_t *f = r->f;
    const sym_cursor_t block = sym_take(c, sym_uleb(c));
    sym_cfi_rule_t rule = { .how = SYM_CFI_UNDEFINED };

    f->code.len = 0;
    if (needs_cfa) {
        sym_code_op(&f->code, SYM_CFI_OP_GET_CFA);
    }

    if (sym_ok(c)
        && sym_expression_compile(block, f->arch->word_bytes, &f->code)) {
        rule.how = how;
        rule.program = sym_arena_copy(
            &f->programs, sym_str((const char *) f->code.data, f->code.len));
        if (rule.program.data == NULL) {
            sym_cursor_fail(c, SYM_LIMIT, "too many expressions");
        }
    }

    return rule;
}


static void
define_cfa(sym_frame_run_t *r, sym_cursor_t *c, uint64_t number, int64_t offset)
{
    const unsigned n = register_of(r->f, number);

    if (n == SYM_UNWIND_NO_REGISTER) {
        sym_cursor_fail(c, SYM_UNSUPPORTED, "the CFA needs another register");
        return;
    }

    r->rules.cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                                     .base = (uint8_t) n,
                                     .offset = offset };
}


static void
change_cfa(sym_frame_run_t *r, sym_cursor_t *c, bool is_register,
           uint64_t number, int64_t offset)
{
    if (r->rules.cfa.how != SYM_CFI_REGISTER) {
        sym_cursor_fail(c, SYM_MALFORMED, "the CFA is not a register's");
        return;
    }

    if (is_register) {
        define_cfa(r, c, number, r->rules.cfa.offset);
    } else {
        r->rules.cfa.offset = offset;
    }
}


/* --- rows --- */

/* Uses the rule of the return address for the program counter.  False: there is
 * none. */
static bool
find_return(sym_frame_run_t *r, sym_cfi_rules_t *rules)
{
    const unsigned n = register_of(r->f, r->cie->ra), pc = r->f->arch->pc;
    const uint64_t bit = UINT64_C(1) << pc;

    if (n == SYM_UNWIND_NO_REGISTER || rules->cfa.how == SYM_CFI_UNDEFINED) {
        return false;
    }

    if (n != pc) {
        rules->has |= bit;
        rules->rule[pc] = (rules->has >> n & 1) != 0
                              ? rules->rule[n]
                              : (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                                                  .base = (uint8_t) n };
    }

    return (rules->has & bit) != 0;
}


/* Passes on the rules up to an address. */
void
sym_frame_pass_row(sym_frame_run_t *r, sym_cursor_t *c, uint64_t end)
{
    const uint64_t base = r->f->in->image_base;
    sym_cfi_rules_t rules;
    uint32_t number;

    end = end < r->end ? end : r->end;
    if (end <= r->location || r->location < base) {
        return;
    }

    rules = r->rules;
    if (find_return(r, &rules)
        && (sym_cfi_writer_rules(r->f->w, &rules, &number) != SYM_OK
            || sym_cfi_writer_range(r->f->w, r->location - base, end - base,
                                    number)
                   != SYM_OK))
    {
        sym_cursor_fail(c, r->f->err->status, "rules are not kept");
    }
}


static void
advance(sym_frame_run_t *r, sym_cursor_t *c, uint64_t delta)
{
    const uint64_t to = r->location + delta * r->cie->code_align;

    if (r->is_initial || to < r->location) {
        sym_cursor_fail(c, SYM_MALFORMED, "a location runs backwards");
        return;
    }

    sym_frame_pass_row(r, c, to);
    r->location = to;
}


/* --- programs --- */

static void
set_location(sym_frame_run_t *r, sym_cursor_t *c)
{
    const uint64_t to = sym_frames_address(r->f, r->cie, c);

    if (sym_ok(c) && (r->is_initial || to < r->location)) {
        sym_cursor_fail(c, SYM_MALFORMED, "a location runs backwards");
        return;
    }

    sym_frame_pass_row(r, c, to);
    r->location = to;
}


static void
change_state(sym_frame_run_t *r, sym_cursor_t *c, uint8_t op)
{
    if (op == CFA_REMEMBER_STATE) {
        if (r->n_states == SYM_FRAME_STATES_MAX) {
            sym_cursor_fail(c, SYM_LIMIT, "too many remembered states");
        } else {
            r->states[r->n_states++] = r->rules;
        }
    } else if (r->n_states == 0) {
        sym_cursor_fail(c, SYM_MALFORMED, "no state was remembered");
    } else {
        r->rules = r->states[--r->n_states];
    }
}


static void
run_location(sym_frame_run_t *r, sym_cursor_t *c, uint8_t op)
{
    switch (op) {
    case CFA_SET_LOC:
        set_location(r, c);
        break;
    case CFA_ADVANCE_LOC1:
        advance(r, c, sym_u8(c));
        break;
    case CFA_ADVANCE_LOC2:
        advance(r, c, sym_u16(c));
        break;
    case CFA_ADVANCE_LOC4:
        advance(r, c, sym_u32(c));
        break;
    default:
        advance(r, c, sym_u64(c));
    }
}


static void
run_cfa(sym_frame_run_t *r, sym_cursor_t *c, uint8_t op)
{
    const int64_t align = r->cie->data_align;
    uint64_t number = 0;

    switch (op) {
    case CFA_DEF_CFA:
        number = sym_uleb(c);
        define_cfa(r, c, number, (int64_t) sym_uleb(c));
        break;
    case CFA_DEF_CFA_SF:
        number = sym_uleb(c);
        define_cfa(r, c, number,
                   (int64_t) ((uint64_t) sym_sleb(c) * (uint64_t) align));
        break;
    case CFA_DEF_CFA_REGISTER:
        change_cfa(r, c, true, sym_uleb(c), 0);
        break;
    case CFA_DEF_CFA_OFFSET:
        change_cfa(r, c, false, 0, (int64_t) sym_uleb(c));
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        change_cfa(r, c, false, 0,
                   (int64_t) ((uint64_t) sym_sleb(c) * (uint64_t) align));
        break;
    default:
        r->rules.cfa = expression_rule(r, c, SYM_CFI_VALUE, false);
    }
}


/* Handles operations whose first operand is a register. */
static void
run_register(sym_frame_run_t *r, sym_cursor_t *c, uint8_t op)
{
    const uint64_t number = sym_uleb(c);

    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_rule(r, number,
                 offset_rule(SYM_CFI_AT_CFA, r->cie, (int64_t) sym_uleb(c)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_rule(r, number, offset_rule(SYM_CFI_AT_CFA, r->cie, sym_sleb(c)));
        break;
    case CFA_GNU_NEGATIVE_OFFSET:
        set_rule(
            r, number,
            offset_rule(SYM_CFI_AT_CFA, r->cie, (int64_t) (0 - sym_uleb(c))));
        break;
    case CFA_VAL_OFFSET:
        set_rule(r, number,
                 offset_rule(SYM_CFI_CFA, r->cie, (int64_t) sym_uleb(c)));
        break;
    case CFA_VAL_OFFSET_SF:
        set_rule(r, number, offset_rule(SYM_CFI_CFA, r->cie, sym_sleb(c)));
        break;
    case CFA_RESTORE_EXTENDED:
        restore_rule(r, number);
        break;
    case CFA_UNDEFINED:
        set_rule(r, number, (sym_cfi_rule_t){ .how = SYM_CFI_UNDEFINED });
        break;
    case CFA_SAME_VALUE:
        keep_register(r, number);
        break;
    case CFA_REGISTER:
        move_register(r, number, sym_uleb(c));
        break;
    case CFA_EXPRESSION:
        set_rule(r, number, expression_rule(r, c, SYM_CFI_AT_VALUE, true));
        break;
    default:
        set_rule(r, number, expression_rule(r, c, SYM_CFI_VALUE, true));
    }
}


static void
run_extended(sym_frame_run_t *r, sym_cursor_t *c, uint8_t op)
{
    switch (op) {
    case CFA_NOP:
    case CFA_GNU_WINDOW_SAVE:
        break;
    case CFA_GNU_ARGS_SIZE:
        (void) sym_uleb(c);
        break;
    case CFA_SET_LOC:
    case CFA_ADVANCE_LOC1:
    case CFA_ADVANCE_LOC2:
    case CFA_ADVANCE_LOC4:
    case CFA_MIPS_ADVANCE_LOC8:
        run_location(r, c, op);
        break;
    case CFA_REMEMBER_STATE:
    case CFA_RESTORE_STATE:
        change_state(r, c, op);
        break;
    case CFA_DEF_CFA:
    case CFA_DEF_CFA_SF:
    case CFA_DEF_CFA_REGISTER:
    case CFA_DEF_CFA_OFFSET:
    case CFA_DEF_CFA_OFFSET_SF:
    case CFA_DEF_CFA_EXPRESSION:
        run_cfa(r, c, op);
        break;
    case CFA_OFFSET_EXTENDED:
    case CFA_RESTORE_EXTENDED:
    case CFA_UNDEFINED:
    case CFA_SAME_VALUE:
    case CFA_REGISTER:
    case CFA_EXPRESSION:
    case CFA_OFFSET_EXTENDED_SF:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
    case CFA_VAL_EXPRESSION:
    case CFA_GNU_NEGATIVE_OFFSET:
        run_register(r, c, op);
        break;
    default:
        sym_cursor_fail(c, SYM_UNSUPPORTED,
                        "an unknown call frame instruction");
    }
}


void
sym_frame_run(sym_frame_run_t *r, sym_cursor_t *c)
{
    const size_t len = sym_left(c);

    if (len > r->f->work_left) {
        (void) sym_fail(r->f->err, SYM_LIMIT,
                        "functions share too many call frame instructions");
        sym_cursor_fail(c, SYM_LIMIT, "too many call frame instructions");
        return;
    }

    r->f->work_left -= len;

    while (sym_left(c) > 0) {
        const uint8_t byte = sym_u8(c), low = byte & 0x3f;

        switch (byte & 0xc0) {
        case CFA_ADVANCE_LOC:
            advance(r, c, low);
            break;
        case CFA_OFFSET:
            set_rule(
                r, low,
                offset_rule(SYM_CFI_AT_CFA, r->cie, (int64_t) sym_uleb(c)));
            break;
        case CFA_RESTORE:
            restore_rule(r, low);
            break;
        default:
            run_extended(r, c, byte);
        }
    }
}
