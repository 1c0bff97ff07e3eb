#include "breakpad/path.h"

#include <stdbool.h>

static bool
is_separator(char c)
{
    return c == '/' || c == '\\';
}


static bool
has_drive(sym_str_t path)
{
    char letter = (char) (path.len >= 2 ? path.data[0] | 0x20 : 0);

    return letter >= 'a' && letter <= 'z' && path.data[1] == ':'
           && (path.len == 2 || is_separator(path.data[2]));
}


static bool
is_windows(sym_str_t path)
{
    return has_drive(path) || memchr(path.data, '\\', path.len) != NULL
           || (path.len > 2 && path.data[0] == '/' && path.data[1] == '/');
}


/* The part from pos to the next separator or the end. */
static sym_str_t
part_at(sym_str_t path, size_t pos)
{
    size_t end = pos;

    while (end < path.len && !is_separator(path.data[end])) {
        end++;
    }

    return sym_str(path.data + pos, end - pos);
}


static bool
is_dots(const char *data, size_t len, size_t n)
{
    return len == n && memcmp(data, "..", n) == 0;
}


/* Where the last part of out begins, past the root. */
static size_t
last_part(const char *out, size_t root, size_t len, char separator)
{
    while (len > root && out[len - 1] != separator) {
        len--;
    }

    return len;
}


static sym_str_t
trim_separators(sym_str_t path)
{
    size_t len = path.len;

    while (len > 0 && is_separator(path.data[len - 1])) {
        len--;
    }

    return len == 0 ? path : sym_str(path.data, len);
}


static sym_str_t
last_component(sym_str_t path)
{
    size_t start = path.len;

    while (start > 0 && !is_separator(path.data[start - 1])) {
        start--;
    }

    return sym_str(path.data + start, path.len - start);
}


/* Copies what ".." cannot remove: a drive, separators in front. */
static size_t
copy_root(sym_str_t path, char separator, char *out)
{
    size_t len = 0;

    if (has_drive(path)) {
        out[len++] = path.data[0];
        out[len++] = path.data[1];
        if (len < path.len) {
            out[len++] = separator;
        }
        return len;
    }

    while (len < path.len && is_separator(path.data[len])) {
        out[len++] = separator;
    }

    return len;
}


size_t
sym_path_clean(sym_str_t path, char *out)
{
    sym_str_t last;
    size_t root, len;
    char separator;

    path = trim_separators(path);
    last = last_component(path);

    /* a compiler's own name, as <built-in>, stands alone */
    if (last.len >= 2 && last.data[0] == '<' && last.data[last.len - 1] == '>')
    {
        memcpy(out, last.data, last.len);
        return last.len;
    }

    if (path.len == 0) {
        return 0;
    }

    separator = is_windows(path) ? '\\' : '/';
    root = len = copy_root(path, separator, out);

    for (size_t pos = root; pos < path.len;) {
        sym_str_t part = part_at(path, pos);
        size_t before = last_part(out, root, len, separator);

        pos += part.len + 1;

        if (is_dots(part.data, part.len, 1)) {
            continue;
        }

        if (is_dots(part.data, part.len, 2)) {
            if (len > root && !is_dots(out + before, len - before, 2)) {
                len = before > root ? before - 1 : root;
                continue;
            }

            if (root > 0) {
                continue; /* nothing lies above the root */
            }
        }

        if (len > root) {
            out[len++] = separator;
        }

        memcpy(out + len, part.data, part.len);
        len += part.len;
    }

    return len;
}
