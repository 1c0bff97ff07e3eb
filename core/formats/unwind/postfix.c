#include "formats/unwind/postfix.h"

#include "base/hex.h"
#include "formats/unwind/code.h"

#define STACK_MAX 32

/* An entry of the stack.  Names and numbers become operations when they are
 * used, because only then it is known whether a name is read or assigned. */
typedef enum { VALUE, NUMBER, REGISTER, VARIABLE, CFA, CALLEE } entry_type_t;

typedef struct {
    entry_type_t type; /* VALUE: on the stack of the compiled program */
    int64_t number;    /* also the number of a register or a slot */
} entry_t;

typedef struct {
    sym_unwind_arch_t arch;
    const sym_frame_sizes_t *sizes; /* NULL: the text is an expression */
    sym_buffer_t *code;
    entry_t stack[STACK_MAX];
    unsigned n;
    sym_str_t variables[SYM_CFI_SLOTS];
    unsigned n_variables;
} compiler_t;


static sym_str_t
next_word(sym_str_t *text)
{
    size_t start = 0, end;

    while (start < text->len && (uint8_t) text->data[start] <= ' ') {
        start++;
    }

    for (end = start; end < text->len && (uint8_t) text->data[end] > ' ';) {
        end++;
    }

    sym_str_t word = sym_str(text->data + start, end - start);

    *text = sym_str(text->data + end, text->len - end);
    return word;
}


static bool
push(compiler_t *c, entry_type_t type, int64_t number)
{
    if (c->n == STACK_MAX) {
        return false;
    }

    c->stack[c->n++] = (entry_t){ type, number };
    return true;
}


static void
put_entry(compiler_t *c, const entry_t *e)
{
    switch (e->type) {
    case NUMBER:
        sym_code_const(c->code, e->number);
        break;
    case REGISTER:
        sym_code_op8(c->code, SYM_CFI_OP_GET, (unsigned) e->number);
        break;
    case VARIABLE:
        sym_code_op8(c->code, SYM_CFI_OP_LOAD, (unsigned) e->number);
        break;
    case CFA:
        sym_code_op(c->code, SYM_CFI_OP_GET_CFA);
        break;
    case CALLEE:
        sym_code_op(c->code, SYM_CFI_OP_CALLEE_PARAMETERS);
        break;
    default:
        break;
    }
}


/* --- words --- */

static bool
read_number(sym_str_t word, int64_t *value)
{
    const bool is_negative = sym_str_starts(word, SYM_STR("-"));
    uint64_t number;

    if (is_negative) {
        word = sym_str(word.data + 1, word.len - 1);
    }

    if (!sym_dec_read(word, &number) || number > INT64_MAX) {
        return false;
    }

    *value = is_negative ? -(int64_t) number : (int64_t) number;
    return true;
}


static bool
push_variable(compiler_t *c, sym_str_t word)
{
    for (unsigned i = 0; i < c->n_variables; i++) {
        if (sym_str_eq(c->variables[i], word)) {
            return push(c, VARIABLE, i);
        }
    }

    if (c->n_variables == SYM_CFI_SLOTS) {
        return false;
    }

    c->variables[c->n_variables] = word;
    return push(c, VARIABLE, c->n_variables++);
}


/* Names of STACK WIN. */
static bool
push_size(compiler_t *c, sym_str_t word)
{
    if (sym_str_eq(word, SYM_STR(".cbParams"))) {
        return push(c, NUMBER, c->sizes->parameters);
    }

    if (sym_str_eq(word, SYM_STR(".cbSavedRegs"))) {
        return push(c, NUMBER, c->sizes->saved_registers);
    }

    if (sym_str_eq(word, SYM_STR(".cbLocals"))) {
        return push(c, NUMBER, c->sizes->locals);
    }

    if (sym_str_eq(word, SYM_STR(".cbCalleeParams"))) {
        return push(c, CALLEE, 0);
    }

    /* names of the same address */
    return push_variable(c, sym_str_eq(word, SYM_STR(".raSearchStart"))
                                ? SYM_STR(".raSearch")
                                : word);
}


