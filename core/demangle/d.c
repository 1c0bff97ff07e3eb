/*
 * Names of D: dlang.org/spec/abi.html, "Name Mangling", whose productions are
 * cited below.  The text is that of binutils (c++filt -s dlang).
 *
 * The name is read and the text written in one go.  Where their order differs,
 * the part that is shown later is skipped first and read again in its place.
 * What is skipped never reads anything twice, so that this adds the depth of a
 * name as a factor, and no exponent.  Back references and the grammar's
 * ambiguities do grow exponentially: the work is bounded.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "demangle/languages.h"

/* Tokens that are read and texts that are written, each 8 bytes of one counted
 * once more (measured: 10 ns each). */
#define WORK_MAX ((size_t) 32 * 1024)
#define WORK_BYTES 8

/* Types, names, templates and values in one another. */
#define DEPTH_MAX 256u

#define LENGTH_UNKNOWN SIZE_MAX

#define DIGITS "0123456789"
#define HEX_DIGITS DIGITS "abcdefABCDEF"

typedef struct {
    const char *name, *pos, *end; /* *end is NUL */
    const char *reference; /* the back reference that is followed, or end */
    char *out;
    size_t len, size;  /* len: also text that does not fit; it may be undone */
    size_t start;      /* of the text that "initializer for " goes before */
    unsigned skipping; /* not 0: read, and not written */
    unsigned depth;
    size_t work; /* that is left; at 0 all parts fail */
} reader_t;

typedef bool part_fn(reader_t *r);

static bool identifier(reader_t *r);
static bool mangled_name(reader_t *r);
static bool qualified_name(reader_t *r, bool with_modifiers);
static bool type(reader_t *r);
static bool value(reader_t *r, char kind);


static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


static bool
is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}


static inline bool
begins_with(const char *p, const char *text)
{
    return strncmp(p, text, strlen(text)) == 0;
}


static void
spend(reader_t *r, size_t bytes)
{
    size_t work = 1 + bytes / WORK_BYTES;

    r->work -= work < r->work ? work : r->work;
}


static void
advance(reader_t *r, size_t bytes)
{
    spend(r, bytes);
    r->pos += bytes;
}


static inline bool
take(reader_t *r, const char *text)
{
    if (*r->pos != *text || !begins_with(r->pos, text)) {
        return false;
    }

    advance(r, strlen(text));
    return true;
}


static bool
enter(reader_t *r)
{
    if (++r->depth > DEPTH_MAX) {
        r->work = 0;
    }

    return r->work != 0;
}


static void
put_bytes(reader_t *r, const char *bytes, size_t len)
{
    if (r->skipping != 0) {
        return;
    }

    if (r->len < r->size) {
        size_t room = r->size - r->len;

        memcpy(r->out + r->len, bytes, len < room ? len : room);
        spend(r, len);
    }
    r->len += len;
}


static void
put(reader_t *r, const char *text)
{
    put_bytes(r, text, strlen(text));
}


/* The next bytes of the name, as they stand. */
static void
copy(reader_t *r, size_t n)
{
    put_bytes(r, r->pos, n);
    advance(r, n);
}


/* "a.b." becomes "initializer for a.b". */
static void
put_before(reader_t *r, const char *text)
{
    size_t len = strlen(text);

    if (r->skipping != 0) {
        return;
    }

    if (r->start < r->size) {
        char *start = r->out + r->start;
        size_t room = r->size - r->start, n = r->len - r->start;

        if (len < room) {
            memmove(start + len, start, n < room - len ? n : room - len);
        }
        memcpy(start, text, len < room ? len : room);
        spend(r, n < room ? n : room);
    }
    r->len += len - 1;
}


/* Reads a part without its text. */
static bool
skip(reader_t *r, part_fn *part)
{
    bool is_read;

    r->skipping++;
    is_read = part(r);
    r->skipping--;
    return is_read;
}


/* Reads a part whose text stands for itself: see `start`. */
static bool
apart(reader_t *r, part_fn *part)
{
    size_t start = r->start;
    bool is_read;

    r->start = r->len;
    is_read = part(r);
    r->start = start;
    return is_read;
}


