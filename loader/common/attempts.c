#include "common/attempts.h"

#include <string.h>

#include "base/hex.h"

/* Takes what is before the separator off *s, and the separator. */
static sym_str_t
cut(sym_str_t *s, char separator)
{
    const char *at = s->len != 0 ? memchr(s->data, separator, s->len) : NULL;
    sym_str_t part = *s;

    if (at == NULL) {
        s->len = 0;
        return part;
    }

    part.len = (size_t) (at - s->data);
    s->data = at + 1;
    s->len -= part.len + 1;
    return part;
}


static uint64_t
number(sym_str_t s)
{
    uint64_t n;

    return sym_dec_read(s, &n) ? n : 0;
}


bool
attempts_next(sym_str_t *lines, attempt_t *attempt)
{
    sym_str_t line;

    if (lines->len == 0) {
        return false;
    }

    line = cut(lines, '\n');
    attempt->source = cut(&line, ' ');
    attempt->status = cut(&line, ' ');
    attempt->bytes = number(cut(&line, ' '));
    attempt->ms = number(cut(&line, ' '));
    attempt->url = line;
    return true;
}
