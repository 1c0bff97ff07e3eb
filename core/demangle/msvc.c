/*
 * msvc.c - writes a decorated name of Microsoft's compilers as Sentry's
 * Symbolicator shows it: without return type, access, calling convention and
 * "class", as in "A<B<int> >", "char const*", "f(int, void*) const".
 *
 * C declares from the inside out: one part of a type precedes the declared
 * name, and another part follows it.
 */
#include "demangle/msvc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle/languages.h"

/* Limit on the parts that are written for a name.  A shared part counts each
 * time. */
#define WORK_MAX 16384u

typedef struct {
    char *out;
    size_t len, size;
    unsigned work;
    bool is_over; /* the buffer is full, or too many parts were written */
    bool has_arguments;
} writer_t;

static void put_symbol(writer_t *w, const sym_msvc_symbol_t *s);
static void put_before(writer_t *w, const sym_msvc_type_t *t);
static void put_behind(writer_t *w, const sym_msvc_type_t *t);


/* --- text --- */

static void
put(writer_t *w, sym_str_t text)
{
    if (text.len > w->size - w->len) {
        w->is_over = true;
        return;
    }

    if (text.len != 0) {
        memcpy(w->out + w->len, text.data, text.len);
        w->len += text.len;
    }
}


__attribute__((format(printf, 2, 3))) static void
put_format(writer_t *w, const char *format, ...)
{
    char text[128];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put(w, sym_str(text, (size_t) len));
}


static char
last(const writer_t *w)
{
    if (w->len == 0) {
        return '\0';
    }

    return w->out[w->len - 1];
}


/* Separates a type, or its "*" or "&", from the next text. */
static void
put_space(writer_t *w)
{
    char c = last(w);

    if (c != '\0' && strchr(" (<:`", c) == NULL) {
        put(w, SYM_STR(" "));
    }
}


static bool
may_work(writer_t *w)
{
    if (w->work == 0) {
        w->is_over = true;
    }

    return !w->is_over && w->work-- != 0;
}


/* --- types --- */

static void
put_types(writer_t *w, const sym_msvc_types_t *types)
{
    bool is_first = true;

    for (; types != NULL && may_work(w); types = types->next) {
        if (types->type->kind == SYM_MSVC_NOTHING) {
            continue;
        }

        if (!is_first) {
            put(w, SYM_STR(", "));
        }

        is_first = false;
        put_before(w, types->type);
        put_behind(w, types->type);
    }
}


static void
put_qualifiers(writer_t *w, uint8_t qualifiers)
{
    static const struct {
        uint8_t bit;
        const char *text;
    } all[] = {
        { SYM_MSVC_CONST, "const" },         { SYM_MSVC_VOLATILE, "volatile" },
        { SYM_MSVC_RESTRICT, "__restrict" }, { SYM_MSVC_LVALUE, "&" },
        { SYM_MSVC_RVALUE, "&&" },
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (qualifiers & all[i].bit) {
            put_space(w);
            put(w, sym_cstr(all[i].text));
        }
    }
}


static void
put_arguments(writer_t *w, const sym_msvc_type_t *f)
{
    put(w, SYM_STR("("));
    put_types(w, f->arguments);
    put(w, SYM_STR(")"));
    put_qualifiers(w, f->qualifiers);
}


/* Pointers to arrays and functions need parentheses: "int (*)[3]". */
static bool
is_behind(const sym_msvc_type_t *t)
{
    return t != NULL
           && (t->kind == SYM_MSVC_FUNCTION || t->kind == SYM_MSVC_ARRAY);
}


/* Writes the scope and a final "::". */
static void
put_class(writer_t *w, const sym_msvc_symbol_t *class)
{
    put_symbol(w, class);
    put(w, SYM_STR("::"));
}


static void
put_pointer(writer_t *w, const sym_msvc_type_t *t)
{
    if (is_behind(t->of)) {
        put_before(w, t->of->kind == SYM_MSVC_FUNCTION ? t->of->of : t->of);
        put_space(w);
        put(w, SYM_STR("("));
    } else {
        put_before(w, t->of);
    }

    if (t->kind == SYM_MSVC_MEMBER) {
        put_space(w);
        put_class(w, t->symbol);
    }

    put(w, t->text);
}


