#include "formats/pdb/srcsrv.h"

#define KEY "VERCTRL="
#define FILES "SRCSRV: source files"

/* Longer names are ignored. */
#define NAME_MAX_BYTES 64

/* Compares two texts, ignoring case. */
static bool
begins(sym_str_t line, const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        const int c = i < line.len ? line.data[i] : 0;

        if (c != text[i]
            && !(text[i] >= 'A' && text[i] <= 'Z' && c == text[i] - 'A' + 'a'))
        {
            return false;
        }
    }

    return true;
}


/* Consumes the next line of the text and its line end.  The result has no line
 * end. */
static sym_str_t
next_line(sym_str_t *rest)
{
    const char *end = memchr(rest->data, '\n', rest->len);
    size_t len = end != NULL ? (size_t) (end - rest->data) : rest->len;
    sym_str_t line = sym_str(rest->data, len);

    len += end != NULL;
    *rest = sym_str(rest->data + len, rest->len - len);
    while (line.len != 0 && (uint8_t) line.data[line.len - 1] <= ' ') {
        line.len--;
    }

    return line;
}


static bool
is_printable(sym_str_t text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < ' ' || text.data[i] > '~') {
            return false;
        }
    }

    return true;
}


sym_str_t
sym_pdb_version_control(sym_str_t srcsrv)
{
    while (srcsrv.len != 0) {
        sym_str_t line = next_line(&srcsrv);

        if (begins(line, KEY)) {
            line = sym_str(line.data + sizeof(KEY) - 1,
                           line.len - (sizeof(KEY) - 1));
            return line.len <= NAME_MAX_BYTES && is_printable(line)
                       ? line
                       : SYM_STR("");
        }

        if (sym_str_starts(line, SYM_STR(FILES))) {
            break; /* variables precede the list of files */
        }
    }

    return SYM_STR("");
}
