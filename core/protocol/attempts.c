#include "protocol/attempts.h"

#include "base/hex.h"

/* What stands before the next `end`; *rest: what stands behind it.  False:
 * there is no `end`. */
static bool
take_until(sym_str_t *rest, char end, sym_str_t *part)
{
    const char *at = rest->len == 0 ? NULL : memchr(rest->data, end, rest->len);

    if (at == NULL) {
        return false;
    }

    *part = sym_str(rest->data, (size_t) (at - rest->data));
    *rest = sym_str(at + 1, rest->len - part->len - 1);
    return true;
}


static bool
read_line(sym_str_t line, sym_attempt_t *a)
{
    sym_str_t bytes, ms;

    if (!take_until(&line, ' ', &a->source)
        || !take_until(&line, ' ', &a->outcome)
        || !take_until(&line, ' ', &bytes) || !take_until(&line, ' ', &ms))
    {
        return false;
    }

    a->url = line;
    return sym_dec_read(bytes, &a->bytes) && sym_dec_read(ms, &a->ms);
}


bool
sym_attempts_next(sym_str_t *text, sym_attempt_t *attempt)
{
    sym_str_t line;

    while (take_until(text, '\n', &line)) {
        if (read_line(line, attempt)) {
            return true;
        }
    }

    return false;
}