static void
put_integer(writer_t *w, const sym_msvc_type_t *t)
{
    put_format(w, "%s%" PRIu64, t->is_negative ? "-" : "", t->n);
}


/* Writes the part of a type that precedes the declared name. */
static void
put_before(writer_t *w, const sym_msvc_type_t *t)
{
    if (t == NULL || !may_work(w)) {
        return; /* constructors have no return type */
    }

    switch (t->kind) {
    case SYM_MSVC_SIMPLE:
        put(w, t->text);
        break;
    case SYM_MSVC_NAMED:
        put_symbol(w, t->symbol);
        break;
    case SYM_MSVC_POINTER:
    case SYM_MSVC_MEMBER:
        put_pointer(w, t);
        break;
    case SYM_MSVC_ARRAY:
        put_before(w, t->of);
        break;
    case SYM_MSVC_FUNCTION:
        put_before(w, t->of);
        put_space(w);
        return; /* the function's qualifiers follow the arguments */
    case SYM_MSVC_METHOD:
        put_before(w, t->of);
        put_space(w);
        put(w, SYM_STR("("));
        put_class(w, t->symbol);
        put(w, SYM_STR("*"));
        return;
    case SYM_MSVC_INTEGER:
        put_integer(w, t);
        break;
    case SYM_MSVC_PARAMETER:
        put(w, SYM_STR("`template-parameter"));
        put_integer(w, t);
        put(w, SYM_STR("'"));
        break;
    case SYM_MSVC_ADDRESS:
        put(w, SYM_STR("&"));
        put_symbol(w, t->symbol);
        break;
    case SYM_MSVC_NOTHING:
        break;
    }

    put_qualifiers(w, t->qualifiers);
}


static void
put_behind(writer_t *w, const sym_msvc_type_t *t)
{
    if (t == NULL || !may_work(w)) {
        return;
    }

    switch (t->kind) {
    case SYM_MSVC_FUNCTION:
        put_arguments(w, t);
        put_behind(w, t->of);
        break;
    case SYM_MSVC_METHOD:
        put(w, SYM_STR(")"));
        put_arguments(w, t);
        put_behind(w, t->of);
        break;
    case SYM_MSVC_POINTER:
    case SYM_MSVC_MEMBER:
        if (is_behind(t->of)) {
            put(w, SYM_STR(")"));
        }
        put_behind(w, t->of);
        break;
    case SYM_MSVC_ARRAY:
        put(w, SYM_STR("["));
        put_integer(w, t);
        put(w, SYM_STR("]"));
        put_behind(w, t->of);
        break;
    default:
        break;
    }
}


/* --- names --- */

/* Writes a name that is a part of a scope. */
static void
put_name(writer_t *w, const sym_msvc_name_t *name)
{
    if (name == NULL || !may_work(w)) {
        return;
    }

    switch (name->kind) {
    case SYM_MSVC_TEXT:
    case SYM_MSVC_CONVERSION:
        put(w, name->text);
        break;
    case SYM_MSVC_TEMPLATE:
        put_name(w, name->of);
        put(w, SYM_STR("<"));
        put_types(w, name->arguments);
        put(w, last(w) == '>' ? SYM_STR(" >") : SYM_STR(">"));
        break;
    case SYM_MSVC_CONSTRUCTOR: /* outside of any class */
        put(w, SYM_STR("ctor"));
        break;
    case SYM_MSVC_DESTRUCTOR:
        put(w, SYM_STR("dtor"));
        break;
    case SYM_MSVC_LITERAL:
        put(w, SYM_STR("operator \"\""));
        put(w, name->text);
        break;
    case SYM_MSVC_GUARD:
        put(w, name->text);
        if (name->n[1] != 0) {
            put_format(w, "{%" PRId64 "}", name->n[0]);
        }
        break;
    case SYM_MSVC_NUMBER:
        put_format(w, "`%" PRId64 "'", name->n[0]);
        break;
    case SYM_MSVC_SYMBOL:
        put(w, SYM_STR("`"));
        put_symbol(w, name->symbol);
        put(w, SYM_STR("'"));
        break;
    case SYM_MSVC_INTERFACE:
        put(w, SYM_STR("["));
        put(w, name->text);
        put(w, SYM_STR("]"));
        break;
    case SYM_MSVC_VBTABLE:
        put(w, SYM_STR("`vbtable'{for `"));
        break;
    case SYM_MSVC_RTTI_TYPE:
        put_before(w, name->type);
        put_behind(w, name->type);
        put(w, SYM_STR("::`RTTI Type Descriptor'"));
        break;
    case SYM_MSVC_RTTI_BASE:
        put_format(w,
                   "`RTTI Base Class Descriptor at (%" PRId64 ", %" PRId64
                   ", %" PRId64 ", %" PRId64 ")'",
                   name->n[0], name->n[1], name->n[2], name->n[3]);
        break;
    }
}