static bool
push_word(compiler_t *c, sym_str_t word)
{
    unsigned number;
    int64_t value;

    if (read_number(word, &value)) {
        return push(c, NUMBER, value);
    }

    if (c->sizes == NULL && sym_str_eq(word, SYM_STR(".cfa"))) {
        return push(c, CFA, 0);
    }

    number = sym_unwind_register(c->arch, word);
    if (number != SYM_UNWIND_NO_REGISTER) {
        return push(c, REGISTER, number);
    }

    return c->sizes != NULL && push_size(c, word);
}


/* --- operators --- */

static bool
put_binary(compiler_t *c, sym_cfi_op_t op)
{
    entry_t *a, *b;

    if (c->n < 2) {
        return false;
    }

    b = &c->stack[--c->n];
    a = &c->stack[c->n - 1];

    if (a->type != VALUE && b->type == VALUE) {
        put_entry(c, a);
        sym_code_op(c->code, SYM_CFI_OP_SWAP);
    } else {
        put_entry(c, a);
        put_entry(c, b);
    }

    sym_code_op(c->code, op);
    *a = (entry_t){ VALUE, 0 };
    return true;
}


static bool
put_read(compiler_t *c)
{
    if (c->n == 0) {
        return false;
    }

    put_entry(c, &c->stack[c->n - 1]);
    sym_code_op8(c->code, SYM_CFI_OP_READ,
                 sym_unwind_arch(c->arch)->word_bytes);
    c->stack[c->n - 1] = (entry_t){ VALUE, 0 };
    return true;
}


static bool
put_assignment(compiler_t *c)
{
    const entry_t *to, *value;

    if (c->sizes == NULL || c->n < 2) {
        return false;
    }

    value = &c->stack[--c->n];
    to = &c->stack[--c->n];
    if (to->type != REGISTER && to->type != VARIABLE) {
        return false;
    }

    put_entry(c, value);
    sym_code_op8(c->code,
                 to->type == REGISTER ? SYM_CFI_OP_SET : SYM_CFI_OP_STORE,
                 (unsigned) to->number);
    return true;
}


static bool
put_word(compiler_t *c, sym_str_t word)
{
    if (word.len == 1) {
        switch (word.data[0]) {
        case '+':
            return put_binary(c, SYM_CFI_OP_ADD);
        case '-':
            return put_binary(c, SYM_CFI_OP_SUB);
        case '*':
            return put_binary(c, SYM_CFI_OP_MUL);
        case '/':
            return put_binary(c, SYM_CFI_OP_DIV);
        case '%':
            return put_binary(c, SYM_CFI_OP_MOD);
        case '@':
            return put_binary(c, SYM_CFI_OP_ALIGN);
        case '^':
            return put_read(c);
        case '=':
            return put_assignment(c);
        default:
            break;
        }
    }

    return push_word(c, word);
}


static bool
compile(compiler_t *c, sym_str_t text)
{
    sym_str_t word;

    for (word = next_word(&text); word.len != 0; word = next_word(&text)) {
        if (!put_word(c, word)) {
            return false;
        }
    }

    return true;
}


/* --- expressions --- */

/* Most rules: "REGISTER", "REGISTER NUMBER +", and both with "^" after them. */
static bool
read_simple(sym_unwind_arch_t arch, sym_str_t text, sym_cfi_rule_t *rule)
{
    sym_str_t base = next_word(&text), word = next_word(&text), sign;
    const bool is_cfa = sym_str_eq(base, SYM_STR(".cfa"));
    const unsigned number = is_cfa ? 0 : sym_unwind_register(arch, base);
    int64_t offset = 0;
    bool is_read;

    if (read_number(word, &offset)) {
        sign = next_word(&text);
        word = next_word(&text);

        if (sym_str_eq(sign, SYM_STR("-"))) {
            offset = -offset;
        } else if (!sym_str_eq(sign, SYM_STR("+"))) {
            return false;
        }
    }

    is_read = sym_str_eq(word, SYM_STR("^"));
    if (number == SYM_UNWIND_NO_REGISTER || (word.len != 0 && !is_read)
        || next_word(&text).len != 0)
    {
        return false;
    }

    *rule = (sym_cfi_rule_t){
        .how = is_cfa ? (is_read ? SYM_CFI_AT_CFA : SYM_CFI_CFA)
                      : (is_read ? SYM_CFI_AT_REGISTER : SYM_CFI_REGISTER),
        .base = (uint8_t) number,
        .offset = offset,
    };
    return true;
}


