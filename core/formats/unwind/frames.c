#include "formats/unwind/frames.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "formats/unwind/code.h"
#include "formats/unwind/expression.h"

#define SECTION "call frame information"

/* DW_CFA_remember_state */
#define STATES_MAX 16

/* The program of a CIE is run again only after others; a hostile file could make
 * each FDE use another. */
#define CIES_KEPT 8
#define WORK_PER_BYTE 16
#define WORK_MIN ((uint64_t) 1 << 20)

/* Bytes of expressions, in addition to the section's own size. */
#define PROGRAMS_MIN ((size_t) 1 << 20)

/* LSB 5.0 Core, 10.5.1 */
#define PE_OMIT 0xff
#define PE_PCREL 0x10
#define PE_TEXTREL 0x20
#define PE_DATAREL 0x30
#define PE_ALIGNED 0x50
#define PE_INDIRECT 0x80

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
    CFA_GNU_WINDOW_SAVE = 0x2d, /* arm64: the return address is signed */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET = 0x2f,
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0
};

typedef struct {
    uint64_t offset; /* in the section; UINT64_MAX: free */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra; /* register */
    uint8_t encoding;
    uint8_t address_bytes;
    bool has_augmentation; /* its data has a length */
    sym_cfi_rules_t initial;
} cie_t;

typedef struct {
    const sym_frames_input_t *in;
    const sym_unwind_arch_row_t *arch;
    sym_cfi_writer_t *w;
    uint64_t work_left; /* bytes of programs */
    sym_arena_t programs;
    sym_buffer_t code;
    cie_t cies[CIES_KEPT];
    unsigned next_cie;
    sym_error_t *err; /* ends everything */
} frames_t;

/* The run of one program. */
typedef struct {
    frames_t *f;
    const cie_t *cie;
    sym_cfi_rules_t rules;
    sym_cfi_rules_t states[STATES_MAX];
    unsigned n_states;
    uint64_t location, end; /* as linked; end of the function */
    bool is_initial;        /* of a CIE: it has no locations */
} run_t;


/* --- numbers and addresses --- */

static sym_cursor_t
section_cursor(const frames_t *f, uint64_t offset, sym_error_t *err)
{
    sym_cursor_t c =
        sym_cursor(f->in->bytes.data, f->in->bytes.len, SECTION, err);

    c.is_big_endian = f->in->is_big_endian;
    (void) sym_bytes(&c, offset);
    return c;
}


static uint64_t
read_plain(sym_cursor_t *c, unsigned bytes)
{
    return bytes == 8 ? sym_u64(c) : bytes == 2 ? sym_u16(c) : sym_u32(c);
}


static uint64_t
read_format(sym_cursor_t *c, uint8_t format, unsigned address_bytes)
{
    switch (format) {
    case 0x00:
        return read_plain(c, address_bytes);
    case 0x01:
        return sym_uleb(c);
    case 0x02:
        return sym_u16(c);
    case 0x03:
        return sym_u32(c);
    case 0x04:
    case 0x0c:
        return sym_u64(c);
    case 0x09:
        return (uint64_t) sym_sleb(c);
    case 0x0a:
        return (uint64_t) (int16_t) sym_u16(c);
    case 0x0b:
        return (uint64_t) (int32_t) sym_u32(c);
    default:
        sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown encoding of addresses");
        return 0;
    }
}


static uint64_t
read_address(const frames_t *f, const cie_t *cie, sym_cursor_t *c)
{
    const uint64_t at = f->in->address + (uint64_t) (c->pos - c->start);
    uint64_t value = read_format(c, cie->encoding & 0x0f, cie->address_bytes);

    switch (cie->encoding & 0x70) {
    case 0:
        break;
    case PE_PCREL:
        value += at;
        break;
    case PE_TEXTREL:
        value += f->in->text;
        break;
    case PE_DATAREL:
        value += f->in->data;
        break;
    default:
        sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown base of addresses");
    }

    if ((cie->encoding & PE_INDIRECT) != 0) {
        sym_cursor_fail(c, SYM_UNSUPPORTED, "addresses are in another section");
    }

    return cie->address_bytes == 4 ? (uint32_t) value : value;
}