/* Writes the text of a part that was skipped. */
static void
write_skipped(reader_t *r, const char *from, part_fn *part)
{
    const char *pos = r->pos;

    if (r->skipping == 0) {
        r->pos = from;
        (void) apart(r, part);
        r->pos = pos;
    }
}


/* A number is followed by something, and has 32 bits. */
static bool
number(reader_t *r, uint32_t *n)
{
    size_t n_digits = strspn(r->pos, DIGITS);
    uint64_t sum = 0;

    for (size_t i = 0; i < n_digits && sum <= UINT32_MAX; i++) {
        sum = sum * 10 + (uint64_t) (r->pos[i] - '0');
    }

    advance(r, n_digits);
    *n = (uint32_t) sum;
    return n_digits != 0 && sum <= UINT32_MAX && r->pos < r->end;
}


/* --- back references --- */

/* Q NumberBackRef: where it points to, and where the name goes on. */
static const char *
target_of(reader_t *r, const char *q, const char **behind)
{
    size_t distance = 0, most = (size_t) (q - r->name);
    const char *p = q + 1;

    /* base 26; the last digit is a small letter */
    while (*p >= 'A' && *p <= 'Z' && distance <= most) {
        distance = distance * 26 + (size_t) (*p++ - 'A');
    }

    spend(r, (size_t) (p - q));
    if (*p < 'a' || *p > 'z' || distance > most) {
        return NULL;
    }

    distance = distance * 26 + (size_t) (*p - 'a');
    *behind = p + 1;
    return distance != 0 && distance <= most ? q - distance : NULL;
}


/* TypeBackRef.  Those met on the way to what it means point further back. */
static bool
type_reference(reader_t *r, part_fn *part)
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
    return begins_with(p, "__T") || begins_with(p, "__U");
}


/* Whether a SymbolName begins at p. */
static bool
is_symbol_name(reader_t *r, const char *p)
{
    const char *behind, *target;

    if (*p != 'Q') {
        return is_digit(*p) || is_template(p);
    }

    target = target_of(r, p, &behind);
    return target != NULL && is_digit(*target);
}


static bool
is_mangled_name(reader_t *r)
{
    return begins_with(r->pos, "_D") && is_symbol_name(r, r->pos + 2);
}


/* Names that compilers generate. */
static bool
special_name(reader_t *r, size_t len)
{
    static const struct {
        const char *name, *text;
        uint8_t len;        /* of the name; what else it has stands behind */
        uint8_t n_consumed; /* bytes that the text stands for */
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

    if (!begins_with(r->pos, "__")) {
        return false;
    }

    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (len == specials[i].len && begins_with(r->pos, specials[i].name)) {
            (specials[i].is_before ? put_before : put)(r, specials[i].text);
            advance(r, specials[i].n_consumed);
            return true;
        }
    }

    return false;
}


static void
plain_name(reader_t *r, size_t len)
{
    if (!special_name(r, len)) {
        copy(r, len);
    }
}


/* IdentifierBackRef: to the number of an LName. */
static bool
name_reference(reader_t *r)
{
    const char *behind, *target = target_of(r, r->pos, &behind);
    uint32_t len;
    bool is_read = false;

    if (target != NULL) {
        r->pos = target;
        is_read = number(r, &len) && len <= (size_t) (r->end - r->pos);
        if (is_read) {
            plain_name(r, len);
        }
        r->pos = behind;
    }

    return is_read;
}


/* "__S12": tells declarations of one name in one function apart. */
static bool
is_fake_parent(const char *p, size_t len)
{
    return len >= 4 && begins_with(p, "__S")
           && strspn(p + 3, DIGITS) >= len - 3;
}


/* TemplateArg: S, a symbol. */
static bool
try_symbol_argument(reader_t *r)
{
    if (is_symbol_name(r, r->pos)) {
        return qualified_name(r, false);
    }

    return is_mangled_name(r) && mangled_name(r);
}


/*
 * Up to D 2.076 the length of a symbol stands before it, whose first character
 * may be a digit of its own: each way to divide the digits is tried, and last
 * that there is no length.
 */
