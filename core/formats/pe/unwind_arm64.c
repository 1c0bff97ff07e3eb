#include "formats/pe/file.h"
#include "formats/pe/unwind.h"

/* Lowest two bits of an entry's second word. */
#define FULL 0
#define PACKED 1
#define PACKED_FRAGMENT 2

#define INSTRUCTION 4
#define CODES_MAX 1024

#define FP 29
#define LR 30
#define SP 31
#define PC 32
#define NO_REGISTER 0xff

/* The effect of an instruction of a prolog.  It lowers SP, saves one or two
 * registers from SP on, or points X29 into the frame. */
typedef struct {
    uint32_t alloc;
    uint8_t first, second; /* saved registers; NO_REGISTER: none */
    uint16_t at;           /* offset of the first one from the new SP */
    bool sets_frame;
    uint16_t frame_at; /* offset to which X29 points */
    bool is_next;      /* saves the next pair of registers */
    bool is_only_prolog;
} step_t;

static const step_t no_step = { .first = NO_REGISTER, .second = NO_REGISTER };

typedef struct {
    step_t steps[CODES_MAX]; /* in the order of the codes: the prolog's last
                                step is first */
    unsigned n;
    unsigned n_local; /* steps before end_c; the others have always run */
} steps_t;


/* --- codes --- */

static step_t
save_step(uint32_t alloc, unsigned first, unsigned second, unsigned at)
{
    return (step_t){ .alloc = alloc,
                     .first = (uint8_t) first,
                     .second = (uint8_t) second,
                     .at = (uint16_t) at };
}


static step_t
alloc_step(uint32_t bytes)
{
    step_t s = no_step;

    s.alloc = bytes;
    return s;
}


static step_t
frame_step(unsigned at)
{
    step_t s = no_step;

    s.sets_frame = true;
    s.frame_at = (uint16_t) at;
    return s;
}


/* save_fregp, save_fregp_x, save_freg, save_freg_x: vector registers are not
 * tracked, but two of these codes lower SP. */
static uint32_t
vector_alloc(unsigned code)
{
    switch (code >> 9 & 3) {
    case 1:
        return 8 * ((code & 0x3f) + 1);
    case 3:
        return 8 * ((code & 0x1f) + 1);
    default:
        return 0;
    }
}


/* Codes of two bytes, which begin with 0xc0 or more. */
static bool
read_two_bytes(unsigned code, step_t *s)
{
    const unsigned z = code & 0x3f, x = code >> 6 & 0xf;

    if (code < 0xc800) { /* alloc_m */
        *s = alloc_step(16 * (code & 0x7ff));
    } else if (code < 0xcc00) { /* save_regp */
        *s = save_step(0, 19 + x, 20 + x, 8 * z);
    } else if (code < 0xd000) { /* save_regp_x */
        *s = save_step(8 * (z + 1), 19 + x, 20 + x, 0);
    } else if (code < 0xd400) { /* save_reg */
        *s = save_step(0, 19 + x, NO_REGISTER, 8 * z);
    } else if (code < 0xd600) { /* save_reg_x */
        *s = save_step(8 * ((code & 0x1f) + 1), 19 + (code >> 5 & 0xf),
                       NO_REGISTER, 0);
    } else if (code < 0xd800) { /* save_lrpair */
        *s = save_step(0, 19 + 2 * (code >> 6 & 7), LR, 8 * z);
    } else if (code < 0xdf00) {
        *s = alloc_step(vector_alloc(code));
    } else {
        return false;
    }

    return true;
}


typedef enum { STEP, END, END_C, BAD } code_type_t;

/* Codes that begin with 0xe0 or more. */
static code_type_t
read_long(sym_cursor_t *c, uint8_t code, step_t *s)
{
    *s = no_step;

    switch (code) {
    case 0xe0: /* alloc_l: 24 bits, big endian */
    {
        const uint32_t high = sym_u8(c), middle = sym_u8(c);

        *s = alloc_step(16 * (high << 16 | middle << 8 | sym_u8(c)));
        return STEP;
    }
    case 0xe1: /* set_fp */
        *s = frame_step(0);
        return STEP;
    case 0xe2: /* add_fp */
        *s = frame_step(8u * sym_u8(c));
        return STEP;
    case 0xe3: /* nop */
    case 0xec: /* clear_unwound_to_call */
    case 0xfc: /* pac_sign_lr */
        return STEP;
    case 0xe4:
        return END;
    case 0xe5:
        return END_C;
    case 0xe6: /* save_next */
        s->is_next = true;
        return STEP;
    case 0xe7: /* save_any_reg, for vector registers: not tracked */
        (void) sym_u16(c);
        return STEP;
    default: /* frames of traps, and machine contexts */
        return BAD;
    }
}