/* --- rules --- */

/* Our number of a register; SYM_UNWIND_NO_REGISTER: not kept. */
static unsigned
register_of(const frames_t *f, uint64_t number)
{
    /* numbers of the program counter that are ours alone */
    const bool is_own_pc = f->in->arch >= SYM_UNWIND_MIPS;

    if (number >= SYM_UNWIND_REGISTERS || (is_own_pc && number == f->arch->pc))
    {
        return SYM_UNWIND_NO_REGISTER;
    }

    /* gcc on Apple's i386 numbers them in the order of an older debugger */
    if (f->in->is_apple && f->in->is_eh && f->in->arch == SYM_UNWIND_X86
        && (number == 4 || number == 5))
    {
        return 9 - (unsigned) number;
    }

    return f->arch->names[number] != NULL ? (unsigned) number
                                          : SYM_UNWIND_NO_REGISTER;
}


static void
set_rule(run_t *r, uint64_t number, sym_cfi_rule_t rule)
{
    const unsigned n = register_of(r->f, number);

    if (n != SYM_UNWIND_NO_REGISTER) {
        r->rules.rule[n] = rule;
        r->rules.has |= UINT64_C(1) << n;
    }
}


static void
drop_rule(run_t *r, uint64_t number)
{
    const unsigned n = register_of(r->f, number);

    if (n != SYM_UNWIND_NO_REGISTER) {
        r->rules.has &= ~(UINT64_C(1) << n);
    }
}


static void
restore_rule(run_t *r, uint64_t number)
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


/* DW_CFA_same_value: a register that functions restore needs no rule. */
static void
keep_register(run_t *r, uint64_t number)
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
move_register(run_t *r, uint64_t number, uint64_t from)
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
offset_rule(sym_cfi_how_t how, const cie_t *cie, int64_t factor)
{
    return (sym_cfi_rule_t){
        .how = how,
        .offset = (int64_t) ((uint64_t) factor * (uint64_t) cie->data_align),
    };
}


