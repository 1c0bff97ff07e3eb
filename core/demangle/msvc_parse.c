/*
 * msvc_parse.c - reads a decorated name of Microsoft's compilers.
 *
 * Productions are named as in clang/lib/AST/MicrosoftMangle.cpp.  The file has
 * more than 800 lines because they are one recursive grammar: names contain
 * types, and types contain names.
 */
#include "demangle/msvc.h"

#include <string.h>

#define REFERENCES_MAX 10

typedef struct {
    sym_msvc_name_t *names[REFERENCES_MAX];
    sym_msvc_type_t *types[REFERENCES_MAX];
    unsigned n_names, n_types;
} references_t;

typedef struct {
    const char *pos, *end;
    char *memory, *memory_end;
    references_t references; /* the first ten names and types; each template
                                has its own */
    unsigned depth;
    bool failed;
} reader_t;

static sym_msvc_symbol_t *read_symbol(reader_t *r);
static sym_msvc_name_t *read_name_part(reader_t *r, bool is_scope,
                                       bool is_function);
static sym_msvc_type_t *read_type(reader_t *r, uint8_t qualifiers);

static const sym_str_t NO_TEXT = { NULL, 0 };


/* --- bytes and memory --- */

/* Ends the parse with a failure: later reads find the end of the name. */
static void
fail(reader_t *r)
{
    r->failed = true;
    r->pos = r->end;
}


/* NUL at the end of the name, which contains no NUL. */
static char
peek(const reader_t *r)
{
    if (r->pos == r->end) {
        return '\0';
    }

    return *r->pos;
}


static char
next(reader_t *r)
{
    if (r->pos == r->end) {
        fail(r);
        return '\0';
    }

    return *r->pos++;
}


static bool
take(reader_t *r, const char *text)
{
    size_t len = strlen(text);

    if ((size_t) (r->end - r->pos) < len || memcmp(r->pos, text, len) != 0) {
        return false;
    }

    r->pos += len;
    return true;
}


static void
expect(reader_t *r, const char *text)
{
    if (!take(r, text)) {
        fail(r);
    }
}


static void *
allocate(reader_t *r, size_t bytes)
{
    char *at = r->memory;

    bytes = (bytes + 15) & ~(size_t) 15;
    if (bytes > (size_t) (r->memory_end - at)) {
        fail(r);
        return NULL;
    }

    r->memory += bytes;
    memset(at, 0, bytes);
    return at;
}


static sym_msvc_name_t *
new_name(reader_t *r, sym_msvc_name_kind_t kind, sym_str_t text)
{
    sym_msvc_name_t *name = allocate(r, sizeof(*name));

    if (name != NULL) {
        name->kind = kind;
        name->text = text;
    }

    return name;
}


static sym_msvc_type_t *
new_type(reader_t *r, sym_msvc_type_kind_t kind, uint8_t qualifiers,
         sym_str_t text)
{
    sym_msvc_type_t *type = allocate(r, sizeof(*type));

    if (type != NULL) {
        type->kind = kind;
        type->qualifiers = qualifiers;
        type->text = text;
    }

    return type;
}


/* Enters a level of nesting.  The caller leaves it. */
static bool
enter(reader_t *r)
{
    if (++r->depth > SYM_MSVC_DEPTH_MAX) {
        fail(r);
    }

    return !r->failed;
}


/* --- numbers and texts --- */

/* Reads a number: "3" is 4, "BA@" is 16, "?" makes it negative. */
static uint64_t
read_number(reader_t *r, bool *is_negative)
{
    uint64_t n = 0;
    char c;

    *is_negative = take(r, "?");
    c = next(r);
    if (c >= '0' && c <= '9') {
        return (uint64_t) (c - '0') + 1;
    }

    for (unsigned digits = 0; c != '@'; digits++, c = next(r)) {
        if (c < 'A' || c > 'P' || digits == 16) {
            fail(r);
            return 0;
        }
        n = n << 4 | (uint64_t) (c - 'A');
    }

    return n;
}