static bool
symbol_argument(reader_t *r)
{
    size_t saved = r->len;
    const char *from;
    uint32_t len;

    if (*r->pos == 'Q' || is_mangled_name(r)) {
        return try_symbol_argument(r);
    }

    if (!number(r, &len) || len == 0) {
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


/* TemplateArg: V Type Value.  Only that of a struct shows its type. */
static bool
value_argument(reader_t *r)
{
    const char *from = r->pos, *kind = from, *behind;

    if (*kind == 'Q') {
        kind = target_of(r, kind, &behind);
        if (kind == NULL) {
            return false;
        }
    }

    if (!skip(r, type)) {
        return false;
    }

    if (*r->pos == 'S') {
        write_skipped(r, from, type);
    }

    return value(r, *kind);
}


/* TemplateArg: X, as another language mangles it. */
static bool
foreign_argument(reader_t *r)
{
    uint32_t len;

    if (!number(r, &len) || len > (size_t) (r->end - r->pos)) {
        return false;
    }

    copy(r, len);
    return true;
}


static bool
template_argument(reader_t *r)
{
    (void) take(r, "H"); /* specialised */

    return take(r, "S")   ? symbol_argument(r)
           : take(r, "T") ? type(r)
           : take(r, "V") ? value_argument(r)
           : take(r, "X") ? foreign_argument(r)
                          : false;
}


/* TemplateArgs.  The end of the name ends them, too: the caller then misses the
 * type that must follow. */
static bool
template_arguments(reader_t *r)
{
    for (unsigned n = 0; r->pos < r->end && !take(r, "Z"); n++) {
        if (n != 0) {
            put(r, ", ");
        }
        if (!template_argument(r)) {
            return false;
        }
    }

    return true;
}


/* TemplateInstanceName: __T or __U, an LName, TemplateArgs, Z. */
static bool
template_parts(reader_t *r)
{
    if (r->pos[3] == '0' || !is_symbol_name(r, r->pos + 3)) {
        return false;
    }

    advance(r, 3);
    if (!identifier(r)) {
        return false;
    }

    put(r, "!(");
    if (!apart(r, template_arguments)) {
        return false;
    }

    put(r, ")");
    return true;
}


static bool
template_instance(reader_t *r, size_t len)
{
    const char *from = r->pos;
    bool is_read = enter(r) && template_parts(r);

    r->depth--;
    return is_read
           && (len == LENGTH_UNKNOWN || len == (size_t) (r->pos - from));
}


/* SymbolName */
static bool
identifier(reader_t *r)
{
    uint32_t len;

    for (;;) {
        if (*r->pos == 'Q') {
            return name_reference(r);
        }

        if (is_template(r->pos)) {
            return template_instance(r, LENGTH_UNKNOWN);
        }

        if (!number(r, &len) || len == 0 || len > (size_t) (r->end - r->pos)) {
            return false;
        }

        if (len >= 5 && is_template(r->pos)) {
            return template_instance(r, len);
        }

        if (!is_fake_parent(r->pos, len)) {
            plain_name(r, len);
            return true;
        }

        advance(r, len);
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
convention(reader_t *r)
{
    const char *text = convention_of(*r->pos);

    if (text == NULL) {
        return false;
    }

    put(r, text);
    advance(r, 1);
    return true;
}


/* FuncAttrs.  Ng, Nh, Nk and Nn belong to the first parameter. */
static bool
attributes(reader_t *r)
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
        put(r, texts[i]);
        advance(r, 2);
    }

    return r->pos < r->end;
}


/* TypeModifiers, behind what they modify. */
static bool
modifiers(reader_t *r)
{
    for (;;) {
        if (take(r, "x")) {
            put(r, " const");
            return true;
        }

        if (take(r, "y")) {
            put(r, " immutable");
            return true;
        }

        if (take(r, "O")) {
            put(r, " shared");
        } else if (take(r, "Ng")) {
            put(r, " inout");
        } else {
            return r->pos < r->end && *r->pos != 'N';
        }
    }
}


/* Parameter.  Compilers write both orders of "return" and "scope". */
static bool
parameter(reader_t *r)
{
    bool is_scope = take(r, "M");

    if (is_scope) {
        put(r, "scope ");
    }

    if (take(r, "Nk")) {
        put(r, "return ");
        if (!is_scope && take(r, "M")) {
            put(r, "scope ");
        }
    }

    if (take(r, "I")) {
        put(r, "in ");
        if (take(r, "K")) {
            put(r, "ref ");
        }
    } else if (take(r, "J")) {
        put(r, "out ");
    } else if (take(r, "K")) {
        put(r, "ref ");
    } else if (take(r, "L")) {
        put(r, "lazy ");
    }

    return type(r);
}


/* Parameters and ParamClose; the end of the name ends them as TemplateArgs. */
static bool
parameters(reader_t *r)
{
    put(r, "(");

    for (unsigned n = 0; r->pos < r->end && !take(r, "Z"); n++) {
        if (take(r, "X")) {
            put(r, "...");
            break;
        }

        if (n != 0) {
            put(r, ", ");
        }

        if (take(r, "Y")) {
            put(r, "...");
            break;
        }

        if (!parameter(r)) {
            return false;
        }
    }

    put(r, ")");
    return true;
}


/* TypeFunction: its parts in the order of the name, and shown type, parameters,
 * attributes. */
static bool
function_type(reader_t *r)
{
    const char *attributes_from, *parameters_from;

    if (!convention(r)) {
        return false;
    }

    attributes_from = r->pos;
    if (!skip(r, attributes)) {
        return false;
    }

    parameters_from = r->pos;
    if (!skip(r, parameters) || !apart(r, type)) {
        return false;
    }

    write_skipped(r, parameters_from, parameters);
    put(r, " ");
    write_skipped(r, attributes_from, attributes);
    return true;
}


/* TypeDelegate: D TypeModifiers, and the function or a reference to it. */
static bool
delegate_type(reader_t *r)
{
    const char *from = r->pos;

    if (!skip(r, modifiers)
        || !(*r->pos == 'Q' ? type_reference(r, function_type)
                            : function_type(r)))
    {
        return false;
    }

    put(r, "delegate");
    write_skipped(r, from, modifiers);
    return true;
}


/*
 * What may follow a SymbolName: [M [TypeModifiers]] TypeFunctionNoReturn.  An M
 * or the letter of a convention may as well begin what follows the whole name:
 * then this is none.
 */
static void
try_signature(reader_t *r, bool with_modifiers)
{
    const char *from = r->pos, *modifiers_from = NULL;
    size_t saved = r->len;
    bool is_read = true;

    if (take(r, "M")) {
        modifiers_from = r->pos;
        is_read = skip(r, modifiers);
    }

    is_read = is_read && skip(r, convention) && skip(r, attributes)
              && parameters(r) && r->pos < r->end;
    if (!is_read) {
        r->pos = from;
        r->len = saved;
        return;
    }

    if (with_modifiers && modifiers_from != NULL) {
        write_skipped(r, modifiers_from, modifiers);
    }
}


static bool
qualified_name_inside(reader_t *r, bool with_modifiers)
{
    bool is_first = true;

    do {
        size_t n_anonymous = strspn(r->pos, "0");

        if (n_anonymous != 0) {
            advance(r, n_anonymous);
            continue;
        }

        if (!is_first) {
            put(r, ".");
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


/* QualifiedName; with_modifiers: of `this`, behind the parameters. */
static bool
qualified_name(reader_t *r, bool with_modifiers)
{
    bool is_read = enter(r) && qualified_name_inside(r, with_modifiers);

    r->depth--;
    return is_read;
}


/* MangledName: _D QualifiedName, and Z or a type, which is not shown. */
static bool
mangled_name(reader_t *r)
{
    advance(r, 2);
    return qualified_name(r, true) && (take(r, "Z") || skip(r, type));
}


/* --- types --- */

/* A type in parentheses. */
static bool
wrapped_type(reader_t *r, const char *before)
{
    put(r, before);
    if (!type(r)) {
        return false;
    }

    put(r, ")");
    return true;
}


static bool
type_with(reader_t *r, const char *behind)
{
    if (!type(r)) {
        return false;
    }

    put(r, behind);
    return true;
}


/* TypeStaticArray: the number may have any size, or none. */
static bool
static_array(reader_t *r)
{
    const char *digits = r->pos;
    size_t n_digits = strspn(digits, DIGITS);

    advance(r, n_digits);
    if (!type(r)) {
        return false;
    }

    put(r, "[");
    put_bytes(r, digits, n_digits);
    put(r, "]");
    return true;
}


/* TypeAssocArray: first the key's type. */
static bool
associative_array(reader_t *r)
{
    const char *key = r->pos;

    if (!skip(r, type) || !type(r)) {
        return false;
    }

    put(r, "[");
    write_skipped(r, key, type);
    put(r, "]");
    return true;
}


/* TypeTuple: B Number Types */
static bool
tuple(reader_t *r)
{
    uint32_t n;

    if (!number(r, &n)) {
        return false;
    }

    put(r, "Tuple!(");
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0) {
            put(r, ", ");
        }
        if (!type(r)) {
            return false;
        }
    }

    put(r, ")");
    return true;
}


static bool
basic_type(reader_t *r, char letter)
{
    static const char *const texts[] = {
        "char",  "bool",         "creal",  "double",  "real",   "float",
        "byte",  "ubyte",        "int",    "ireal",   "uint",   "long",
        "ulong", "typeof(null)", "ifloat", "idouble", "cfloat", "cdouble",
        "short", "ushort",       "wchar",  "void",    "dchar",
    };
    unsigned i = (unsigned char) letter - 'a';

    if (i >= sizeof(texts) / sizeof(texts[0])) {
        return false;
    }

    put(r, texts[i]);
    return true;
}


/* Types that begin with N or z. */
static bool
two_letter_type(reader_t *r)
{
    static const struct {
        const char *letters, *text;
        bool is_wrapper;
    } types[] = {
        { "Ng", "inout(", true },         { "Nh", "__vector(", true },
        { "Nn", "typeof(*null)", false }, { "zi", "cent", false },
        { "zk", "ucent", false },
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!take(r, types[i].letters)) {
            continue;
        }
        if (types[i].is_wrapper) {
            return wrapped_type(r, types[i].text);
        }
        put(r, types[i].text);
        return true;
    }

    return false;
}


static bool
type_inside(reader_t *r)
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
        advance(r, 1);
        letter = *r->pos;
    }

    if (convention_of(letter) != NULL) {
        if (!function_type(r)) {
            return false;
        }
        put(r, "function");
        return true;
    }

    advance(r, letter != '\0');
    switch (letter) {
    case 'O':
        return wrapped_type(r, "shared(");
    case 'x':
        return wrapped_type(r, "const(");
    case 'y':
        return wrapped_type(r, "immutable(");
    case 'A':
        return type_with(r, "[]");
    case 'P':
        return type_with(r, "*");
    case 'G':
        return static_array(r);
    case 'H':
        return associative_array(r);
    case 'B':
        return tuple(r);
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
type(reader_t *r)
{
    bool is_read = enter(r) && type_inside(r);

    r->depth--;
    return is_read;
}


/* --- values: of parameters of templates --- */

static bool
character(reader_t *r, char kind)
{
    char text[16];
    uint32_t n;

    if (!number(r, &n)) {
        return false;
    }

    if (kind == 'a' && n >= 0x20 && n < 0x7f) {
        (void) snprintf(text, sizeof(text), "'%c'", (char) n);
    } else if (kind == 'a') {
        (void) snprintf(text, sizeof(text), "'\\x%02x'", n);
    } else if (kind == 'u') {
        (void) snprintf(text, sizeof(text), "'\\u%04x'", n);
    } else {
        (void) snprintf(text, sizeof(text), "'\\U%08x'", n);
    }

    put(r, text);
    return true;
}


static const char *
suffix_of(char kind)
{
    switch (kind) {
    case 'h':
    case 't':
    case 'k':
        return "u";
    case 'l':
        return "L";
    case 'm':
        return "uL";
    default:
        return "";
    }
}


/* kind: the first letter of its type. */
static bool
integer(reader_t *r, char kind)
{
    size_t n_digits;
    uint32_t n;

    if (kind == 'a' || kind == 'u' || kind == 'w') {
        return character(r, kind);
    }

    if (kind == 'b') {
        if (!number(r, &n)) {
            return false;
        }
        put(r, n != 0 ? "true" : "false");
        return true;
    }

    n_digits = strspn(r->pos, DIGITS);
    copy(r, n_digits);
    put(r, suffix_of(kind));
    return n_digits != 0;
}


/* HexFloat */
static bool
real(reader_t *r)
{
    static const char *const words[][2] = {
        { "NAN", "NaN" },
        { "INF", "Inf" },
        { "NINF", "-Inf" },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (take(r, words[i][0])) {
            put(r, words[i][1]);
            return true;
        }
    }

    if (take(r, "N")) {
        put(r, "-");
    }

    if (!is_hex_digit(*r->pos)) {
        return false;
    }

    put(r, "0x");
    copy(r, 1);
    put(r, ".");
    copy(r, strspn(r->pos, HEX_DIGITS));

    if (!take(r, "P")) {
        return false;
    }

    put(r, take(r, "N") ? "p-" : "p");
    copy(r, strspn(r->pos, DIGITS));
    return true;
}


static bool
complex(reader_t *r)
{
    if (!real(r) || !take(r, "c")) {
        return false;
    }

    put(r, "+");
    if (!real(r)) {
        return false;
    }

    put(r, "i");
    return true;
}


static unsigned
hex_of(char digit)
{
    return is_digit(digit) ? (unsigned) (digit - '0')
                           : (unsigned) ((digit | 0x20) - 'a') + 10;
}


/* A byte of a string, two digits; they are kept where it cannot be printed. */
static void
string_byte(reader_t *r)
{
    static const char escapes[] = "\tt\nn\rr\ff\vv";
    char byte = (char) (hex_of(r->pos[0]) << 4 | hex_of(r->pos[1]));
    const char *escape = byte != '\0' ? strchr(escapes, byte) : NULL;

    if (byte >= 0x20 && byte < 0x7f) {
        put_bytes(r, &byte, 1);
    } else if (escape != NULL) {
        put(r, "\\");
        put_bytes(r, escape + 1, 1);
    } else {
        put(r, "\\x");
        put_bytes(r, r->pos, 2);
    }
}


/* CharWidth Number _ HexDigits */
static bool
string(reader_t *r)
{
    char width = *r->pos;
    uint32_t len;

    advance(r, 1);
    if (!number(r, &len) || !take(r, "_")) {
        return false;
    }

    put(r, "\"");
    for (; len != 0; len--) {
        if (!is_hex_digit(r->pos[0]) || !is_hex_digit(r->pos[1])) {
            return false;
        }
        string_byte(r);
        advance(r, 2);
    }

    put(r, "\"");
    put_bytes(r, &width, width != 'a');
    return true;
}


/* Number Values: elements of an array, an associative array or a struct. */
static bool
values(reader_t *r, const char *open, const char *colon, const char *close)
{
    uint32_t n;

    if (!number(r, &n)) {
        return false;
    }

    put(r, open);
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0) {
            put(r, ", ");
        }
        if (!value(r, '\0')) {
            return false;
        }
        if (colon != NULL) {
            put(r, colon);
            if (!value(r, '\0')) {
                return false;
            }
        }
    }

    put(r, close);
    return true;
}


