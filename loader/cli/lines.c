#include "cli/lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"


ssize_t
lines_read(lines_t *l, int fd)
{
    ssize_t n;

    memmove(l->buffer, l->buffer + l->taken, l->have - l->taken);
    l->have -= l->taken;
    l->taken = 0;

    do {
        n = read(fd, l->buffer + l->have, LINES_BYTES - l->have);
    } while (n < 0 && errno == EINTR);

    if (n > 0) {
        l->have += (size_t) n;
    }

    l->at_end = n == 0;
    return n;
}


bool
lines_are_ready(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}


bool
lines_next(lines_t *l, sym_str_t *line)
{
    const char *start = l->buffer + l->taken;
    size_t left = l->have - l->taken;
    const char *newline = memchr(start, '\n', left);

    if (newline != NULL) {
        *line = sym_str(start, (size_t) (newline - start));
        l->taken += line->len + 1;
        return true;
    }

    if (left == 0 || (!l->at_end && left < LINES_BYTES)) {
        return false;
    }

    *line = sym_str(start, left);
    l->taken = l->have;
    return true;
}


bool
lines_number(lines_t *l, uint64_t *value)
{
    const char *start = l->buffer + l->taken;
    size_t left = l->have - l->taken, n;

    n = sym_hex_prefix(sym_str(start, left), value);

    if (n == 0 || n == left || start[n] != '\n') {
        return false;
    }

    l->taken += n + 1;
    return true;
}


static bool
is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}


sym_str_t
lines_trim(sym_str_t line)
{
    const char *p = line.data, *end = p + line.len;

    while (p < end && is_space(*p)) {
        p++;
    }

    while (p < end && is_space(end[-1])) {
        end--;
    }

    return sym_str(p, (size_t) (end - p));
}


bool
lines_word(sym_str_t *line, sym_str_t *word)
{
    const char *p = line->data, *end = p + line->len;

    while (p < end && is_space(*p)) {
        p++;
    }

    word->data = p;

    while (p < end && !is_space(*p)) {
        p++;
    }

    word->len = (size_t) (p - word->data);
    *line = sym_str(p, (size_t) (end - p));
    return word->len != 0;
}
