/*
 * Names of D: dlang.org/spec/abi.html, "Name Mangling", whose productions are
 * cited below.  The text is that of binutils (c++filt -s dlang).
 */
#include "demangle/d_reader.h"
#include "demangle/languages.h"

#define LENGTH_UNKNOWN SIZE_MAX

static bool identifier(sym_d_reader_t *r);
static bool qualified_name(sym_d_reader_t *r, bool with_modifiers);
static bool type(sym_d_reader_t *r);


/* --- back references --- */

/* Q NumberBackRef: gets its target, and where the name continues. */
static const char *
target_of(sym_d_reader_t *r, const char *q, const char **behind)
{
    size_t distance = 0, most = (size_t) (q - r->name);
    const char *p = q + 1;

    /* base 26; the last digit is a lower-case letter */
    while (*p >= 'A' && *p <= 'Z' && distance <= most) {
        distance = distance * 26 + (size_t) (*p++ - 'A');
    }

    sym_d_spend(r, (size_t) (p - q));
    if (*p < 'a' || *p > 'z' || distance > most) {
        return NULL;
    }

    distance = distance * 26 + (size_t) (*p - 'a');
    *behind = p + 1;
    return distance != 0 && distance <= most ? q - distance : NULL;
}


/* TypeBackRef.  Those inside its target must point further back. */
static bool
type_reference(sym_d_reader_t *r, sym_d_part_t *part)
{
    const char *outer = r->reference, *q = r->pos, *behind, *target;
    bool is_read;

    if (q >= outer) {
        return false;
    }

    target = target_of(r, q, &behind);
    if (target == NULL) {
        return false;
    }

    r->reference = q;
    r->pos = target;
    is_read = part(r);
    r->pos = behind;
    r->reference = outer;
    return is_read;
}


/* --- names --- */

static bool
is_template(const char *p)
{
    return sym_d_begins_with(p, "__T") || sym_d_begins_with(p, "__U");
}


/* Whether a SymbolName begins at p. */
static bool
is_symbol_name(sym_d_reader_t *r, const char *p)
{
    const char *behind, *target;

    if (*p != 'Q') {
        return sym_d_is_digit(*p) || is_template(p);
    }

    target = target_of(r, p, &behind);
    return target != NULL && sym_d_is_digit(*target);
}


static bool
is_mangled_name(sym_d_reader_t *r)
{
    return sym_d_begins_with(r->pos, "_D") && is_symbol_name(r, r->pos + 2);
}


/* Names that compilers generate.  A few of them precede the name to which they
   belong. */
static bool
special_name(sym_d_reader_t *r, size_t len)
{
    static const struct {
        const char *name, *text;
        uint8_t len;        /* length of the name; the rest follows */
        uint8_t n_consumed; /* number of bytes that the text replaces */
        bool is_before;
    } specials[] = {
        { "__ctor", "this", 6, 6, false },
        { "__dtor", "~this", 6, 6, false },
        { "__initZ", "initializer for ", 6, 6, true },
        { "__vtblZ", "vtable for ", 6, 6, true },
        { "__ClassZ", "ClassInfo for ", 7, 7, true },
        { "__postblitMFZ", "this(this)", 10, 13, false },
        { "__InterfaceZ", "Interface for ", 11, 11, true },
        { "__ModuleInfoZ", "ModuleInfo for ", 12, 12, true },
    };

    if (!sym_d_begins_with(r->pos, "__")) {
        return false;
    }

    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (len == specials[i].len
            && sym_d_begins_with(r->pos, specials[i].name)) {
            if (specials[i].is_before) {
                sym_d_put_before(r, specials[i].text);
            } else {
                sym_d_put(r, specials[i].text);
            }
            sym_d_advance(r, specials[i].n_consumed);
            return true;
        }
    }

    return false;
}


static bool
plain_name(sym_d_reader_t *r, size_t len)
{
    return special_name(r, len) || sym_d_copy(r, len);
}


/* IdentifierBackRef: it points to the number of an LName. */
static bool
name_reference(sym_d_reader_t *r)
{
    const char *behind, *target = target_of(r, r->pos, &behind);
    uint32_t len;
    bool is_read = false;

    if (target != NULL) {
        r->pos = target;
        is_read = sym_d_number(r, &len) && len <= (size_t) (r->end - r->pos)
                  && plain_name(r, len);
        r->pos = behind;
    }

    return is_read;
}


/* "__S12" distinguishes declarations of one name in one function. */
static bool
is_fake_parent(const char *p, size_t len)
{
    return len >= 4 && sym_d_begins_with(p, "__S")
           && strspn(p + 3, SYM_D_DIGITS) >= len - 3;
}


/* TemplateArg: S, a symbol. */
static bool
try_symbol_argument(sym_d_reader_t *r)
{
    return is_symbol_name(r, r->pos) ? qualified_name(r, false)
                                     : sym_d_mangled_name(r);
}