static code_type_t
read_code(sym_cursor_t *c, step_t *s)
{
    const uint8_t code = sym_u8(c);

    if (code < 0x20) { /* alloc_s */
        *s = alloc_step(16u * code);
    } else if (code < 0x40) { /* save_r19r20_x */
        *s = save_step(8u * (code & 0x1f), 19, 20, 0);
    } else if (code < 0x80) { /* save_fplr */
        *s = save_step(0, FP, LR, 8u * (code & 0x3f));
    } else if (code < 0xc0) { /* save_fplr_x */
        *s = save_step(8u * ((code & 0x3fu) + 1), FP, LR, 0);
    } else if (code < 0xe0) {
        return read_two_bytes((unsigned) code << 8 | sym_u8(c), s) ? STEP : BAD;
    } else {
        return read_long(c, code, s);
    }

    return STEP;
}


/* Reads codes up to the end code. */
static bool
read_steps(sym_cursor_t c, steps_t *to)
{
    bool has_parent = false;

    to->n = 0;
    for (;;) {
        const code_type_t type = read_code(&c, &to->steps[to->n]);

        if (!sym_ok(&c) || type == BAD || to->n == CODES_MAX - 1) {
            return false;
        }

        if (type == STEP) {
            to->n++;
        } else if (!has_parent) {
            to->n_local = to->n;
        }

        if (type == END) {
            return true;
        }

        has_parent |= type == END_C;
    }
}


/* --- rules --- */

static void
set_rule(sym_cfi_rules_t *r, unsigned n, sym_cfi_rule_t rule)
{
    if (n < SYM_UNWIND_REGISTERS) {
        r->has |= UINT64_C(1) << n;
        r->rule[n] = rule;
    }
}


static void
save(sym_cfi_rules_t *r, unsigned n, int64_t offset)
{
    set_rule(r, n, (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA, .offset = offset });
}


/* The rules after the instructions of steps[n - 1] down to steps[first]. */
static bool
rules_after(sym_pe_unwind_t *u, const steps_t *s, unsigned first, unsigned n,
            sym_cfi_rules_t *r)
{
    unsigned pair = NO_REGISTER;
    int64_t size = 0, pair_at = 0;

    if (n - first > u->work_left) {
        return false;
    }

    u->work_left -= n - first;
    *r = (sym_cfi_rules_t){ .program = { "", 0 } };
    r->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER, .base = SP };
    set_rule(r, PC, (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER, .base = LR });

    for (unsigned i = n; i-- > first;) {
        const step_t *step = &s->steps[i];

        size += step->alloc;

        if (step->is_next && pair != NO_REGISTER) {
            pair += 2;
            pair_at += 16;
            save(r, pair, pair_at - size);
            save(r, pair + 1, pair_at + 8 - size);
        }

        if (step->first != NO_REGISTER) {
            pair = step->first;
            pair_at = step->at;
            save(r, step->first, step->at - size);
        }

        if (step->second != NO_REGISTER) {
            save(r, step->second, step->at + 8 - size);
        }

        if (step->first == LR || step->second == LR) {
            set_rule(r, PC, r->rule[LR]);
        }

        if (step->sets_frame) {
            r->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                                       .base = FP,
                                       .offset = size - step->frame_at };
        } else if (r->cfa.base == SP) {
            r->cfa.offset = size;
        }
    }

    return true;
}


static void
pass(sym_pe_unwind_t *u, const sym_pe_function_t *f, const sym_cfi_rules_t *r,
     uint64_t from, uint64_t to)
{
    uint32_t number;

    to = to < f->end ? to : f->end;
    if (from < to && sym_cfi_writer_rules(u->w, r, &number) == SYM_OK) {
        (void) sym_cfi_writer_range(u->w, from, to, number);
    }
}


