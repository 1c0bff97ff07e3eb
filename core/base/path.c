#include "base/path.h"

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
           || (path.len >= 2 && path.data[0] == '/' && path.data[1] == '/');
}


/* The part from pos to the next separator or to the end. */
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


static sym_str_t
without_separators_at_end(sym_str_t path)
{
    while (path.len > 0 && is_separator(path.data[path.len - 1])) {
        path.len--;
    }

    return path;
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


/* A path under construction: a root that ".." cannot remove, then parts. */
typedef struct {
    char *out;
    size_t root, len;
    char separator;
    bool has_part; /* a separator must be written before the next part */
} joined_t;


static void
add_part(joined_t *j, sym_str_t part)
{
    size_t before = j->len;

    if (is_dots(part.data, part.len, 1)) {
        return;
    }

    if (is_dots(part.data, part.len, 2)) {
        while (before > j->root && j->out[before - 1] != j->separator) {
            before--;
        }

        if (j->has_part && !is_dots(j->out + before, j->len - before, 2)) {
            j->has_part = before > j->root;
            j->len = j->has_part ? before - 1 : j->root;
            return;
        }

        if (j->root > 0) {
            return; /* the root has no parent */
        }
    }

    if (j->has_part) {
        j->out[j->len++] = j->separator;
    }

    memcpy(j->out + j->len, part.data, part.len);
    j->len += part.len;
    j->has_part = true;
}


/* Reads the root of a folder and its parts; the caller appends the file
 * name. */
static void
add_folder(joined_t *j, sym_str_t folder)
{
    size_t pos = 0;

    if (has_drive(folder)) {
        memcpy(j->out, folder.data, 2);
        j->out[2] = j->separator;
        j->root = pos = 3;
    } else if (folder.len == 0) {
        j->out[0] = j->separator;
        j->root = 1;
    } else {
        while (is_separator(folder.data[pos])) {
            j->out[pos++] = j->separator;
        }
        j->root = pos;
    }

    j->len = j->root;

    while (pos < folder.len) {
        sym_str_t part = part_at(folder, pos);

        add_part(j, part);
        pos += part.len + 1;
    }
}


size_t
sym_clean_path(sym_str_t path, char *out)
{
    sym_str_t whole = without_separators_at_end(path);
    sym_str_t last = last_component(whole), folder;
    joined_t j = { .out = out, .separator = '/' };

    if (whole.len == 0) {
        memcpy(out, path.data, path.len); /* only the root */
        return path.len;
    }

    /* a compiler's pseudo file, such as <built-in>, is not below the folder;
       nor is a path with a drive */
    if ((last.len >= 2 && last.data[0] == '<' && last.data[last.len - 1] == '>')
        || has_drive(last) || last.len == whole.len)
    {
        if (is_dots(last.data, last.len, 1)) {
            return 0;
        }
        memcpy(out, last.data, last.len);
        return last.len;
    }

    /* the folder ends at the last separator, which is the root itself */
    folder = sym_str(whole.data, whole.len - last.len);
    if (folder.len > 1) {
        folder.len--;
    }

    j.separator = is_windows(folder) ? '\\' : '/';
    folder = without_separators_at_end(folder);
    add_folder(&j, folder);
    add_part(&j, last);

    return has_drive(folder) && j.len == j.root ? 2 : j.len;
}


static bool
cleans_to(sym_str_t path, sym_str_t want)
{
    char out[SYM_PATH_SPELT_MAX + 3];

    return sym_str_eq(sym_str(out, sym_clean_path(path, out)), want);
}


sym_str_t
sym_spell_path(sym_str_t path, char *out)
{
    sym_str_t last = last_component(path), spelt;
    size_t folder = path.len - last.len;

    if (folder == 0 || path.len > SYM_PATH_SPELT_MAX || cleans_to(path, path)) {
        return path;
    }

    memcpy(out, path.data, folder);
    out[folder] = '.';
    out[folder + 1] = path.data[folder - 1];
    memcpy(out + folder + 2, last.data, last.len);
    spelt = sym_str(out, path.len + 2);

    return cleans_to(spelt, path) ? spelt : path;
}