/*
 * Up to D 2.076 the symbol is preceded by its length.  The first character of
 * the symbol may be a digit.  So each way to divide the digits is tried; the
 * last try has no length.
 */
static bool
symbol_argument(sym_d_reader_t *r)
{
    size_t saved = r->len;
    const char *from;
    uint32_t len;

    if (*r->pos == 'Q' || is_mangled_name(r)) {
        return try_symbol_argument(r);
    }

    if (!sym_d_number(r, &len) || len == 0) {
        return false;
    }

    for (from = r->pos; len != 0; from--, len /= 10) {
        r->pos = from;
        if (try_symbol_argument(r) && r->pos == from + len) {
            return true;
        }
        r->len = saved;
    }

    r->pos = from;
    return try_symbol_argument(r);
}


/* TemplateArg: V Type Value.  The type is shown only if it is a struct. */
static bool
value_argument(sym_d_reader_t *r)
{
    const char *from = r->pos, *kind = from, *behind;

    if (*kind == 'Q') {
        kind = target_of(r, kind, &behind);
        if (kind == NULL) {
            return false;
        }
    }

    return sym_d_skip(r, type)
           && (*r->pos != 'S' || sym_d_put_skipped(r, from, type))
           && sym_d_value(r, *kind);
}


/* TemplateArg: X, a name mangled as in another language. */
static bool
foreign_argument(sym_d_reader_t *r)
{
    uint32_t len;

    return sym_d_number(r, &len) && len <= (size_t) (r->end - r->pos)
           && sym_d_copy(r, len);
}


static bool
template_argument(sym_d_reader_t *r)
{
    (void) sym_d_take(r, "H"); /* specialised */

    return sym_d_take(r, "S")   ? symbol_argument(r)
           : sym_d_take(r, "T") ? type(r)
           : sym_d_take(r, "V") ? value_argument(r)
           : sym_d_take(r, "X") ? foreign_argument(r)
                                : false;
}


/* TemplateArgs.  They may also end at the end of the name; then the caller
 * misses the type that must follow. */
static bool
template_arguments(sym_d_reader_t *r)
{
    for (unsigned n = 0; r->pos < r->end && !sym_d_take(r, "Z"); n++) {
        if (n != 0) {
            sym_d_put(r, ", ");
        }
        if (!template_argument(r)) {
            return false;
        }
    }

    return true;
}


/* TemplateInstanceName: __T or __U, an LName, TemplateArgs, Z. */
static bool
template_parts(sym_d_reader_t *r)
{
    if (r->pos[3] == '0' || !is_symbol_name(r, r->pos + 3)) {
        return false;
    }

    sym_d_advance(r, 3);
    return identifier(r) && sym_d_put(r, "!(")
           && sym_d_apart(r, template_arguments) && sym_d_put(r, ")");
}


static bool
template_instance(sym_d_reader_t *r, size_t len)
{
    const char *from = r->pos;
    bool is_read = sym_d_enter(r) && template_parts(r);

    r->depth--;
    return is_read
           && (len == LENGTH_UNKNOWN || len == (size_t) (r->pos - from));
}


/* SymbolName */
static bool
identifier(sym_d_reader_t *r)
{
    uint32_t len;

    for (;;) {
        if (*r->pos == 'Q') {
            return name_reference(r);
        }

        if (is_template(r->pos)) {
            return template_instance(r, LENGTH_UNKNOWN);
        }

        if (!sym_d_number(r, &len) || len == 0
            || len > (size_t) (r->end - r->pos)) {
            return false;
        }

        if (len >= 5 && is_template(r->pos)) {
            return template_instance(r, len);
        }

        if (!is_fake_parent(r->pos, len)) {
            return plain_name(r, len);
        }

        sym_d_advance(r, len);
    }
}


/* --- functions --- */

static const char *
convention_of(char c)
{
    switch (c) {
    case 'F':
        return "";
    case 'U':
        return "extern(C) ";
    case 'W':
        return "extern(Windows) ";
    case 'V':
        return "extern(Pascal) ";
    case 'R':
        return "extern(C++) ";
    case 'Y':
        return "extern(Objective-C) ";
    default:
        return NULL;
    }
}


/* CallConvention */
static bool
convention(sym_d_reader_t *r)
{
    const char *text = convention_of(*r->pos);

    if (text == NULL) {
        return false;
    }

    sym_d_advance(r, 1);
    return sym_d_put(r, text);
}