/* Value */
static bool
value_inside(reader_t *r, char kind)
{
    char letter = *r->pos;

    /* early compilers of D 2 wrote no i before an integer */
    if (is_digit(letter)) {
        return integer(r, kind);
    }

    if (letter == 'a' || letter == 'w' || letter == 'd') {
        return string(r);
    }

    advance(r, letter != '\0');
    switch (letter) {
    case 'n':
        put(r, "null");
        return true;
    case 'i':
        return integer(r, kind);
    case 'N':
        put(r, "-");
        return integer(r, kind);
    case 'e':
        return real(r);
    case 'c':
        return complex(r);
    case 'A':
        return values(r, "[", kind == 'H' ? ":" : NULL, "]");
    case 'S':
        return values(r, "(", NULL, ")");
    case 'f':
        return is_mangled_name(r) && mangled_name(r);
    default:
        return false;
    }
}


static bool
value(reader_t *r, char kind)
{
    bool is_read = enter(r) && value_inside(r, kind);

    r->depth--;
    return is_read;
}


size_t
sym_demangle_d(const char *name, size_t len, char *out, size_t size)
{
    reader_t r = { .name = name,
                   .pos = name,
                   .end = name + len,
                   .reference = name + len,
                   .out = out,
                   .size = size,
                   .work = WORK_MAX };

    if (strcmp(name, "_Dmain") == 0) {
        put(&r, "D main");
    } else if (!mangled_name(&r) || r.pos != r.end || r.work == 0) {
        return 0;
    }

    return r.len <= size ? r.len : 0;
}
