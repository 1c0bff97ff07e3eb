#include "protocol/attempts.h"

#include "base/hex.h"
#include "protocol/message.h"

/* Splits at `end`: *rest is the part after it.  False: there is no `end`, and
 * the result is the complete text. */
static bool
take_until(sym_str_t *rest, char end, sym_str_t *part)
{
    const char *at = rest->len == 0 ? NULL : memchr(rest->data, end, rest->len);

    *part = *rest;

    if (at == NULL) {
        rest->len = 0;
        return false;
    }

    part->len = (size_t) (at - rest->data);
    *rest = sym_str(at + 1, rest->len - part->len - 1);
    return true;
}


static bool
take_number(sym_str_t *line, uint64_t *n)
{
    sym_str_t digits;
    bool is_followed = take_until(line, ' ', &digits);

    *n = 0;
    return sym_dec_read(digits, n) && is_followed;
}


bool
sym_attempts_is_cut(sym_str_t text)
{
    const sym_str_t cut = SYM_STR(SYM_ATTEMPTS_CUT);

    return text.len >= cut.len
           && memcmp(text.data + text.len - cut.len, cut.data, cut.len) == 0
           && (text.len == cut.len
               || text.data[text.len - cut.len - 1] == '\n');
}


bool
sym_attempts_line(sym_str_t *text, sym_attempt_t *a)
{
    sym_str_t line;

    if (text->len == 0 || sym_str_eq(*text, SYM_STR(SYM_ATTEMPTS_CUT))) {
        return false;
    }

    a->is_whole = take_until(text, '\n', &line);
    a->is_whole &= take_until(&line, ' ', &a->source);
    a->is_whole &= take_until(&line, ' ', &a->outcome);
    a->is_whole &= take_number(&line, &a->bytes);
    a->is_whole &= take_number(&line, &a->ms);
    a->url = line;
    return true;
}


bool
sym_attempts_next(sym_str_t *text, sym_attempt_t *attempt)
{
    while (sym_attempts_line(text, attempt)) {
        if (attempt->is_whole) {
            return true;
        }
    }

    return false;
}


size_t
sym_attempts_rate(sym_str_t text, uint32_t features, char *out, size_t size)
{
    const char *letters = SYM_ATTEMPT_LETTERS;
    size_t n_letters = sizeof(SYM_ATTEMPT_LETTERS) - 1, begin = text.len, at;
    char *p = out;

    if (text.len == 0 || sym_attempts_is_cut(text)
        || text.len + n_letters + 1 > size)
    {
        return 0;
    }

    for (begin--; begin > 0 && text.data[begin - 1] != '\n'; begin--) {
    }

    /* after the outcome, which follows the source */
    for (at = begin; at < text.len && text.data[at] != ' '; at++) {
    }
    for (begin = ++at; at < text.len && text.data[at] != ' '; at++) {
    }
    if (at >= text.len
        || memchr(text.data + begin, SYM_ATTEMPT_RATED, at - begin) != NULL)
    {
        return 0;
    }

    memcpy(p, text.data, at);
    p += at;
    *p++ = SYM_ATTEMPT_RATED;
    for (size_t i = 0; i < n_letters; i++) {
        if (features & (SYM_RPC_RATED << (i + 1))) {
            *p++ = letters[i];
        }
    }

    memcpy(p, text.data + at, text.len - at);
    return (size_t) (p - out) + text.len - at;
}


uint32_t
sym_attempt_features(const sym_attempt_t *attempt)
{
    const char *plus = attempt->outcome.len == 0
                           ? NULL
                           : memchr(attempt->outcome.data, SYM_ATTEMPT_RATED,
                                    attempt->outcome.len);
    const char *end = attempt->outcome.data + attempt->outcome.len;
    uint32_t features = SYM_RPC_RATED;

    if (plus == NULL) {
        return 0;
    }

    for (const char *p = plus + 1; p < end; p++) {
        const char *letter = strchr(SYM_ATTEMPT_LETTERS, *p);

        if (*p != '\0' && letter != NULL) {
            features |= SYM_RPC_RATED << (letter - SYM_ATTEMPT_LETTERS + 1);
        }
    }

    return features;
}


bool
sym_attempt_blocked(sym_str_t outcome, sym_attempt_blocked_t *blocked)
{
    sym_str_t rest = outcome, number;

    if (!sym_str_starts(outcome, SYM_STR(SYM_ATTEMPT_BLOCKED))) {
        return false;
    }

    return take_until(&rest, '/', &number) && take_until(&rest, '/', &number)
           && sym_dec_read(number, &blocked->block_ms)
           && take_until(&rest, '/', &blocked->outcome)
           && sym_dec_read(rest, &blocked->ms);
}