/* FuncAttrs.  Ng, Nh, Nk and Nn are part of the first parameter. */
static bool
attributes(sym_d_reader_t *r)
{
    static const char *const texts[] = {
        "pure ",  "nothrow ", "ref ",   "@property ", "@trusted ",
        "@safe ", NULL,       NULL,     "@nogc ",     "return ",
        NULL,     "scope ",   "@live ",
    };

    while (*r->pos == 'N') {
        unsigned i = (unsigned char) r->pos[1] - 'a';

        if (r->pos[1] != '\0' && strchr("ghkn", r->pos[1]) != NULL) {
            break;
        }
        if (i >= sizeof(texts) / sizeof(texts[0])) {
            return false;
        }
        sym_d_put(r, texts[i]);
        sym_d_advance(r, 2);
    }

    return r->pos < r->end;
}


/* TypeModifiers.  They are shown after the type that they modify. */
static bool
modifiers(sym_d_reader_t *r)
{
    for (;;) {
        if (sym_d_take(r, "x")) {
            return sym_d_put(r, " const");
        }

        if (sym_d_take(r, "y")) {
            return sym_d_put(r, " immutable");
        }

        if (sym_d_take(r, "O")) {
            sym_d_put(r, " shared");
        } else if (sym_d_take(r, "Ng")) {
            sym_d_put(r, " inout");
        } else {
            return r->pos < r->end && *r->pos != 'N';
        }
    }
}


/* Writes a text for the letters of the name. */
static bool
take_as(sym_d_reader_t *r, const char *letters, const char *text)
{
    return sym_d_take(r, letters) && sym_d_put(r, text);
}


/* Parameter.  Compilers write "return" and "scope" in either order. */
static bool
parameter(sym_d_reader_t *r)
{
    bool is_scope = take_as(r, "M", "scope ");

    if (take_as(r, "Nk", "return ") && !is_scope) {
        (void) take_as(r, "M", "scope ");
    }

    if (take_as(r, "I", "in ")) {
        (void) take_as(r, "K", "ref ");
    } else {
        (void) (take_as(r, "J", "out ") || take_as(r, "K", "ref ")
                || take_as(r, "L", "lazy "));
    }

    return type(r);
}


/* Parameters and ParamClose.  Like TemplateArgs, they may also end at the end
 * of the name. */
static bool
parameters(sym_d_reader_t *r)
{
    sym_d_put(r, "(");

    for (unsigned n = 0; r->pos < r->end && !sym_d_take(r, "Z"); n++) {
        if (take_as(r, "X", "...")) {
            break;
        }

        if (n != 0) {
            sym_d_put(r, ", ");
        }

        if (take_as(r, "Y", "...")) {
            break;
        }

        if (!parameter(r)) {
            return false;
        }
    }

    return sym_d_put(r, ")");
}


/* TypeFunction.  Gets its parts in the order of the name; shows type,
 * parameters, attributes. */
static bool
function_type(sym_d_reader_t *r)
{
    const char *attributes_from, *parameters_from;

    if (!convention(r)) {
        return false;
    }

    attributes_from = r->pos;
    if (!sym_d_skip(r, attributes)) {
        return false;
    }

    parameters_from = r->pos;
    return sym_d_skip(r, parameters) && sym_d_apart(r, type)
           && sym_d_put_skipped(r, parameters_from, parameters)
           && sym_d_put(r, " ")
           && sym_d_put_skipped(r, attributes_from, attributes);
}


/* TypeDelegate: D TypeModifiers, then the function or a reference to it. */
static bool
delegate_type(sym_d_reader_t *r)
{
    const char *from = r->pos;

    return sym_d_skip(r, modifiers)
           && (*r->pos == 'Q' ? type_reference(r, function_type)
                              : function_type(r))
           && sym_d_put(r, "delegate") && sym_d_put_skipped(r, from, modifiers);
}


/*
 * Reads the optional part after a SymbolName: [M [TypeModifiers]]
 * TypeFunctionNoReturn.  Other parts may begin with the same letters.  If the
 * letters do not form a signature, nothing is read.
 */
static void
try_signature(sym_d_reader_t *r, bool with_modifiers)
{
    const char *from = r->pos, *modifiers_from = NULL;
    size_t saved = r->len;
    bool is_read = true;

    if (sym_d_take(r, "M")) {
        modifiers_from = r->pos;
        is_read = sym_d_skip(r, modifiers);
    }

    is_read = is_read && sym_d_skip(r, convention) && sym_d_skip(r, attributes)
              && parameters(r) && r->pos < r->end;
    if (!is_read) {
        r->pos = from;
        r->len = saved;
        return;
    }

    if (with_modifiers && modifiers_from != NULL) {
        sym_d_put_skipped(r, modifiers_from, modifiers);
    }
}


static bool
qualified_name_inside(sym_d_reader_t *r, bool with_modifiers)
{
    bool is_first = true;

    do {
        size_t n_anonymous = strspn(r->pos, "0");

        if (n_anonymous != 0) {
            sym_d_advance(r, n_anonymous);
            continue;
        }

        if (!is_first) {
            sym_d_put(r, ".");
        }
        is_first = false;

        if (!identifier(r)) {
            return false;
        }

        if (*r->pos == 'M' || convention_of(*r->pos) != NULL) {
            try_signature(r, with_modifiers);
        }
    } while (r->work != 0 && is_symbol_name(r, r->pos));

    return true;
}