/* Passes on the rules before each instruction of the prolog, and those of the
 * body. */
static bool
pass_prolog(sym_pe_unwind_t *u, const sym_pe_function_t *f, const steps_t *s,
            bool has_prolog)
{
    uint64_t at = f->begin;
    sym_cfi_rules_t r;

    for (unsigned left = has_prolog ? s->n_local : 0;; left--) {
        if (!rules_after(u, s, left, s->n, &r)) {
            return false;
        }

        pass(u, f, &r, at, left != 0 ? at + INSTRUCTION : f->end);
        at += INSTRUCTION;

        if (left == 0) {
            return true;
        }
    }
}


/* Passes on the rules before each instruction of an epilog.  The last
 * instruction returns. */
static bool
pass_epilog(sym_pe_unwind_t *u, const sym_pe_function_t *f, const steps_t *s,
            uint64_t at)
{
    sym_cfi_rules_t r;

    for (unsigned i = 0; i <= s->n_local; i++) {
        if (!rules_after(u, s, i, s->n, &r)) {
            return false;
        }

        pass(u, f, &r, at, at + INSTRUCTION);
        at += INSTRUCTION;
    }

    return true;
}


/* --- .xdata --- */

typedef struct {
    uint32_t n_epilogs; /* if is_single, the first code of the epilog */
    bool is_single;     /* the one epilog is at the end of the function */
    sym_cursor_t epilogs, codes;
} record_t;

static bool
read_record(const sym_pe_t *pe, uint32_t rva, record_t *r, sym_error_t *err)
{
    const sym_str_t bytes = sym_pe_at(pe, rva);
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "exception data", err);
    const uint32_t head = sym_u32(&c);
    uint32_t n_words = head >> 27;

    r->is_single = (head >> 21 & 1) != 0;
    r->n_epilogs = head >> 22 & 0x1f;

    if (n_words == 0 && r->n_epilogs == 0) {
        const uint32_t more = sym_u32(&c);

        r->n_epilogs = more & 0xffff;
        n_words = more >> 16 & 0xff;
    }

    r->epilogs = sym_take(&c, r->is_single ? 0 : 4 * (uint64_t) r->n_epilogs);
    r->codes = sym_take(&c, 4 * (uint64_t) n_words);
    r->codes.start = r->codes.pos;
    return sym_ok(&c) && (head >> 18 & 3) == 0;
}


static bool
read_epilog(sym_pe_unwind_t *u, const sym_pe_function_t *f, const record_t *r,
            uint32_t first, int64_t at, steps_t *s)
{
    sym_cursor_t codes = r->codes;

    (void) sym_bytes(&codes, first);
    if (!sym_ok(&codes) || !read_steps(codes, s)) {
        return false;
    }

    return pass_epilog(u, f, s,
                       at >= 0 ? (uint64_t) at
                               : f->end - INSTRUCTION * (s->n_local + 1ull));
}


static bool
read_full(sym_pe_unwind_t *u, const sym_pe_function_t *f, steps_t *s)
{
    sym_error_t err = { 0 };
    record_t r;

    if (!read_record(u->pe, f->unwind, &r, &err) || !read_steps(r.codes, s)
        || !pass_prolog(u, f, s, true))
    {
        return false;
    }

    if (r.is_single) {
        return read_epilog(u, f, &r, r.n_epilogs, -1, s);
    }

    while (sym_left(&r.epilogs) > 0) {
        const uint32_t scope = sym_u32(&r.epilogs);
        const int64_t at =
            (int64_t) f->begin + INSTRUCTION * (int64_t) (scope & 0x3ffff);

        if (!read_epilog(u, f, &r, scope >> 22, at, s)) {
            return false;
        }
    }

    return true;
}


/* --- packed entries --- */

typedef struct {
    unsigned n_fp, n_int, cr; /* RegF, RegI, CR */
    bool homes;               /* H: X0 to X7 are stored, too */
    uint32_t size;
} packed_t;

/* Steps in the order of execution; the caller reverses them. */
static void
add(steps_t *s, step_t step)
{
    s->steps[s->n++] = step;
}


