#include "formats/pe/epilog.h"
#include "formats/pe/file.h"
#include "formats/pe/unwind.h"

/* UNWIND_CODE.UnwindOp */
enum {
    PUSH_NONVOL,
    ALLOC_LARGE,
    ALLOC_SMALL,
    SET_FPREG,
    SAVE_NONVOL,
    SAVE_NONVOL_FAR,
    EPILOG, /* version 2 only; version 1 never used it */
    SPARE,
    SAVE_XMM128,
    SAVE_XMM128_FAR,
    PUSH_MACHFRAME,
    OPS
};

#define FLAG_CHAINED 4u

/* The other bits are the RVA of another entry, not of unwind information. */
#define INDIRECT 1u

#define CHAIN_MAX 32
#define CODES_MAX 255

const uint8_t sym_pe_x64_registers[16] = { 0, 2, 1,  3,  7,  6,  4,  5,
                                           8, 9, 10, 11, 12, 13, 14, 15 };

#define RSP 7
#define RIP 16

typedef struct {
    uint8_t offset; /* offset of the end of the instruction in the function */
    uint8_t op, info;
    uint32_t value; /* value in the slots after the code */
} code_t;

/* UNWIND_INFO.  Codes are in the order of its slots: the last instruction is
 * first. */
typedef struct {
    uint8_t frame_register, frame_offset;
    unsigned n;
    code_t codes[CODES_MAX];
    bool is_chained;
    sym_pe_function_t parent;
} info_t;

/* The stack after some instructions.  CFA = RSP + size. */
typedef struct {
    sym_cfi_rules_t rules;
    int64_t size;
    bool has_frame;     /* then CFA = frame register + frame_size */
    int64_t frame_size; /* distance of the CFA from the frame register */
    int64_t saves_from; /* distance of the CFA from the base of SAVE_NONVOL */
} stack_t;


static bool
read_code(sym_cursor_t *c, code_t *code, unsigned *slots)
{
    static const uint8_t needs[OPS] = { 1, 2, 1, 1, 2, 3, 2, 3, 2, 3, 1 };
    uint8_t byte;
    unsigned n;

    code->offset = sym_u8(c);
    byte = sym_u8(c);
    code->op = byte & 0xf;
    code->info = byte >> 4;
    code->value = 0;

    if (code->op >= OPS) {
        return false;
    }

    n = (unsigned) needs[code->op]
        + (code->op == ALLOC_LARGE && code->info != 0 ? 1u : 0u);
    if (n > *slots) {
        return false;
    }

    *slots -= n;
    if (n == 2) {
        code->value = sym_u16(c);
    } else if (n == 3) {
        code->value = sym_u32(c);
    }

    return sym_ok(c);
}


static bool
read_parent(sym_cursor_t *c, sym_pe_function_t *parent)
{
    parent->begin = sym_u32(c);
    parent->end = sym_u32(c);
    parent->unwind = sym_u32(c);
    return sym_ok(c);
}


static bool
read_info(const sym_pe_t *pe, uint32_t unwind, info_t *info)
{
    sym_error_t err = { 0 };
    const sym_str_t bytes = sym_pe_at(pe, unwind & ~INDIRECT);
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "exception table", &err),
                 codes;
    unsigned slots;
    uint8_t head, frame;

    info->n = 0;
    info->frame_register = 0;
    info->frame_offset = 0;
    info->is_chained = (unwind & INDIRECT) != 0;
    if (info->is_chained) {
        return read_parent(&c, &info->parent);
    }

    head = sym_u8(&c);
    (void) sym_u8(&c);
    slots = sym_u8(&c);
    frame = sym_u8(&c);
    codes = sym_take(&c, 2 * (uint64_t) slots);
    (void) sym_bytes(&c, slots % 2 != 0 ? 2 : 0);
    info->frame_register = frame & 0xf;
    info->frame_offset = frame >> 4;
    info->is_chained = (head >> 3 & FLAG_CHAINED) != 0;

    if (!sym_ok(&c) || (head & 7) == 0 || (head & 7) > 2) {
        return false;
    }

    while (slots > 0) {
        if (!read_code(&codes, &info->codes[info->n++], &slots)) {
            return false;
        }
    }

    return !info->is_chained || read_parent(&c, &info->parent);
}


/* --- rules --- */

static void
save(stack_t *s, unsigned number, int64_t offset)
{
    const unsigned n = sym_pe_x64_registers[number & 0xf];

    s->rules.has |= UINT64_C(1) << n;
    s->rules.rule[n] =
        (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA, .offset = offset };
}


/* The stack before the first instruction. */
static void
begin(stack_t *s)
{
    s->rules =
        (sym_cfi_rules_t){ .program = { "", 0 }, .has = UINT64_C(1) << RIP };
    s->rules.rule[RIP] =
        (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA, .offset = -8 };
    s->size = 8;
    s->has_frame = false;
    s->frame_size = 0;
}


static uint32_t
allocation(const code_t *c)
{
    return c->op == ALLOC_SMALL ? 8u * c->info + 8u
           : c->info == 0       ? 8 * c->value
                                : c->value;
}


/* The processor has pushed a frame: perhaps an error code, then RIP, CS, flags,
 * RSP, SS. */