static int64_t
read_signed(reader_t *r)
{
    bool is_negative;
    uint64_t n = read_number(r, &is_negative);

    return (int64_t) (is_negative ? 0 - n : n);
}


static sym_str_t
read_text(reader_t *r)
{
    const char *start = r->pos, *end;

    end = start < r->end ? memchr(start, '@', (size_t) (r->end - start)) : NULL;
    if (end == NULL) {
        fail(r);
        return NO_TEXT;
    }

    r->pos = end + 1;
    return sym_str(start, (size_t) (end - start));
}


/* --- references --- */

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


static void
remember_name(reader_t *r, sym_msvc_name_t *name)
{
    references_t *f = &r->references;

    if (name == NULL || f->n_names == REFERENCES_MAX) {
        return;
    }

    for (unsigned i = 0; i < f->n_names && name->kind == SYM_MSVC_TEXT; i++) {
        if (f->names[i]->kind == SYM_MSVC_TEXT
            && sym_str_eq(f->names[i]->text, name->text))
        {
            return;
        }
    }

    f->names[f->n_names++] = name;
}


static void
remember_type(reader_t *r, sym_msvc_type_t *type)
{
    references_t *f = &r->references;

    if (type != NULL && f->n_types < REFERENCES_MAX) {
        f->types[f->n_types++] = type;
    }
}


static sym_msvc_name_t *
read_name_reference(reader_t *r)
{
    unsigned i = (unsigned) (next(r) - '0');

    if (i >= r->references.n_names) {
        fail(r);
        return NULL;
    }

    return r->references.names[i];
}


static sym_msvc_type_t *
read_type_reference(reader_t *r)
{
    unsigned i = (unsigned) (next(r) - '0');

    if (i >= r->references.n_types) {
        fail(r);
        return NULL;
    }

    return r->references.types[i];
}


/* --- names --- */

/* Reads scopes up to the closing "@".  The first one is the innermost. */
static sym_msvc_names_t *
read_scope(reader_t *r, sym_msvc_name_t **inner)
{
    sym_msvc_names_t *scope = NULL;

    *inner = NULL;
    while (!r->failed && !take(r, "@")) {
        sym_msvc_names_t *part = allocate(r, sizeof(*part));

        if (part == NULL) {
            return NULL;
        }

        part->name = read_name_part(r, true, false);
        part->next = scope;
        scope = part;
        *inner = *inner == NULL ? part->name : *inner;
    }

    return scope;
}


static sym_msvc_symbol_t *
read_name(reader_t *r, bool is_function)
{
    sym_msvc_symbol_t *symbol = allocate(r, sizeof(*symbol));

    if (symbol != NULL) {
        symbol->name = read_name_part(r, false, is_function);
        symbol->scope = read_scope(r, &symbol->inner);
    }

    return r->failed ? NULL : symbol;
}


/* Reads arguments up to the closing "@", or to "Z" if more arguments may
 * follow. */
static sym_msvc_types_t *
read_types(reader_t *r)
{
    sym_msvc_types_t *first = NULL, **last = &first;

    while (!r->failed && r->pos < r->end && peek(r) != '@') {
        const char *start = r->pos;
        sym_msvc_types_t *part = allocate(r, sizeof(*part));

        if (part == NULL) {
            return NULL;
        }

        *last = part;
        last = &part->next;

        if (take(r, "Z")) {
            part->type = new_type(r, SYM_MSVC_SIMPLE, 0, SYM_STR("..."));
            return first;
        }

        part->type =
            is_digit(peek(r)) ? read_type_reference(r) : read_type(r, 0);
        if (r->pos - start > 1) {
            remember_type(r, part->type); /* types of one letter are not
                                             numbered */
        }
    }

    if (r->pos < r->end) {
        expect(r, "@"); /* a template outside of a scope may lack the end */
    }

    return first;
}


/* <template-name>, after "?$" */
static sym_msvc_name_t *
read_template(reader_t *r)
{
    references_t outer = r->references;
    sym_msvc_name_t *name = new_name(r, SYM_MSVC_TEMPLATE, NO_TEXT);

    r->references = (references_t){ 0 };
    if (name != NULL && enter(r)) {
        name->of = read_name_part(r, false, false);
        name->arguments = read_types(r);
    }

    r->depth--;
    r->references = outer;
    return name;
}


