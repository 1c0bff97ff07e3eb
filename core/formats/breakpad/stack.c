#include "formats/breakpad/stack.h"

#include "formats/unwind/postfix.h"

/* Limit on the programs of a function.  A hostile one may change its programs
 * at each address. */
#define PROGRAMS_MAX ((size_t) 1 << 20)

/* Types of STACK WIN records; other types have no rules.  If a function has
 * frame data and an FPO record, the frame data win. */
#define WIN_FPO 0
#define WIN_FRAME_DATA 4

#define KEY_INIT SYM_STR("STACK CFI INIT ")
#define KEY_CFI SYM_STR("STACK CFI ")
#define KEY_WIN SYM_STR("STACK WIN ")


void
sym_stack_init(sym_stack_t *s, sym_cfi_writer_t *writer, sym_unwind_arch_t arch,
               sym_error_t *err)
{
    *s = (sym_stack_t){ .writer = writer, .arch = arch, .err = err };
    sym_arena_init(&s->arena, PROGRAMS_MAX);
}


void
sym_stack_free(sym_stack_t *s)
{
    sym_arena_drop(&s->arena);
    sym_buffer_free(&s->code);
}


/* --- STACK CFI --- */

/* Passes on the rules up to an address. */
static sym_status_t
pass_rules(sym_stack_t *s, uint64_t end)
{
    const uint64_t pc = UINT64_C(1) << sym_unwind_arch(s->arch)->pc;
    uint32_t number;

    end = end < s->end ? end : s->end;

    /* the rules of CFA and program counter must be known */
    if (end <= s->start || s->rules.cfa.how == SYM_CFI_UNDEFINED
        || (s->rules.has & pc) == 0)
    {
        return SYM_OK;
    }

    if (sym_cfi_writer_rules(s->writer, &s->rules, &number) == SYM_OK) {
        (void) sym_cfi_writer_range(s->writer, s->start, end, number);
    }

    return s->err->status;
}


/* The next word if it is the name of a register, such as "$rbp:". */
static bool
next_name(sym_fields_t *f, sym_str_t *name)
{
    sym_fields_t ahead = *f;

    *name = sym_fields_word(&ahead);
    if (name->len < 2 || name->data[name->len - 1] != ':') {
        return false;
    }

    *f = ahead;
    name->len--;
    return true;
}


/* The words up to the next register name. */
static sym_str_t
next_expression(sym_fields_t *f)
{
    const char *start = f->pos;
    sym_fields_t ahead = *f;
    sym_str_t name;

    while (f->pos < f->end && !next_name(&ahead, &name)) {
        (void) sym_fields_word(&ahead);
        *f = ahead;
    }

    return sym_str(start, (size_t) (f->pos - start));
}


/* The rule of the register with this name.  NULL: rules of this register are
 * not kept. */
static sym_cfi_rule_t *
rule_of(sym_stack_t *s, sym_str_t name)
{
    unsigned number;

    if (sym_str_eq(name, SYM_STR(".cfa"))) {
        return &s->rules.cfa;
    }

    number = sym_str_eq(name, SYM_STR(".ra"))
                 ? sym_unwind_arch(s->arch)->pc
                 : sym_unwind_register(s->arch, name);
    if (number >= SYM_UNWIND_REGISTERS) {
        return NULL;
    }

    s->rules.has |= UINT64_C(1) << number;
    return &s->rules.rule[number];
}


/* False: the record is unusable. */
static bool
read_rules(sym_stack_t *s, sym_fields_t *f)
{
    sym_str_t name, text;
    sym_cfi_rule_t rule, *to;

    while (next_name(f, &name)) {
        text = next_expression(f);
        s->code.len = 0;
        to = rule_of(s, name);

        if (to == NULL) {
            continue;
        }

        if (!sym_postfix_rule(s->arch, text, &s->code, &rule) || s->code.failed)
        {
            return false;
        }

        if (rule.program.len != 0) {
            rule.program = sym_arena_copy(&s->arena, rule.program);
            if (rule.program.data == NULL) {
                return false;
            }
        }

        *to = rule;
    }

    return sym_fields_ok(f) && f->pos == f->end;
}


static void
drop(sym_stack_t *s)
{
    s->dropped++;
    s->is_open = false;
}


