#include "api/sentry/path.h"

static bool
is_separator(char c)
{
    return c == '/' || c == '\\';
}


static bool
is_windows(sym_str_t path)
{
    const char *p = path.data;

    if (path.len == 0) {
        return false;
    }

    if (memchr(p, '\\', path.len) != NULL) {
        return true;
    }

    if (path.len >= 2 && p[0] == '/' && p[1] == '/') {
        return true;
    }

    return path.len >= 2 && p[1] == ':'
           && ((p[0] >= 'a' && p[0] <= 'z') || (p[0] >= 'A' && p[0] <= 'Z'))
           && (path.len == 2 || is_separator(p[2]));
}


sym_str_t
sentry_path_name(sym_str_t path)
{
    size_t end = path.len, start;

    while (end > 0 && is_separator(path.data[end - 1])) {
        end--;
    }

    end = end == 0 ? path.len : end;
    start = end;
    while (start > 0 && !is_separator(path.data[start - 1])) {
        start--;
    }

    return sym_str(path.data + start, end - start);
}


bool
sentry_path_is_clean(sym_str_t path)
{
    char separator = is_windows(path) ? '\\' : '/';
    bool is_first = true; /* first character of its part */

    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];

        if ((is_separator(c) && c != separator) || (c == '.' && is_first)) {
            return false;
        }
        is_first = is_separator(c);
    }

    return path.len == 0 || !is_first;
}


/* Removes the last part.  False: no part is left. */
static bool
pop(char *out, size_t *len)
{
    size_t at = *len;

    while (at > 0 && !is_separator(out[at - 1])) {
        at--;
    }

    if (*len == 0) {
        return false;
    }

    *len = at > 0 ? at - 1 : 0;
    return true;
}


size_t
sentry_path_clean(sym_str_t path, char *out)
{
    char separator = is_windows(path) ? '\\' : '/';
    bool needs_separator = false, is_past_root = false;
    size_t len = 0;

    for (size_t at = 0; at < path.len;) {
        size_t start = at;
        sym_str_t part;

        while (at < path.len && !is_separator(path.data[at])) {
            at++;
        }
        part = sym_str(path.data + start, at++ - start);

        if (sym_str_eq(part, SYM_STR("."))) {
            continue;
        }

        if (sym_str_eq(part, SYM_STR(".."))) {
            if (!is_past_root && pop(out, &len)) {
                needs_separator = needs_separator && len != 0;
                continue;
            }
            needs_separator = needs_separator && is_past_root;
            is_past_root = true;
        }

        if (needs_separator) {
            out[len++] = separator;
        }
        memcpy(out + len, part.data, part.len);
        len += part.len;
        needs_separator = true;
    }

    return len;
}