/* Reads "?A0x12345678@". */
static sym_msvc_name_t *
read_anonymous(reader_t *r)
{
    sym_str_t key = read_text(r);
    sym_msvc_name_t *name =
        new_name(r, SYM_MSVC_TEXT, SYM_STR("`anonymous namespace'"));

    if (key.len != 0) {
        remember_name(r, name);
    }

    return name;
}


static sym_msvc_name_t *
read_rtti(reader_t *r)
{
    sym_msvc_name_t *name = new_name(r, SYM_MSVC_TEXT, NO_TEXT);

    if (name == NULL) {
        return NULL;
    }

    switch (next(r)) {
    case '0':
        name->kind = SYM_MSVC_RTTI_TYPE;
        expect(r, "?");
        (void) next(r); /* qualifiers */
        name->type = read_type(r, 0);
        break;
    case '1':
        name->kind = SYM_MSVC_RTTI_BASE;
        for (size_t i = 0; i < 4; i++) {
            name->n[i] = read_signed(r);
        }
        break;
    case '2':
        name->text = SYM_STR("`RTTI Base Class Array'");
        break;
    case '3':
        name->text = SYM_STR("`RTTI Class Hierarchy Descriptor'");
        break;
    case '4':
        name->text = SYM_STR("`RTTI Complete Object Locator'");
        break;
    default:
        fail(r);
    }

    return name;
}


/* The text of the operator or special name with these letters after "?".  NULL:
 * there is none. */
static const char *
operator_text(const char *letters)
{
    /* clang-format off */
    static const struct {
        char letters[4];
        const char *text;
    } operators[] = {
        { "2", "operator new" }, { "3", "operator delete" },
        { "4", "operator=" }, { "5", "operator>>" }, { "6", "operator<<" },
        { "7", "operator!" }, { "8", "operator==" }, { "9", "operator!=" },
        { "A", "operator[]" }, { "C", "operator->" }, { "D", "operator*" },
        { "E", "operator++" }, { "F", "operator--" }, { "G", "operator-" },
        { "H", "operator+" }, { "I", "operator&" }, { "J", "operator->*" },
        { "K", "operator/" }, { "L", "operator%" }, { "M", "operator<" },
        { "N", "operator<=" }, { "O", "operator>" }, { "P", "operator>=" },
        { "Q", "operator," }, { "R", "operator()" }, { "S", "operator~" },
        { "T", "operator^" }, { "U", "operator|" }, { "V", "operator&&" },
        { "W", "operator||" }, { "X", "operator*=" }, { "Y", "operator+=" },
        { "Z", "operator-=" },
        { "_0", "operator/=" }, { "_1", "operator%=" },
        { "_2", "operator>>=" }, { "_3", "operator<<=" },
        { "_4", "operator&=" }, { "_5", "operator|=" }, { "_6", "operator^=" },
        { "_7", "`vftable'" }, { "_9", "`vcall'" }, { "_A", "`typeof'" },
        { "_C", "`string'" }, { "_D", "`vbase destructor'" },
        { "_E", "`vector deleting destructor'" },
        { "_F", "`default constructor closure'" },
        { "_G", "`scalar deleting destructor'" },
        { "_H", "`vector constructor iterator'" },
        { "_I", "`vector destructor iterator'" },
        { "_J", "`vector vbase constructor iterator'" },
        { "_K", "`virtual displacement map'" },
        { "_L", "`eh vector constructor iterator'" },
        { "_M", "`eh vector destructor iterator'" },
        { "_N", "`eh vector vbase constructor iterator'" },
        { "_O", "`copy constructor closure'" },
        { "_S", "`local vftable'" },
        { "_T", "`local vftable constructor closure'" },
        { "_U", "operator new[]" }, { "_V", "operator delete[]" },
        { "_X", "`placement delete closure'" },
        { "_Y", "`placement delete[] closure'" },
        { "__A", "`managed vector constructor iterator'" },
        { "__B", "`managed vector destructor iterator'" },
        { "__C", "`EH vector copy constructor iterator'" },
        { "__D", "`EH vector vbase copy constructor iterator'" },
        { "__E", "`dynamic initializer'" },
        { "__F", "`dynamic atexit destructor'" },
        { "__G", "`vector copy constructor iterator'" },
        { "__H", "`vector vbase copy constructor iterator'" },
        { "__I", "`managed vector vbase copy constructor iterator'" },
        { "__L", "operator co_await" }, { "__M", "operator<=>" },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        if (strcmp(letters, operators[i].letters) == 0) {
            return operators[i].text;
        }
    }

    return NULL;
}