static sym_status_t
read_init(sym_stack_t *s, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, KEY_INIT.len);
    const uint64_t addr = sym_fields_hex(&f, SYM_HEX_FIELD("address")),
                   size = sym_fields_hex(&f, SYM_HEX_FIELD("size"));

    if (sym_stack_end(s) != SYM_OK) {
        return s->err->status;
    }

    sym_arena_reset(&s->arena);
    s->rules = (sym_cfi_rules_t){ .program = { "", 0 } };
    s->start = addr;
    s->end = size <= UINT64_MAX - addr ? addr + size : UINT64_MAX;
    s->is_open = read_rules(s, &f);
    s->dropped += !s->is_open;
    return SYM_OK;
}


static sym_status_t
read_cfi(sym_stack_t *s, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, KEY_CFI.len);
    const uint64_t addr = sym_fields_hex(&f, SYM_HEX_FIELD("address"));

    if (!s->is_open || !sym_fields_ok(&f)) {
        drop(s);
        return SYM_OK;
    }

    if (pass_rules(s, addr) != SYM_OK) {
        return s->err->status;
    }

    s->start = addr > s->start ? addr : s->start;
    if (!read_rules(s, &f)) {
        drop(s);
    }

    return SYM_OK;
}


sym_status_t
sym_stack_end(sym_stack_t *s)
{
    const bool is_open = s->is_open;

    s->is_open = false;
    return is_open ? pass_rules(s, UINT64_MAX) : SYM_OK;
}


/* --- STACK WIN --- */

static bool
compile_win(sym_stack_t *s, uint64_t type, sym_fields_t *f,
            const sym_frame_sizes_t *sizes)
{
    const uint64_t has_program =
        sym_fields_hex(f, SYM_HEX_FIELD("has_program"));

    s->code.len = 0;

    if (has_program != 0) {
        return type == WIN_FRAME_DATA
               && sym_postfix_program(sym_fields_rest(f), sizes, &s->code);
    }

    sym_postfix_fpo(sizes,
                    sym_fields_hex(f, SYM_HEX_FIELD("base pointer flag")) != 0,
                    &s->code);
    return true;
}


static sym_status_t
read_win(sym_stack_t *s, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, KEY_WIN.len);
    sym_cfi_rules_t rules = { .program = { "", 0 } };
    sym_frame_sizes_t sizes;
    uint64_t type, addr, size;
    uint32_t number;

    type = sym_fields_hex(&f, SYM_HEX_FIELD("type"));
    addr = sym_fields_hex(&f, SYM_HEX_FIELD("address"));
    size = sym_fields_hex(&f, SYM_HEX_FIELD("size"));
    (void) sym_fields_hex(&f, SYM_HEX_FIELD("prologue size"));
    (void) sym_fields_hex(&f, SYM_HEX_FIELD("epilogue size"));
    sizes.parameters =
        (uint32_t) sym_fields_hex(&f, SYM_HEX_FIELD("parameter size"));
    sizes.saved_registers =
        (uint32_t) sym_fields_hex(&f, SYM_HEX_FIELD("saved register size"));
    sizes.locals = (uint32_t) sym_fields_hex(&f, SYM_HEX_FIELD("local size"));
    (void) sym_fields_hex(&f, SYM_HEX_FIELD("max stack size"));

    if (s->arch != SYM_UNWIND_X86 || !sym_fields_ok(&f) || size > UINT32_MAX
        || addr > UINT32_MAX || (type != WIN_FPO && type != WIN_FRAME_DATA)
        || !compile_win(s, type, &f, &sizes) || !sym_fields_ok(&f))
    {
        s->dropped++;
        return SYM_OK;
    }

    if (s->code.failed) {
        return sym_fail(s->err, SYM_NOMEM, NULL);
    }

    rules.parameter_bytes = sizes.parameters;
    rules.program = sym_str((const char *) s->code.data, s->code.len);
    if (sym_cfi_writer_rules(s->writer, &rules, &number) == SYM_OK) {
        (void) (type == WIN_FPO ? sym_cfi_writer_fallback
                                : sym_cfi_writer_range)(s->writer, addr,
                                                        addr + size, number);
    }

    return s->err->status;
}


sym_status_t
sym_stack_line(sym_stack_t *s, sym_str_t line)
{
    if (s->arch == SYM_UNWIND_UNKNOWN) {
        s->dropped++;
        return SYM_OK;
    }

    if (sym_str_starts(line, KEY_INIT)) {
        return read_init(s, line);
    }

    if (sym_str_starts(line, KEY_CFI)) {
        return read_cfi(s, line);
    }

    return sym_str_starts(line, KEY_WIN) ? read_win(s, line) : SYM_OK;
}
