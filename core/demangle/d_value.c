/*
 * Values of template parameters in D: D's ABI, "Name Mangling", Value.
 */
#include <stdio.h>

#include "demangle/d_reader.h"

#define HEX_DIGITS SYM_D_DIGITS "abcdefABCDEF"


static bool
is_hex_digit(char c)
{
    return c != '\0' && strchr(HEX_DIGITS, c) != NULL;
}


static bool
character(sym_d_reader_t *r, char kind)
{
    char text[16];
    uint32_t n;

    if (!sym_d_number(r, &n)) {
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

    return sym_d_put(r, text);
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


static bool
integer(sym_d_reader_t *r, char kind)
{
    size_t n_digits;
    uint32_t n;

    if (kind == 'a' || kind == 'u' || kind == 'w') {
        return character(r, kind);
    }

    if (kind == 'b') {
        return sym_d_number(r, &n) && sym_d_put(r, n != 0 ? "true" : "false");
    }

    n_digits = strspn(r->pos, SYM_D_DIGITS);
    return n_digits != 0 && sym_d_copy(r, n_digits)
           && sym_d_put(r, suffix_of(kind));
}


/* HexFloat */
static bool
real(sym_d_reader_t *r)
{
    if (sym_d_take(r, "NAN")) {
        return sym_d_put(r, "NaN");
    }

    if (sym_d_take(r, "INF")) {
        return sym_d_put(r, "Inf");
    }

    if (sym_d_take(r, "NINF")) {
        return sym_d_put(r, "-Inf");
    }

    sym_d_put(r, sym_d_take(r, "N") ? "-0x" : "0x");
    return is_hex_digit(*r->pos) && sym_d_copy(r, 1) && sym_d_put(r, ".")
           && sym_d_copy(r, strspn(r->pos, HEX_DIGITS)) && sym_d_take(r, "P")
           && sym_d_put(r, sym_d_take(r, "N") ? "p-" : "p")
           && sym_d_copy(r, strspn(r->pos, SYM_D_DIGITS));
}


static unsigned
hex_of(char digit)
{
    return sym_d_is_digit(digit) ? (unsigned) (digit - '0')
                                 : (unsigned) ((digit | 0x20) - 'a') + 10;
}


/* Writes a byte of a string.  The name contains its two digits, which are
 * written after \x if the byte cannot be shown. */
static void
put_string_byte(sym_d_reader_t *r)
{
    static const char escapes[] = "\tt\nn\rr\ff\vv";
    char byte = (char) (hex_of(r->pos[0]) << 4 | hex_of(r->pos[1]));
    const char *escape = byte != '\0' ? strchr(escapes, byte) : NULL;

    if (byte >= 0x20 && byte < 0x7f) {
        sym_d_put_bytes(r, &byte, 1);
    } else if (escape != NULL) {
        sym_d_put(r, "\\");
        sym_d_put_bytes(r, escape + 1, 1);
    } else {
        sym_d_put(r, "\\x");
        sym_d_put_bytes(r, r->pos, 2);
    }
}


/* CharWidth Number _ HexDigits */
static bool
string(sym_d_reader_t *r)
{
    char width = *r->pos;
    uint32_t len;

    sym_d_advance(r, 1);
    if (!sym_d_number(r, &len) || !sym_d_take(r, "_")) {
        return false;
    }

    sym_d_put(r, "\"");
    for (; len != 0; len--) {
        if (!is_hex_digit(r->pos[0]) || !is_hex_digit(r->pos[1])) {
            return false;
        }
        put_string_byte(r);
        sym_d_advance(r, 2);
    }

    return sym_d_put(r, "\"") && sym_d_put_bytes(r, &width, width != 'a');
}


static bool
element(sym_d_reader_t *r)
{
    return sym_d_value(r, '\0');
}


static bool
key_and_element(sym_d_reader_t *r)
{
    return element(r) && sym_d_put(r, ":") && element(r);
}


static bool
value_inside(sym_d_reader_t *r, char kind)
{
    char letter = *r->pos;

    /* early compilers of D 2 wrote no "i" before an integer */
    if (sym_d_is_digit(letter)) {
        return integer(r, kind);
    }

    if (letter == 'a' || letter == 'w' || letter == 'd') {
        return string(r);
    }

    sym_d_advance(r, letter != '\0');
    switch (letter) {
    case 'n':
        return sym_d_put(r, "null");
    case 'i':
        return integer(r, kind);
    case 'N':
        return sym_d_put(r, "-") && integer(r, kind);
    case 'e':
        return real(r);
    case 'c':
        return real(r) && sym_d_take(r, "c") && sym_d_put(r, "+") && real(r)
               && sym_d_put(r, "i");
    case 'A':
        return sym_d_list(r, "[", kind == 'H' ? key_and_element : element, "]");
    case 'S':
        return sym_d_list(r, "(", element, ")");
    case 'f':
        return sym_d_mangled_name(r);
    default:
        return false;
    }
}


bool
sym_d_value(sym_d_reader_t *r, char kind)
{
    bool is_read = sym_d_enter(r) && value_inside(r, kind);

    r->depth--;
    return is_read;
}