/* <operator-name>, after "?" */
static sym_msvc_name_t *
read_operator(reader_t *r)
{
    char letters[4] = "";
    const char *text;

    if (take(r, "0")) {
        return new_name(r, SYM_MSVC_CONSTRUCTOR, NO_TEXT);
    }
    if (take(r, "1")) {
        return new_name(r, SYM_MSVC_DESTRUCTOR, NO_TEXT);
    }
    if (take(r, "B")) {
        return new_name(r, SYM_MSVC_CONVERSION, SYM_STR("operatorcast"));
    }
    if (take(r, "_R")) {
        return read_rtti(r);
    }
    if (take(r, "_8")) {
        return new_name(r, SYM_MSVC_VBTABLE, NO_TEXT);
    }
    if (take(r, "_B")) {
        return new_name(r, SYM_MSVC_GUARD, SYM_STR("`local static guard'"));
    }
    if (take(r, "__J")) {
        return new_name(r, SYM_MSVC_GUARD,
                        SYM_STR("`local static thread guard'"));
    }
    if (take(r, "__K")) {
        return new_name(r, SYM_MSVC_LITERAL, read_text(r));
    }

    for (size_t i = 0; i < 3; i++) {
        letters[i] = next(r);
        if (letters[i] != '_') {
            break;
        }
    }

    text = operator_text(letters);
    if (text == NULL) {
        fail(r);
        return NULL;
    }

    return new_name(r, SYM_MSVC_TEXT, sym_cstr(text));
}


/* Reads a part of a scope, after its "?". */
static sym_msvc_name_t *
read_scope_part(reader_t *r)
{
    sym_msvc_name_t *name;
    bool is_negative;

    if (peek(r) == '?') {
        name = new_name(r, SYM_MSVC_SYMBOL, NO_TEXT);
        if (name != NULL) {
            name->symbol = read_symbol(r);
        }
    } else if (take(r, "A")) {
        name = read_anonymous(r);
    } else if (take(r, "Q")) {
        name = new_name(r, SYM_MSVC_INTERFACE, read_text(r));
        expect(r, "@");
        remember_name(r, name);
    } else {
        name = new_name(r, SYM_MSVC_NUMBER, NO_TEXT);
        if (name != NULL) {
            name->n[0] = (int64_t) read_number(r, &is_negative);
        }
    }

    return name;
}


/* Reads one name without its scope, or a part of a scope. */
static sym_msvc_name_t *
read_name_part(reader_t *r, bool is_scope, bool is_function)
{
    sym_msvc_name_t *name;

    if (is_digit(peek(r))) {
        return read_name_reference(r);
    }

    if (take(r, "?$")) {
        name = read_template(r);
        if (!is_function) {
            remember_name(r, name);
        }
        return name;
    }

    if (take(r, "?")) {
        return is_scope ? read_scope_part(r) : read_operator(r);
    }

    name = new_name(r, SYM_MSVC_TEXT, read_text(r));
    remember_name(r, name);
    return name;
}


/* --- types --- */

/* Reads "A" to "D"; for members "Q" to "T". */
static uint8_t
read_qualifiers(reader_t *r, bool *is_member)
{
    char c = peek(r);

    *is_member = c >= 'Q' && c <= 'T';
    if (!*is_member && (c < 'A' || c > 'D')) {
        return 0;
    }

    r->pos++;
    return (uint8_t) (c - (*is_member ? 'Q' : 'A'));
}


