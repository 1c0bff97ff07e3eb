#include "sources/paths/symstore_pointer.h"

#include <strings.h>

/* Skips the word, ignoring case; false: the text does not continue with it. */
static bool
take_word(sym_str_t *text, sym_str_t word)
{
    if (text->len < word.len
        || strncasecmp(text->data, word.data, word.len) != 0) {
        return false;
    }

    *text = sym_str(text->data + word.len, text->len - word.len);
    return true;
}


static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}


/* Returns the first line without white space around it. */
static sym_str_t
first_line(sym_str_t text)
{
    const char *end = text.len == 0 ? NULL : memchr(text.data, '\n', text.len);

    if (end != NULL) {
        text.len = (size_t) (end - text.data);
    }

    while (text.len > 0 && is_blank(text.data[0])) {
        text = sym_str(text.data + 1, text.len - 1);
    }

    while (text.len > 0 && is_blank(text.data[text.len - 1])) {
        text.len--;
    }

    return text;
}


static bool
is_elsewhere(const char *path, size_t len)
{
    return len >= 2 && (path[1] == ':' || (path[0] == '/' && path[1] == '/'));
}


sym_pointer_t
sym_symstore_pointer(sym_str_t text, char *out, size_t size)
{
    sym_str_t line = first_line(text);

    if (take_word(&line, SYM_STR("MSG:"))) {
        return SYM_POINTER_MESSAGE;
    }

    if (!take_word(&line, SYM_STR("PATH:"))) {
        return SYM_POINTER_INVALID;
    }

    line = first_line(line);
    if (line.len == 0 || line.len >= size
        || memchr(line.data, '\0', line.len) != NULL)
    {
        return SYM_POINTER_INVALID;
    }

    for (size_t i = 0; i < line.len; i++) {
        out[i] = (char) (line.data[i] == '\\' ? '/' : line.data[i]);
    }

    out[line.len] = '\0';
    return is_elsewhere(out, line.len) ? SYM_POINTER_ELSEWHERE
                                       : SYM_POINTER_PATH;
}


bool
sym_symstore_is_named(sym_str_t file, sym_str_t folder)
{
    size_t last = file.len - 1;

    return file.len > 1 && file.len == folder.len
           && strncasecmp(file.data, folder.data, last) == 0
           && (file.data[last] == '_'
               || strncasecmp(file.data + last, folder.data + last, 1) == 0);
}