/* QualifiedName.  with_modifiers: shows those of `this` after the
 * parameters. */
static bool
qualified_name(sym_d_reader_t *r, bool with_modifiers)
{
    bool is_read = sym_d_enter(r) && qualified_name_inside(r, with_modifiers);

    r->depth--;
    return is_read;
}


/* MangledName: _D QualifiedName, then Z or a type, which is not shown. */
bool
sym_d_mangled_name(sym_d_reader_t *r)
{
    if (!is_mangled_name(r)) {
        return false;
    }

    sym_d_advance(r, 2);
    return qualified_name(r, true)
           && (sym_d_take(r, "Z") || sym_d_skip(r, type));
}


/* --- types --- */

static bool
wrapped_type(sym_d_reader_t *r, const char *before)
{
    return sym_d_put(r, before) && type(r) && sym_d_put(r, ")");
}


/* TypeStaticArray.  The number may have any size, or be missing. */
static bool
static_array(sym_d_reader_t *r)
{
    const char *digits = r->pos;
    size_t n_digits = strspn(digits, SYM_D_DIGITS);

    sym_d_advance(r, n_digits);
    return type(r) && sym_d_put(r, "[") && sym_d_put_bytes(r, digits, n_digits)
           && sym_d_put(r, "]");
}


/* TypeAssocArray: the key's type comes first. */
static bool
associative_array(sym_d_reader_t *r)
{
    const char *key = r->pos;

    return sym_d_skip(r, type) && type(r) && sym_d_put(r, "[")
           && sym_d_put_skipped(r, key, type) && sym_d_put(r, "]");
}


static bool
basic_type(sym_d_reader_t *r, char letter)
{
    static const char *const texts[] = {
        "char",  "bool",         "creal",  "double",  "real",   "float",
        "byte",  "ubyte",        "int",    "ireal",   "uint",   "long",
        "ulong", "typeof(null)", "ifloat", "idouble", "cfloat", "cdouble",
        "short", "ushort",       "wchar",  "void",    "dchar",
    };
    unsigned i = (unsigned char) letter - 'a';

    return i < sizeof(texts) / sizeof(texts[0]) && sym_d_put(r, texts[i]);
}


/* Types that begin with N or z. */
static bool
two_letter_type(sym_d_reader_t *r)
{
    if (sym_d_take(r, "Ng")) {
        return wrapped_type(r, "inout(");
    }

    if (sym_d_take(r, "Nh")) {
        return wrapped_type(r, "__vector(");
    }

    return take_as(r, "Nn", "typeof(*null)") || take_as(r, "zi", "cent")
           || take_as(r, "zk", "ucent");
}


static bool
type_inside(sym_d_reader_t *r)
{
    char letter = *r->pos;

    if (letter == 'Q') {
        return type_reference(r, type);
    }

    if (letter == 'N' || letter == 'z') {
        return two_letter_type(r);
    }

    /* a pointer to a function is shown without its asterisk */
    if (letter == 'P' && convention_of(r->pos[1]) != NULL) {
        sym_d_advance(r, 1);
        letter = *r->pos;
    }

    if (convention_of(letter) != NULL) {
        return function_type(r) && sym_d_put(r, "function");
    }

    sym_d_advance(r, letter != '\0');
    switch (letter) {
    case 'O':
        return wrapped_type(r, "shared(");
    case 'x':
        return wrapped_type(r, "const(");
    case 'y':
        return wrapped_type(r, "immutable(");
    case 'A':
        return type(r) && sym_d_put(r, "[]");
    case 'P':
        return type(r) && sym_d_put(r, "*");
    case 'G':
        return static_array(r);
    case 'H':
        return associative_array(r);
    case 'B':
        return sym_d_list(r, "Tuple!(", type, ")");
    case 'D':
        return delegate_type(r);
    case 'C':
    case 'S':
    case 'E':
    case 'T':
        return qualified_name(r, false);
    default:
        return basic_type(r, letter);
    }
}


static bool
type(sym_d_reader_t *r)
{
    bool is_read = sym_d_enter(r) && type_inside(r);

    r->depth--;
    return is_read;
}


size_t
sym_demangle_d(const char *name, size_t len, char *out, size_t size)
{
    sym_d_reader_t r = sym_d_reader(name, len, out, size);

    if (strcmp(name, "_Dmain") == 0) {
        sym_d_put(&r, "D main");
    } else if (!sym_d_mangled_name(&r) || r.pos != r.end || r.work == 0) {
        return 0;
    }

    return r.len <= size ? r.len : 0;
}