/* <this-cvr-qualifiers> */
static uint8_t
read_method_qualifiers(reader_t *r)
{
    uint8_t qualifiers = 0;
    bool is_member;

    (void) take(r, "E"); /* of 64 bits */
    qualifiers |= take(r, "I") ? SYM_MSVC_RESTRICT : 0;
    (void) take(r, "F"); /* unaligned */
    qualifiers |= take(r, "G") ? SYM_MSVC_LVALUE : 0;
    qualifiers |= take(r, "H") ? SYM_MSVC_RVALUE : 0;
    return qualifiers | read_qualifiers(r, &is_member);
}


/* <calling-convention> <return-type> <argument-list> <throw-spec> */
static sym_msvc_type_t *
read_function(reader_t *r, uint8_t qualifiers)
{
    sym_msvc_type_t *f = new_type(r, SYM_MSVC_FUNCTION, qualifiers, NO_TEXT);
    uint8_t returned = 0;
    bool is_member;

    if (f == NULL || strchr("ABCDEFGHIJMNOPQSWw", next(r)) == NULL) {
        fail(r);
        return NULL;
    }

    if (!take(r, "@")) { /* constructors have no return type */
        if (take(r, "?")) {
            returned = read_qualifiers(r, &is_member);
        }
        f->of = read_type(r, returned);
    }

    if (take(r, "X")) {
        f->arguments = allocate(r, sizeof(*f->arguments));
        if (f->arguments != NULL) {
            f->arguments->type =
                new_type(r, SYM_MSVC_SIMPLE, 0, SYM_STR("void"));
        }
    } else {
        f->arguments = read_types(r);
    }

    if (!take(r, "_E")) { /* noexcept */
        expect(r, "Z");
    }

    return f;
}


/* Reads "int (A::*)(char)", after "P8"; or the address of a function. */
static sym_msvc_type_t *
read_method(reader_t *r)
{
    sym_msvc_symbol_t *class = read_name(r, true);
    uint8_t qualifiers = read_method_qualifiers(r);
    sym_msvc_type_t *f = read_function(r, qualifiers);

    if (f != NULL) {
        f->kind = SYM_MSVC_METHOD;
        f->symbol = class;
    }

    return r->failed ? NULL : f;
}


/* <pointer-type>, <reference-type>, after the sign. */
static sym_msvc_type_t *
read_pointer(reader_t *r, sym_str_t sign, uint8_t qualifiers)
{
    sym_msvc_type_t *p;
    bool is_member;
    uint8_t pointed;

    if (take(r, "8")) {
        p = read_method(r);
        return p;
    }

    p = new_type(r, SYM_MSVC_POINTER, qualifiers, sign);
    if (p == NULL) {
        return NULL;
    }

    if (take(r, "6")) {
        p->of = read_function(r, 0);
        return p;
    }

    while (take(r, "E") || take(r, "I") || take(r, "F")) {
        /* modifiers: 64-bit, restrict, unaligned */
    }

    if (take(r, "$A")) { /* C++/CX: handles, and references to handles */
        p->text = SYM_STR("^");
    } else if (take(r, "$C")) {
        p->text = SYM_STR("%");
    }

    pointed = read_qualifiers(r, &is_member);
    if (is_member) {
        p->kind = SYM_MSVC_MEMBER;
        p->symbol = read_name(r, false);
    }

    p->of = read_type(r, pointed);
    return p;
}


/* <array-type>, after "Y" */
static sym_msvc_type_t *
read_array(reader_t *r)
{
    sym_msvc_type_t *first = NULL, **last = &first;
    uint8_t qualifiers = 0;
    bool is_negative, is_member;
    uint64_t n = read_number(r, &is_negative);

    if (is_negative || n == 0) {
        fail(r);
    }

    for (; n > 0 && !r->failed; n--) {
        *last = new_type(r, SYM_MSVC_ARRAY, 0, NO_TEXT);
        if (*last == NULL) {
            return NULL;
        }

        (*last)->n = read_number(r, &(*last)->is_negative);
        last = &(*last)->of;
        if (enter(r) && n == 1) {
            if (take(r, "$$C")) {
                qualifiers = read_qualifiers(r, &is_member);
            }
            *last = read_type(r, 0);
        }
    }

    for (sym_msvc_type_t *a = first; a != NULL && a->kind == SYM_MSVC_ARRAY;
         a = a->of)
    {
        a->qualifiers = qualifiers;
    }

    return first;
}