bool
sym_postfix_rule(sym_unwind_arch_t arch, sym_str_t text, sym_buffer_t *code,
                 sym_cfi_rule_t *rule)
{
    compiler_t c = { .arch = arch, .code = code };
    sym_str_t rest = text;

    if (read_simple(arch, text, rule)) {
        return true;
    }

    if (sym_str_eq(next_word(&rest), SYM_STR(".undef"))) {
        *rule = (sym_cfi_rule_t){ .how = SYM_CFI_UNDEFINED };
        return true;
    }

    if (!compile(&c, text) || c.n != 1) {
        return false;
    }

    put_entry(&c, &c.stack[0]);
    *rule = (sym_cfi_rule_t){
        .how = SYM_CFI_VALUE,
        .program = { (const char *) code->data, code->len },
    };
    return true;
}


/* --- programs of x86 --- */

static unsigned
x86_register(const char *name)
{
    return sym_unwind_register(SYM_UNWIND_X86, sym_cstr(name));
}


/* Computes the end of the frame: below it are locals, saved registers, and the
 * callee's parameters; above it is the return address. */
static void
put_frame_end(const sym_frame_sizes_t *sizes, sym_buffer_t *code)
{
    sym_code_op8(code, SYM_CFI_OP_GET, x86_register("esp"));
    sym_code_const(code, (int64_t) sizes->saved_registers + sizes->locals);
    sym_code_op(code, SYM_CFI_OP_ADD);
    sym_code_op(code, SYM_CFI_OP_CALLEE_PARAMETERS);
    sym_code_op(code, SYM_CFI_OP_ADD);
}


/* The search for the return address begins at the end of the frame.  If the
 * program aligns the frame, it begins above the saved EBP. */
static void
put_search_start(sym_str_t text, compiler_t *c)
{
    if (memchr(text.data, '@', text.len) != NULL) {
        sym_code_op8(c->code, SYM_CFI_OP_GET, x86_register("ebp"));
        sym_code_const(c->code, 4);
        sym_code_op(c->code, SYM_CFI_OP_ADD);
    } else {
        put_frame_end(c->sizes, c->code);
    }

    sym_code_op8(c->code, SYM_CFI_OP_STORE, 0);
    c->variables[c->n_variables++] = SYM_STR(".raSearch");
}


bool
sym_postfix_program(sym_str_t text, const sym_frame_sizes_t *sizes,
                    sym_buffer_t *code)
{
    compiler_t c = { .arch = SYM_UNWIND_X86, .sizes = sizes, .code = code };

    if (text.len != 0
        && memmem(text.data, text.len, ".raSearch", strlen(".raSearch"))
               != NULL)
    {
        put_search_start(text, &c);
    }

    return compile(&c, text) && code->len != 0;
}


void
sym_postfix_fpo(const sym_frame_sizes_t *sizes, bool uses_base_pointer,
                sym_buffer_t *code)
{
    put_frame_end(sizes, code);
    sym_code_op8(code, SYM_CFI_OP_STORE, 0);

    if (uses_base_pointer) {
        sym_code_op8(code, SYM_CFI_OP_GET, x86_register("esp"));
        sym_code_op(code, SYM_CFI_OP_CALLEE_PARAMETERS);
        sym_code_op(code, SYM_CFI_OP_ADD);
        sym_code_const(code, (int64_t) sizes->saved_registers - 8);
        sym_code_op(code, SYM_CFI_OP_ADD);
        sym_code_op8(code, SYM_CFI_OP_READ, 4);
        sym_code_op8(code, SYM_CFI_OP_SET, x86_register("ebp"));
    }

    sym_code_op8(code, SYM_CFI_OP_LOAD, 0);
    sym_code_op8(code, SYM_CFI_OP_READ, 4);
    sym_code_op8(code, SYM_CFI_OP_SET, x86_register("eip"));
    sym_code_op8(code, SYM_CFI_OP_LOAD, 0);
    sym_code_const(code, 4);
    sym_code_op(code, SYM_CFI_OP_ADD);
    sym_code_op8(code, SYM_CFI_OP_SET, x86_register("esp"));
}