/* The first store also lowers SP by the size of the save area. */
static void
add_saves(steps_t *s, const packed_t *p, uint32_t area)
{
    const unsigned n_fp = p->n_fp != 0 ? p->n_fp + 1 : 0;
    unsigned at = 0;

    for (unsigned i = 0; i < p->n_int; i += 2) {
        const bool is_pair = i + 1 < p->n_int;
        const bool has_lr = !is_pair && p->cr == 1;

        add(s, save_step(at == 0 ? area : 0, 19 + i,
                         is_pair  ? 20 + i
                         : has_lr ? LR
                                  : NO_REGISTER,
                         at));
        at += is_pair || has_lr ? 16 : 8;
    }

    if (p->cr == 1 && p->n_int % 2 == 0) {
        add(s, save_step(at == 0 ? area : 0, LR, NO_REGISTER, at));
        at += 8;
    }

    for (unsigned i = 0; i < n_fp; i += 2) {
        add(s, alloc_step(at == 0 ? area : 0));
        at += i + 1 < n_fp ? 16 : 8;
    }

    for (unsigned i = 0; p->homes && i < 4; i++) {
        step_t step = alloc_step(at == 0 ? area : 0);

        step.is_only_prolog = at != 0;
        add(s, step);
        at += 16;
    }
}


static void
add_locals(steps_t *s, const packed_t *p, uint32_t size)
{
    const bool is_chained = p->cr >= 2;

    if (is_chained && size <= 512) {
        add(s, save_step(size, FP, LR, 0));
    } else {
        if (size > 4080) {
            add(s, alloc_step(4080));
            add(s, alloc_step(size - 4080));
        } else if (size != 0) {
            add(s, alloc_step(size));
        }

        if (is_chained) {
            add(s, save_step(0, FP, LR, 0));
        }
    }

    if (is_chained) {
        step_t step = frame_step(0);

        step.is_only_prolog = true;
        add(s, step);
    }
}


static void
reverse(steps_t *s)
{
    for (unsigned i = 0; i < s->n / 2; i++) {
        const step_t step = s->steps[i];

        s->steps[i] = s->steps[s->n - 1 - i];
        s->steps[s->n - 1 - i] = step;
    }

    s->n_local = s->n;
}


static void
drop_prolog_only(steps_t *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->n; i++) {
        if (!s->steps[i].is_only_prolog) {
            s->steps[n++] = s->steps[i];
        }
    }

    s->n = n;
    s->n_local = n;
}


static bool
read_packed(sym_pe_unwind_t *u, const sym_pe_function_t *f, steps_t *s)
{
    const packed_t p = { .n_fp = f->unwind >> 13 & 7,
                         .n_int = f->unwind >> 16 & 0xf,
                         .cr = f->unwind >> 21 & 3,
                         .homes = (f->unwind >> 20 & 1) != 0,
                         .size = 16 * (f->unwind >> 23) };
    const uint32_t n_fp = p.n_fp != 0 ? p.n_fp + 1 : 0;
    const uint32_t area =
        (8 * (p.n_int + (p.cr == 1) + n_fp) + (p.homes ? 64u : 0) + 15u) & ~15u;

    if (p.n_int > 10 || area > p.size) {
        return false;
    }

    s->n = 0;
    if (p.cr == 2) {
        add(s, no_step); /* pacibsp */
    }

    add_saves(s, &p, area);
    add_locals(s, &p, p.size - area);
    reverse(s);

    if ((f->unwind & 3) == PACKED_FRAGMENT) {
        return pass_prolog(u, f, s, false);
    }

    if (!pass_prolog(u, f, s, true)) {
        return false;
    }

    drop_prolog_only(s);
    return pass_epilog(u, f, s, f->end - INSTRUCTION * (s->n_local + 1ull));
}


bool
sym_pe_unwind_arm64(sym_pe_unwind_t *u, const sym_pe_function_t *f)
{
    steps_t s;

    switch (f->unwind & 3) {
    case FULL:
        return read_full(u, f, &s);
    case PACKED:
    case PACKED_FRAGMENT:
        return read_packed(u, f, &s);
    default:
        return false;
    }
}