static sym_msvc_type_t *
read_named(reader_t *r, uint8_t qualifiers)
{
    sym_msvc_type_t *type = new_type(r, SYM_MSVC_NAMED, qualifiers, NO_TEXT);

    if (type != NULL) {
        type->symbol = read_name(r, false);
    }

    return type;
}


static sym_msvc_type_t *
read_integer(reader_t *r, sym_msvc_type_kind_t kind)
{
    sym_msvc_type_t *type = new_type(r, kind, 0, NO_TEXT);

    if (type != NULL) {
        type->n = read_number(r, &type->is_negative);
    }

    return type;
}


/* <template-arg>: the address of a function or a variable, or of a member; for
 * a member this number of offsets follows. */
static sym_msvc_type_t *
read_address(reader_t *r, unsigned n_offsets)
{
    sym_msvc_type_t *type = new_type(r, SYM_MSVC_ADDRESS, 0, NO_TEXT);

    if (type != NULL) {
        type->symbol = read_symbol(r);
    }

    for (; n_offsets > 0; n_offsets--) {
        (void) read_signed(r);
    }

    return type;
}


/* Reads an argument, after its "$". */
static sym_msvc_type_t *
read_special_type(reader_t *r, uint8_t qualifiers)
{
    bool is_member;

    if (take(r, "0")) {
        return read_integer(r, SYM_MSVC_INTEGER);
    }
    if (take(r, "D")) {
        return read_integer(r, SYM_MSVC_PARAMETER);
    }
    if (take(r, "M")) { /* auto: its type precedes the argument */
        (void) read_type(r, 0);
        return read_type(r, 0);
    }
    if (take(r, "$BY")) {
        return read_array(r);
    }
    if (take(r, "$Q")) {
        return read_pointer(r, SYM_STR("&&"), qualifiers);
    }
    if (take(r, "$R")) {
        return read_pointer(r, SYM_STR("&&"), SYM_MSVC_VOLATILE);
    }
    if (take(r, "S") || take(r, "$V") || take(r, "$Z") || take(r, "$$V")) {
        return new_type(r, SYM_MSVC_NOTHING, 0, NO_TEXT);
    }
    if (take(r, "$T")) {
        return new_type(r, SYM_MSVC_SIMPLE, 0, SYM_STR("std::nullptr_t"));
    }
    if (take(r, "$A6")) {
        return read_function(r, 0);
    }
    if (take(r, "$A8@@")) {
        return read_function(r, read_method_qualifiers(r));
    }
    if (take(r, "$Y")) {
        return read_named(r, qualifiers);
    }
    if (take(r, "$C")) {
        return read_type(r, read_qualifiers(r, &is_member));
    }
    if (take(r, "1") || take(r, "E")) {
        return read_address(r, 0);
    }
    if (take(r, "H")) {
        return read_address(r, 1);
    }
    if (take(r, "I")) {
        return read_address(r, 2);
    }
    if (take(r, "J")) {
        return read_address(r, 3);
    }

    fail(r);
    return NULL;
}


