#include "formats/proguard/reader.h"

/* The rest of a line. */
typedef struct {
    const char *p, *end;
} line_t;

static const char *
skip_newlines(const char *p, const char *end)
{
    while (p < end && (*p == '\n' || *p == '\r')) {
        p++;
    }

    return p;
}


static const char *
skip_blanks(const char *p, const char *end)
{
    while (
        p < end
        && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '\f'))
    {
        p++;
    }

    return p;
}


/* Lines end in \n, \r or both. */
static const char *
line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t) (end - p)), *cr;

    end = newline != NULL ? newline : end;
    cr = memchr(p, '\r', (size_t) (end - p));
    return cr != NULL ? cr : end;
}


static bool
take(line_t *l, sym_str_t text)
{
    if ((size_t) (l->end - l->p) < text.len
        || memcmp(l->p, text.data, text.len) != 0)
    {
        return false;
    }

    l->p += text.len;
    return true;
}


/* Reads a number.  False: it is not a 64-bit number, and nothing is
 * consumed. */
static bool
take_number(line_t *l, sym_proguard_number_t *number)
{
    const char *p = l->p;
    uint64_t value = 0;

    for (; p < l->end && *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, 10, &value)
            || __builtin_add_overflow(value, (unsigned) (*p - '0'), &value))
        {
            return false;
        }
    }

    if (p == l->p) {
        return false;
    }

    l->p = p;
    *number = (sym_proguard_number_t){ true, value };
    return true;
}


/* The text before the first of two characters. */
static bool
take_until(line_t *l, char a, char b, sym_str_t *text)
{
    const char *p = l->p;

    while (p < l->end && *p != a && *p != b) {
        p++;
    }

    *text = sym_str(l->p, (size_t) (p - l->p));
    l->p = p;
    return p < l->end;
}


/* Reads "3" or "3:4" after a colon. */
static bool
read_original_lines(line_t *l, sym_proguard_record_t *r)
{
    return !take(l, SYM_STR(":"))
           || (take_number(l, &r->first)
               && (!take(l, SYM_STR(":")) || take_number(l, &r->last)));
}


/* Splits "a.B.c" into class and name. */
static void
split_owner(sym_proguard_record_t *r)
{
    for (size_t i = r->original.len; i > 0; i--) {
        if (r->original.data[i - 1] == '.') {
            r->owner = sym_str(r->original.data, i - 1);
            r->original = sym_str(r->original.data + i, r->original.len - i);
            return;
        }
    }
}


/* [START:END:]TYPE ORIGINAL[(PARAMETERS)[:FIRST[:LAST]]] -> NAME */
static bool
read_member(line_t *l, sym_proguard_record_t *r)
{
    sym_str_t type;

    if (take_number(l, &r->start)
        && (!take(l, SYM_STR(":")) || !take_number(l, &r->end)
            || !take(l, SYM_STR(":"))))
    {
        return false;
    }

    if (!take_until(l, ' ', ' ', &type) || !take(l, SYM_STR(" "))
        || !take_until(l, ' ', '(', &r->original))
    {
        return false;
    }

    r->type = SYM_PROGUARD_FIELD;

    if (take(l, SYM_STR("("))) {
        r->type = SYM_PROGUARD_METHOD;
        if (!take_until(l, ')', ')', &r->parameters) || !take(l, SYM_STR(")"))
            || !read_original_lines(l, r))
        {
            return false;
        }
        split_owner(r);
    }

    if (!take(l, SYM_STR(" -> "))) {
        return false;
    }

    r->name = sym_str(l->p, (size_t) (l->end - l->p));
    l->p = l->end;
    return true;
}


/* ORIGINAL -> NAME: */
static bool
read_class(line_t *l, sym_proguard_record_t *r)
{
    r->type = SYM_PROGUARD_CLASS;
    return take_until(l, ' ', ' ', &r->original) && take(l, SYM_STR(" -> "))
           && take_until(l, ':', ':', &r->name) && take(l, SYM_STR(":"));
}


bool
sym_proguard_next(sym_str_t *rest, sym_proguard_record_t *r)
{
    const char *end = rest->data + rest->len;
    const char *start = skip_newlines(rest->data, end);
    const char *text = skip_blanks(start, end);
    bool is_read = true;
    line_t l;

    *r = (sym_proguard_record_t){ .type = SYM_PROGUARD_COMMENT };

    if (start == end) {
        *rest = sym_str(end, 0);
        return false;
    }

    if (text < end && *text == '#') {
        l = (line_t){ text + 1, line_end(text, end) };
        l.p = skip_blanks(l.p, l.end);
        r->text = sym_str(l.p, (size_t) (l.end - l.p));
        if (r->text.len != 0 && *l.p == '{') {
            r->type = SYM_PROGUARD_METADATA;
        }
        l.p = l.end;
    } else if (*start == ' ' || *start == '\t') {
        l = (line_t){ text, line_end(text, end) };
        is_read = read_member(&l, r);
    } else {
        l = (line_t){ start, line_end(start, end) };
        is_read = read_class(&l, r);
    }

    if (!is_read || !sym_utf8_valid(sym_str(text, (size_t) (l.p - text)))) {
        *r = (sym_proguard_record_t){ .type = SYM_PROGUARD_INVALID };
        l.p = line_end(start, end);
    }

    *rest = sym_str(l.p, (size_t) (end - l.p));
    return true;
}