/* A block that is an expression; the CFA is on its stack if needs_cfa. */
static sym_cfi_rule_t
expression_rule(run_t *r, sym_cursor_t *c, sym_cfi_how_t how, bool needs_cfa)
{
    frames_t *f = r->f;
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
define_cfa(run_t *r, sym_cursor_t *c, uint64_t number, int64_t offset)
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
change_cfa(run_t *r, sym_cursor_t *c, bool is_register, uint64_t number,
           int64_t offset)
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

/* The rule of the return address becomes that of the program counter.  False:
 * it has no rule. */
static bool
find_return(run_t *r, sym_cfi_rules_t *rules)
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
static void
pass_row(run_t *r, sym_cursor_t *c, uint64_t end)
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
advance(run_t *r, sym_cursor_t *c, uint64_t delta)
{
    const uint64_t to = r->location + delta * r->cie->code_align;

    if (r->is_initial || to < r->location) {
        sym_cursor_fail(c, SYM_MALFORMED, "a location runs backwards");
        return;
    }

    pass_row(r, c, to);
    r->location = to;
}


/* --- programs --- */

static void
set_location(run_t *r, sym_cursor_t *c)
{
    const uint64_t to = read_address(r->f, r->cie, c);

    if (sym_ok(c) && (r->is_initial || to < r->location)) {
        sym_cursor_fail(c, SYM_MALFORMED, "a location runs backwards");
        return;
    }

    pass_row(r, c, to);
    r->location = to;
}


static void
change_state(run_t *r, sym_cursor_t *c, uint8_t op)
{
    if (op == CFA_REMEMBER_STATE) {
        if (r->n_states == STATES_MAX) {
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
run_location(run_t *r, sym_cursor_t *c, uint8_t op)
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
run_cfa(run_t *r, sym_cursor_t *c, uint8_t op)
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


/* Operations whose first operand is a register. */
static void
run_register(run_t *r, sym_cursor_t *c, uint8_t op)
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
run_extended(run_t *r, sym_cursor_t *c, uint8_t op)
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


static void
run(run_t *r, sym_cursor_t *c)
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


/* --- entries --- */

typedef struct {
    uint64_t offset; /* of the entry, from its length */
    uint64_t id_at;  /* of the field after the length */
    uint64_t id;
    bool is_cie;
    sym_cursor_t c; /* after the id */
} entry_t;

/* Reads the next entry; false: the end of the table. */
static bool
next_entry(const frames_t *f, sym_cursor_t *c, entry_t *e)
{
    uint64_t len;
    unsigned bytes = 4;

    e->offset = (uint64_t) (c->pos - c->start);
    len = sym_u32(c);

    if (len == UINT32_MAX) {
        len = sym_u64(c);
        bytes = 8;
    }

    /* .eh_frame ends with an entry of no length */
    if (!sym_ok(c) || len == 0) {
        return false;
    }

    e->c = sym_take(c, len);
    e->id_at = (uint64_t) (e->c.pos - e->c.start);
    e->id = f->in->is_eh || bytes == 4 ? sym_u32(&e->c) : sym_u64(&e->c);
    e->is_cie = e->id
                == (f->in->is_eh ? 0
                    : bytes == 4 ? UINT32_MAX
                                 : UINT64_MAX);
    return sym_ok(c);
}


static void
read_augmentation(const frames_t *f, sym_cursor_t *c, sym_str_t letters,
                  cie_t *cie)
{
    sym_cursor_t data;

    cie->has_augmentation = letters.len != 0 && letters.data[0] == 'z';
    if (!cie->has_augmentation) {
        if (letters.len != 0) {
            sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown augmentation");
        }
        return;
    }

    data = sym_take(c, sym_uleb(c));

    for (size_t i = 1; i < letters.len && sym_ok(c); i++) {
        cie_t personality = *cie;

        switch (letters.data[i]) {
        case 'L':
            (void) sym_u8(&data);
            break;
        case 'P':
            personality.encoding = sym_u8(&data) & 0x0f; /* not followed */
            (void) read_address(f, &personality, &data);
            break;
        case 'R':
            cie->encoding = sym_u8(&data);
            break;
        case 'S':
        case 'B':
        case 'G':
            break;
        default:
            return; /* the rest is skipped by its length */
        }
    }
}


static sym_str_t
read_text(sym_cursor_t *c)
{
    const void *end = memchr(c->pos, '\0', sym_left(c));
    sym_str_t s;

    if (end == NULL) {
        sym_cursor_fail(c, SYM_TRUNCATED, "a text without an end");
        return SYM_STR("");
    }

    s = sym_bytes(c, (uint64_t) ((const uint8_t *) end - c->pos));
    (void) sym_u8(c);
    return s;
}


static bool
read_cie(frames_t *f, entry_t *e, cie_t *cie)
{
    sym_cursor_t *c = &e->c;
    const uint8_t version = sym_u8(c);
    const sym_str_t letters = read_text(c);
    run_t *r;

    *cie = (cie_t){ .offset = e->offset,
                    .address_bytes = f->in->is_64bit ? 8 : 4 };

    if (version == 4) {
        cie->address_bytes = sym_u8(c);
        (void) sym_u8(c); /* size of a segment selector */
    }

    if (version == 0 || version == 2 || version > 4
        || (cie->address_bytes != 4 && cie->address_bytes != 8))
    {
        sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown version of a CIE");
    }

    if (sym_str_eq(letters, SYM_STR("eh"))) {
        (void) read_plain(c, cie->address_bytes);
    }

    cie->code_align = sym_uleb(c);
    cie->data_align = sym_sleb(c);
    cie->ra = version == 1 ? sym_u8(c) : sym_uleb(c);
    read_augmentation(
        f, c, sym_str_eq(letters, SYM_STR("eh")) ? SYM_STR("") : letters, cie);

    r = sym_ok(c) ? calloc(1, sizeof(*r)) : NULL;
    if (r == NULL) {
        return false;
    }

    r->f = f;
    r->cie = cie;
    r->is_initial = true;
    run(r, c);
    cie->initial = r->rules;
    free(r);
    return sym_ok(c);
}


static const cie_t *
find_cie(frames_t *f, uint64_t offset, sym_error_t *err)
{
    sym_cursor_t c;
    entry_t e;
    cie_t *cie;

    for (unsigned i = 0; i < CIES_KEPT; i++) {
        if (f->cies[i].offset == offset) {
            return &f->cies[i];
        }
    }

    c = section_cursor(f, offset, err);
    cie = &f->cies[f->next_cie];
    cie->offset = UINT64_MAX;

    if (!next_entry(f, &c, &e) || !e.is_cie || !read_cie(f, &e, cie)) {
        (void) sym_fail(err, SYM_MALFORMED, "an FDE without a CIE");
        cie->offset = UINT64_MAX;
        return NULL;
    }

    f->next_cie = (f->next_cie + 1) % CIES_KEPT;
    return cie;
}


static void
read_fde(frames_t *f, entry_t *e, run_t *r, sym_error_t *err)
{
    const uint64_t offset = f->in->is_eh ? e->id_at - e->id : e->id;
    const cie_t *cie =
        f->in->is_eh && e->id > e->id_at ? NULL : find_cie(f, offset, err);
    sym_cursor_t *c = &e->c;
    uint64_t start, size;

    if (cie == NULL) {
        (void) sym_fail(err, SYM_MALFORMED, "an FDE without a CIE");
        return;
    }

    start = read_address(f, cie, c);
    size = read_format(c, cie->encoding & 0x0f, cie->address_bytes);

    if (cie->has_augmentation) {
        (void) sym_bytes(c, sym_uleb(c));
    }

    /* linkers leave the entries of functions that they drop */
    if (!sym_ok(c) || size == 0 || size > UINT64_MAX - start
        || (!f->in->is_eh && start == 0))
    {
        return;
    }

    r->f = f;
    r->cie = cie;
    r->rules = cie->initial;
    r->n_states = 0;
    r->location = start;
    r->end = start + size;
    r->is_initial = false;
    run(r, c);

    if (sym_ok(c)) {
        pass_row(r, c, r->end);
    }
}


static void
read_entries(frames_t *f, run_t *r, sym_frames_stats_t *stats)
{
    sym_error_t table = { 0 };
    sym_cursor_t c = section_cursor(f, 0, &table);
    entry_t e;

    while (sym_left(&c) > 0 && f->err->status == SYM_OK) {
        sym_error_t err = { 0 };

        if (!next_entry(f, &c, &e)) {
            /* a terminator in the middle is left by linkers of objects */
            if (!sym_ok(&c)) {
                break;
            }
            continue;
        }

        if (!e.is_cie) {
            stats->functions++;
            e.c.err = &err;
            read_fde(f, &e, r, &err);
        }

        if (err.status != SYM_OK && stats->broken++ == 0) {
            stats->first_broken = err;
        }
    }

    if (table.status != SYM_OK && stats->broken++ == 0) {
        stats->first_broken = table;
    }
}


sym_status_t
sym_frames_read(const sym_frames_input_t *in, sym_cfi_writer_t *w,
                sym_frames_stats_t *stats, sym_error_t *err)
{
    frames_t *f = calloc(1, sizeof(*f));
    run_t *r = calloc(1, sizeof(*r));

    if (f == NULL || r == NULL) {
        free(f);
        free(r);
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    f->in = in;
    f->arch = sym_unwind_arch(in->arch);
    f->w = w;
    f->work_left = WORK_MIN + WORK_PER_BYTE * in->bytes.len;
    f->err = err;
    sym_arena_init(&f->programs, PROGRAMS_MIN + 4 * in->bytes.len);

    for (unsigned i = 0; i < CIES_KEPT; i++) {
        f->cies[i].offset = UINT64_MAX;
    }

    if (in->arch != SYM_UNWIND_UNKNOWN) {
        read_entries(f, r, stats);
    }

    sym_arena_drop(&f->programs);
    sym_buffer_free(&f->code);
    free(f);
    free(r);
    return err->status;
}