/* Reads a <builtin-type>.  NULL: another type. */
static const char *
simple_text(reader_t *r)
{
    static const char *const letters[26] = {
        ['X' - 'A'] = "void",        ['D' - 'A'] = "char",
        ['C' - 'A'] = "signed char", ['E' - 'A'] = "unsigned char",
        ['F' - 'A'] = "short",       ['G' - 'A'] = "unsigned short",
        ['H' - 'A'] = "int",         ['I' - 'A'] = "unsigned int",
        ['J' - 'A'] = "long",        ['K' - 'A'] = "unsigned long",
        ['M' - 'A'] = "float",       ['N' - 'A'] = "double",
        ['O' - 'A'] = "long double",
    };
    static const char *const longer[26] = {
        ['N' - 'A'] = "bool",           ['D' - 'A'] = "int8_t",
        ['E' - 'A'] = "uint8_t",        ['F' - 'A'] = "int16_t",
        ['G' - 'A'] = "uint16_t",       ['H' - 'A'] = "int32_t",
        ['I' - 'A'] = "uint32_t",       ['J' - 'A'] = "int64_t",
        ['K' - 'A'] = "uint64_t",       ['L' - 'A'] = "int128_t",
        ['M' - 'A'] = "uint128_t",      ['W' - 'A'] = "wchar_t",
        ['Q' - 'A'] = "char8_t",        ['S' - 'A'] = "char16_t",
        ['U' - 'A'] = "char32_t",       ['P' - 'A'] = "auto",
        ['T' - 'A'] = "decltype(auto)",
    };
    const char *const *texts = take(r, "_") ? longer : letters;
    char c = next(r);

    return c >= 'A' && c <= 'Z' ? texts[c - 'A'] : NULL;
}


static sym_msvc_type_t *
read_type_inside(reader_t *r, uint8_t qualifiers)
{
    const char *text;

    if (is_digit(peek(r))) {
        return read_type_reference(r);
    }
    if (take(r, "?")) {
        sym_msvc_type_t *type = read_integer(r, SYM_MSVC_PARAMETER);

        if (type != NULL) {
            type->is_negative = !type->is_negative;
        }
        return type;
    }
    if (take(r, "$")) {
        return read_special_type(r, qualifiers);
    }
    if (take(r, "W")) { /* an enumeration; the digit is its integer type */
        if (!is_digit(next(r))) {
            fail(r);
        }
        return read_named(r, qualifiers);
    }
    if (take(r, "T") || take(r, "U") || take(r, "V")) {
        return read_named(r, qualifiers);
    }
    if (take(r, "A")) {
        return read_pointer(r, SYM_STR("&"), qualifiers);
    }
    if (take(r, "B")) {
        return read_pointer(r, SYM_STR("&"), SYM_MSVC_VOLATILE);
    }
    if (take(r, "P")) {
        return read_pointer(r, SYM_STR("*"), qualifiers);
    }
    if (take(r, "Q")) {
        return read_pointer(r, SYM_STR("*"), SYM_MSVC_CONST);
    }
    if (take(r, "R")) {
        return read_pointer(r, SYM_STR("*"), SYM_MSVC_VOLATILE);
    }
    if (take(r, "S")) {
        return read_pointer(r, SYM_STR("*"),
                            SYM_MSVC_CONST | SYM_MSVC_VOLATILE);
    }
    if (take(r, "Y")) {
        return read_array(r);
    }

    text = simple_text(r);
    if (text == NULL) {
        fail(r);
        return NULL;
    }

    return new_type(r, SYM_MSVC_SIMPLE, qualifiers, sym_cstr(text));
}


/* Returns NULL only after a failure. */
static sym_msvc_type_t *
read_type(reader_t *r, uint8_t qualifiers)
{
    sym_msvc_type_t *type = NULL;
    const unsigned depth = r->depth;

    if (enter(r)) {
        type = read_type_inside(r, qualifiers);
    }

    r->depth = depth;
    return r->failed ? NULL : type;
}


/* --- symbols --- */

/* <type-encoding> of a member function.  c: its class. */
static sym_msvc_type_t *
read_member_function(reader_t *r, char c)
{
    const bool is_thunk = strchr("GHOPWX", c) != NULL;
    const bool is_static = strchr("CDKLST", c) != NULL;
    uint8_t qualifiers;

    if (c < 'A' || c > 'X') {
        fail(r);
        return NULL;
    }

    if (is_thunk) {
        (void) read_signed(r); /* offset by which `this` is adjusted */
    }

    qualifiers = is_static ? 0 : read_method_qualifiers(r);
    return read_function(r, qualifiers);
}