static void
put_scope(writer_t *w, const sym_msvc_names_t *scope)
{
    for (; scope != NULL; scope = scope->next) {
        put_name(w, scope->name);
        if (scope->next != NULL) {
            put(w, SYM_STR("::"));
        }
    }
}


/* Writes the last part of the name.  For constructors and destructors it
 * repeats the innermost scope. */
static void
put_last_name(writer_t *w, const sym_msvc_symbol_t *s,
              const sym_msvc_name_t *name)
{
    switch (name->kind) {
    case SYM_MSVC_DESTRUCTOR:
    case SYM_MSVC_CONSTRUCTOR:
        if (name->kind == SYM_MSVC_DESTRUCTOR) {
            put(w, SYM_STR("~"));
        }
        if (s->inner == NULL) {
            put(w, SYM_STR("[invalid]"));
        }
        put_name(w, s->inner);
        break;
    case SYM_MSVC_CONVERSION:
        if (s->function == NULL) {
            put_name(w, name);
            break;
        }
        put(w, SYM_STR("operator "));
        put_before(w, s->function->of);
        put_behind(w, s->function->of);
        break;
    default:
        put_name(w, name);
    }
}


static void
put_encoding(writer_t *w, const sym_msvc_symbol_t *s)
{
    switch (s->encoding) {
    case SYM_MSVC_BARE:
        break;
    case SYM_MSVC_CALLABLE:
        put_arguments(w, s->function);
        break;
    case SYM_MSVC_VFTABLE:
        if (s->bases != NULL) {
            put(w, SYM_STR("{for `"));
            put_scope(w, s->bases);
            put(w, SYM_STR("'}"));
        }
        break;
    case SYM_MSVC_VBASES:
        put_scope(w, s->bases);
        put(w, SYM_STR("'}"));
        break;
    case SYM_MSVC_VCALL:
        put_format(w, "{%" PRIu64 ", {flat}}", s->offset);
        break;
    }
}


static void
put_symbol(writer_t *w, const sym_msvc_symbol_t *s)
{
    if (!may_work(w)) {
        return;
    }

    put_scope(w, s->scope);
    if (s->scope != NULL) {
        put(w, SYM_STR("::"));
    }

    if (s->name != NULL) {
        put_last_name(w, s, s->name);
    }

    if (w->has_arguments) {
        put_encoding(w, s);
    }
}


size_t
sym_demangle_msvc(const char *name, size_t len, bool has_arguments, char *out,
                  size_t size)
{
    const size_t bytes = SYM_MSVC_MEMORY_ANY + len * SYM_MSVC_MEMORY_EACH;
    writer_t w = { .out = out,
                   .size = size,
                   .work = WORK_MAX,
                   .has_arguments = has_arguments };
    void *memory = malloc(bytes);
    const sym_msvc_symbol_t *symbol;

    if (memory == NULL) {
        return 0;
    }

    symbol = sym_msvc_parse(sym_str(name, len), memory, bytes);
    if (symbol != NULL) {
        put_symbol(&w, symbol);
    }

    free(memory);
    return w.is_over ? 0 : w.len;
}