static void
push_machine_frame(stack_t *s, bool has_error_code)
{
    s->size = has_error_code ? 16 : 8;
    s->rules.is_signal = true;
    s->rules.has |= UINT64_C(1) << RSP;
    s->rules.rule[RSP] =
        (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA, .offset = 16 };
}


static void
apply(stack_t *s, const info_t *info, const code_t *c)
{
    switch (c->op) {
    case PUSH_NONVOL:
        s->size += 8;
        save(s, c->info, -s->size);
        break;
    case ALLOC_LARGE:
    case ALLOC_SMALL:
        s->size += allocation(c);
        break;
    case SET_FPREG:
        s->has_frame = true;
        s->frame_size = s->size - 16 * (int64_t) info->frame_offset;
        break;
    case SAVE_NONVOL:
        save(s, c->info, 8 * (int64_t) c->value - s->saves_from);
        break;
    case SAVE_NONVOL_FAR:
        save(s, c->info, (int64_t) c->value - s->saves_from);
        break;
    case PUSH_MACHFRAME:
        push_machine_frame(s, c->info != 0);
        break;
    default:
        break;
    }
}


/* The base of saved registers: RSP after all allocations, or when the frame
 * register is set. */
static int64_t
saves_from(const stack_t *s, const info_t *info)
{
    int64_t size = s->size;

    for (unsigned i = info->n; i-- > 0;) {
        const code_t *c = &info->codes[i];

        size += c->op == PUSH_NONVOL ? 8 : 0;
        size +=
            c->op == ALLOC_LARGE || c->op == ALLOC_SMALL ? allocation(c) : 0;
        if (c->op == SET_FPREG) {
            break;
        }
    }

    return size;
}


static void
pass(sym_pe_unwind_t *u, stack_t *s, const info_t *info, uint64_t from,
     uint64_t to)
{
    uint32_t number;

    s->rules.cfa = (sym_cfi_rule_t){
        .how = SYM_CFI_REGISTER,
        .base = s->has_frame ? sym_pe_x64_registers[info->frame_register] : RSP,
        .offset = s->has_frame ? s->frame_size : s->size,
    };

    if (from < to && sym_cfi_writer_rules(u->w, &s->rules, &number) == SYM_OK) {
        (void) sym_cfi_writer_range(u->w, from, to, number);
    }
}


/* Applies the codes of the parents, all of which have run, from the root on. */
static bool
apply_parents(sym_pe_unwind_t *u, info_t *infos, unsigned n, stack_t *s)
{
    while (n-- > 1) {
        const info_t *info = &infos[n];

        if (info->n > u->work_left) {
            return false;
        }

        u->work_left -= info->n;
        s->saves_from = saves_from(s, info);
        for (unsigned i = info->n; i-- > 0;) {
            if (info->codes[i].op != EPILOG) {
                apply(s, info, &info->codes[i]);
            }
        }
    }

    return true;
}


/* Refuses a chain of more steps than linkers make. */
#define CHAIN_KEPT 8

static void
find_epilogs(sym_pe_unwind_t *u, const sym_pe_function_t *f,
             const info_t *infos, unsigned n, const stack_t *s)
{
    sym_pe_frame_t frame = { .size = s->size,
                             .has_frame = s->has_frame,
                             .frame_register = infos[0].frame_register,
                             .frame_size = s->frame_size };

    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < infos[i].n; k++) {
            const code_t *c = &infos[i].codes[k];

            /* no prolog pushes a register twice; a machine frame is left by
             * other instructions */
            if ((c->op == PUSH_NONVOL && frame.n == SYM_PE_PUSHES_MAX)
                || c->op == PUSH_MACHFRAME)
            {
                return;
            }

            if (c->op == PUSH_NONVOL) {
                frame.pushed[frame.n++] = c->info;
            }
        }
    }

    sym_pe_epilogs(u, f, &frame);
}


bool
sym_pe_unwind_x64(sym_pe_unwind_t *u, const sym_pe_function_t *f)
{
    info_t infos[CHAIN_KEPT];
    uint32_t unwind = f->unwind;
    uint64_t from = f->begin;
    unsigned n = 0;
    stack_t s;

    do {
        if (n == CHAIN_KEPT || !read_info(u->pe, unwind, &infos[n])) {
            return false;
        }

        unwind = infos[n].parent.unwind;
    } while (infos[n++].is_chained);

    begin(&s);
    if (!apply_parents(u, infos, n, &s) || infos[0].n > u->work_left) {
        return false;
    }

    /* a part without a frame register has its parent's */
    for (unsigned i = 0; i < n && infos[0].frame_register == 0; i++) {
        infos[0].frame_register = infos[i].frame_register;
        infos[0].frame_offset = infos[i].frame_offset;
    }

    u->work_left -= infos[0].n;
    s.saves_from = saves_from(&s, &infos[0]);

    for (unsigned i = infos[0].n; i-- > 0;) {
        const code_t *c = &infos[0].codes[i];
        const uint64_t at = (uint64_t) f->begin + c->offset;

        if (c->op == EPILOG) {
            continue;
        }

        /* the processor has pushed these values before the first instruction */
        if (c->op != PUSH_MACHFRAME) {
            pass(u, &s, &infos[0], from, at < f->end ? at : f->end);
            from = at > from ? at : from;
        }

        apply(&s, &infos[0], c);
    }

    pass(u, &s, &infos[0], from, f->end);
    find_epilogs(u, f, infos, n, &s);
    return true;
}
