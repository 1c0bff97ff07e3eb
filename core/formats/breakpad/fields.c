#include "formats/breakpad/fields.h"

void
sym_fields_fail(sym_fields_t *f, const char *what, const char *where)
{
    if (f->what == NULL) {
        f->what = what;
        f->where = where;
    }

    f->pos = f->end;
}


/* The usual case: the byte is no space and not part of a longer character. */
static bool
is_plain(char c)
{
    return c > ' ' && c != 0x7f;
}


static void
trim_end(sym_fields_t *f)
{
    while (f->pos < f->end && !is_plain(f->end[-1])) {
        const char *p = f->end - 1;
        size_t at = 0;

        while (p > f->pos && ((uint8_t) *p & 0xc0) == 0x80) {
            p--; /* back to the first byte of the character */
        }

        if (!sym_utf8_is_space(
                sym_utf8_next(sym_str(p, (size_t) (f->end - p)), &at))) {
            return;
        }
        f->end = p;
    }
}


static void
trim_start(sym_fields_t *f)
{
    while (f->pos < f->end && !is_plain(*f->pos)) {
        sym_str_t left = { f->pos, (size_t) (f->end - f->pos) };
        size_t at = 0;

        if (!sym_utf8_is_space(sym_utf8_next(left, &at))) {
            return;
        }
        f->pos += at;
    }
}


static const char *
first_bad_byte(sym_str_t s)
{
    size_t pos = 0, next = 0;

    while (pos < s.len) {
        /* U+FFFD has three bytes, but only the one invalid byte is skipped */
        if (sym_utf8_next(s, &next) == 0xfffd && next - pos != 3) {
            break;
        }
        pos = next;
    }

    return s.data + pos;
}


sym_fields_t
sym_fields(sym_str_t line, size_t skip)
{
    sym_fields_t f = { line.data, line.data + line.len, NULL, NULL };

    if (!sym_utf8_valid(line)) {
        sym_fields_fail(&f, "text is not UTF-8", first_bad_byte(line));
        return f;
    }

    f.pos += skip;
    trim_end(&f);

    if (skip == 0) {
        trim_start(&f);
    }

    return f;
}


static inline void
skip_spaces(sym_fields_t *f)
{
    while (f->pos < f->end && sym_is_space(*f->pos)) {
        f->pos++;
    }
}


/* The value of a digit; more than 15 for other characters. */
static inline unsigned
hex_digit(char c)
{
    unsigned digit = (unsigned) (uint8_t) c - '0';
    unsigned letter = ((unsigned) (uint8_t) c | 0x20) - 'a';

    return digit <= 9 ? digit : letter <= 5 ? letter + 10 : 16;
}


uint64_t
sym_fields_hex(sym_fields_t *f, sym_field_name_t name)
{
    const char *start;
    uint64_t value = 0;
    unsigned digit;

    skip_spaces(f);
    start = f->pos;

    if (start == f->end) {
        sym_fields_fail(f, name.missing, start);
        return 0;
    }

    for (; f->pos < f->end && (digit = hex_digit(*f->pos)) <= 15; f->pos++) {
        if (value >> 60 != 0) {
            sym_fields_fail(f, "number has more than 64 bits", start);
            return 0;
        }
        value = value << 4 | digit;
    }

    if (f->pos == start || (f->pos < f->end && !sym_is_space(*f->pos))) {
        sym_fields_fail(f, name.wrong, start);
        return 0;
    }

    return value;
}


uint64_t
sym_fields_dec(sym_fields_t *f, sym_field_name_t name)
{
    const char *start;
    uint64_t value = 0;

    skip_spaces(f);
    start = f->pos;

    if (start == f->end) {
        sym_fields_fail(f, name.missing, start);
        return 0;
    }

    for (; f->pos < f->end && (uint8_t) (*f->pos - '0') <= 9; f->pos++) {
        uint64_t digit = (uint64_t) (*f->pos - '0');

        if (value > (UINT64_MAX - digit) / 10) {
            sym_fields_fail(f, "number has more than 64 bits", start);
            return 0;
        }
        value = value * 10 + digit;
    }

    if (f->pos == start || (f->pos < f->end && !sym_is_space(*f->pos))) {
        sym_fields_fail(f, name.wrong, start);
        return 0;
    }

    return value;
}


sym_str_t
sym_fields_word(sym_fields_t *f)
{
    const char *start;

    skip_spaces(f);
    start = f->pos;

    while (f->pos < f->end && !sym_is_space(*f->pos)) {
        f->pos++;
    }

    return sym_str(start, (size_t) (f->pos - start));
}


sym_str_t
sym_fields_rest(sym_fields_t *f)
{
    sym_str_t rest;

    skip_spaces(f);
    rest = sym_str(f->pos, (size_t) (f->end - f->pos));
    f->pos = f->end;
    return rest;
}


bool
sym_fields_flag(sym_fields_t *f, char c)
{
    skip_spaces(f);

    if (f->end - f->pos < 2 || f->pos[0] != c || !sym_is_space(f->pos[1])) {
        return false;
    }

    f->pos += 2;
    return true;
}


bool
sym_fields_minus(sym_fields_t *f)
{
    skip_spaces(f);

    if (f->end - f->pos < 2 || f->pos[0] != '-' || sym_is_space(f->pos[1])) {
        return false;
    }

    f->pos++;
    return true;
}


size_t
sym_fields_count(const sym_fields_t *f)
{
    size_t n = 0;
    bool was_space = true;

    /* has no branch, because every INLINE record passes here */
    for (const char *p = f->pos; p < f->end; p++) {
        bool is_space = (uint8_t) *p <= ' ';

        n += was_space && !is_space;
        was_space = is_space;
    }

    return n;
}


void
sym_fields_end(sym_fields_t *f, const char *what)
{
    skip_spaces(f);

    if (f->pos < f->end) {
        sym_fields_fail(f, what, f->pos);
    }
}
