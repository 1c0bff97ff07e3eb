#include "sources/paths/path.h"

static char
cased(char c, sym_case_t to)
{
    if (to == SYM_CASE_LOWER && c >= 'A' && c <= 'Z') {
        return (char) (c + ('a' - 'A'));
    }

    if (to == SYM_CASE_UPPER && c >= 'a' && c <= 'z') {
        return (char) (c - ('a' - 'A'));
    }

    return c;
}


void
sym_path_bytes(sym_path_t *path, const char *bytes, size_t len)
{
    if (path->is_full || len > path->size - path->len) {
        path->is_full = true;
        return;
    }

    memcpy(path->data + path->len, bytes, len);
    path->len += len;
}


void
sym_path_part(sym_path_t *path, sym_str_t part, sym_case_t to)
{
    sym_case_t all = path->casing == SYM_SOURCE_CASING_LOWER   ? SYM_CASE_LOWER
                     : path->casing == SYM_SOURCE_CASING_UPPER ? SYM_CASE_UPPER
                                                               : SYM_CASE_AS_IS;

    for (size_t i = 0; i < part.len; i++) {
        char c = cased(cased(part.data[i], to), all);

        sym_path_bytes(path, &c, 1);
    }
}


void
sym_path_text(sym_path_t *path, const char *text)
{
    sym_path_part(path, sym_cstr(text), SYM_CASE_AS_IS);
}


void
sym_path_slash(sym_path_t *path)
{
    sym_path_bytes(path, "/", 1);
}


void
sym_path_lldb(sym_path_t *path, sym_str_t uuid)
{
    for (size_t i = 0; i < 20; i += 4) {
        sym_path_part(path, sym_str(uuid.data + i, 4), SYM_CASE_UPPER);
        sym_path_slash(path);
    }

    sym_path_part(path, sym_str(uuid.data + 20, 12), SYM_CASE_UPPER);
}


void
sym_path_cut_id(sym_path_t *path, sym_str_t id)
{
    sym_path_part(path, sym_str(id.data, 2), SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_part(path, sym_str(id.data + 2, id.len - 2), SYM_CASE_LOWER);
}


void
sym_path_mark_packed(sym_path_t *path)
{
    bool goes_on = true;

    /* bytes from 0x80 to 0xbf continue a character of UTF-8 */
    while (goes_on && !path->is_full && path->len > 0
           && path->data[path->len - 1] != '/')
    {
        path->len--;
        goes_on = ((uint8_t) path->data[path->len] & 0xc0) == 0x80;
    }

    sym_path_bytes(path, "_", 1);
}


void
sym_path_index2(sym_path_t *path, sym_str_t text)
{
    size_t n =
        text.len > 1 && text.data[1] != '/' && text.data[1] != '.' ? 2 : 1;

    if (n < text.len && ((uint8_t) text.data[n] & 0xc0) != 0x80) {
        sym_path_part(path, sym_str(text.data, n), SYM_CASE_AS_IS);
        sym_path_slash(path);
    }
}