/* "$4...", "$R4...": thunks of virtual bases, with offsets. */
static sym_msvc_type_t *
read_displaced_function(reader_t *r)
{
    unsigned n = take(r, "R") ? 4 : 2;
    char c = next(r);

    if (c < '0' || c > '5') {
        fail(r);
    }

    for (; n > 0; n--) {
        (void) read_signed(r);
    }

    return read_function(r, read_method_qualifiers(r));
}


static void
read_encoding(reader_t *r, sym_msvc_symbol_t *symbol)
{
    sym_msvc_name_t *inner;
    bool is_member, is_negative;
    char c;

    if (r->pos == r->end) {
        return;
    }

    /* extern "C"; Arm64EC */
    (void) (take(r, "$$J0") || take(r, "$$h"));
    c = next(r);
    switch (c) {
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
        (void) read_type(r, 0);
        (void) read_qualifiers(r, &is_member);
        return;
    case '6':
    case '7':
        (void) read_qualifiers(r, &is_member);
        symbol->encoding = c == '6' ? SYM_MSVC_VFTABLE : SYM_MSVC_VBASES;
        symbol->bases = read_scope(r, &inner);
        return;
    case '8': /* RTTI */
    case '9': /* extern "C", without a type */
        return;
    case '_': /* a string literal, which is not shown */
        r->pos = r->end;
        return;
    case 'Y':
    case 'Z':
        symbol->function = read_function(r, 0);
        break;
    case '$':
        if (!take(r, "B")) {
            symbol->function = read_displaced_function(r);
            break;
        }
        symbol->encoding = SYM_MSVC_VCALL;
        symbol->offset = read_number(r, &is_negative);
        expect(r, "A");
        (void) next(r); /* calling convention */
        return;
    default:
        symbol->function = read_member_function(r, c);
    }

    symbol->encoding = SYM_MSVC_CALLABLE;
}


/* The guard of a variable has the variable's type, then a number. */
static void
read_guard(reader_t *r, sym_msvc_name_t *name)
{
    bool is_negative;

    if (!take(r, "4IA")) {
        expect(r, "5");
    }

    if (r->pos < r->end) {
        name->n[0] = (int64_t) read_number(r, &is_negative);
        name->n[1] = 1;
    }
}


/* "$TSS0@": guard of a variable in a function. */
static sym_msvc_symbol_t *
read_thread_guard(reader_t *r)
{
    sym_msvc_symbol_t *symbol = allocate(r, sizeof(*symbol));

    (void) read_text(r);
    if (symbol != NULL) {
        symbol->name = read_name_part(r, true, false);
        symbol->scope = read_scope(r, &symbol->inner);
        expect(r, "4HA");
    }

    return symbol;
}


static sym_msvc_symbol_t *
read_symbol_inside(reader_t *r)
{
    sym_msvc_symbol_t *symbol;

    expect(r, "?");
    if (take(r, "$TSS")) {
        return read_thread_guard(r);
    }

    if (take(r, "$")) { /* the symbol consists of a template only */
        symbol = allocate(r, sizeof(*symbol));
        if (symbol != NULL) {
            symbol->name = read_template(r);
        }
        return symbol;
    }

    symbol = read_name(r, true);
    if (symbol == NULL || symbol->name == NULL) {
        return NULL;
    }

    if (symbol->name->kind == SYM_MSVC_GUARD) {
        read_guard(r, symbol->name);
    }

    read_encoding(r, symbol);
    return symbol;
}


static sym_msvc_symbol_t *
read_symbol(reader_t *r)
{
    sym_msvc_symbol_t *symbol = NULL;

    if (enter(r)) {
        symbol = read_symbol_inside(r);
    }

    r->depth--;
    return r->failed ? NULL : symbol;
}


sym_msvc_symbol_t *
sym_msvc_parse(sym_str_t text, void *memory, size_t bytes)
{
    reader_t r = { .pos = text.data,
                   .end = text.data + text.len,
                   .memory = memory,
                   .memory_end = (char *) memory + bytes };

    return read_symbol(&r);
}
