#include "uploads/names.h"

#include <string.h>
#include <strings.h>

#include "base/hex.h"

static bool
is_dots(sym_str_t part)
{
    return sym_str_eq(part, SYM_STR(".")) || sym_str_eq(part, SYM_STR(".."));
}


bool
sym_upload_name_ok(sym_str_t name)
{
    sym_str_t rest = name;

    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = (uint8_t) name.data[i];

        if (c < ' ' || c == 0x7f || c == '\\') {
            return false;
        }
    }

    do {
        sym_str_t part = sym_str_cut(&rest, '/');

        if (part.len == 0 || is_dots(part)) {
            return false;
        }
    } while (rest.data != NULL);

    return sym_utf8_valid(name);
}


/* Tecken's pattern allows any character but U+0000-1F, U+0080-FF and these. */
static bool
is_mozilla_part(sym_str_t part)
{
    static const char excluded[] = "\\^`><{}[]#%\"'|/";

    for (size_t i = 0; i < part.len; i++) {
        uint8_t c = (uint8_t) part.data[i];

        /* in UTF-8, U+0080-FF begin with c2 or c3 */
        if (c < ' ' || c == 0xc2 || c == 0xc3 || strchr(excluded, c) != NULL) {
            return false;
        }
    }

    return part.len != 0 && !is_dots(part);
}


static bool
is_hex(sym_str_t part)
{
    for (size_t i = 0; i < part.len; i++) {
        if (sym_hex_digit(part.data[i]) < 0) {
            return false;
        }
    }

    return part.len != 0;
}


static bool
is_ignored(sym_str_t name)
{
    const char *slash = memrchr(name.data, '/', name.len);
    sym_str_t base = name;

    if (slash == NULL) {
        return sym_str_ends_nocase(name, SYM_STR("-symbols.txt"))
               || sym_str_eq(name, SYM_STR(".DS_Store"));
    }

    base.data = slash + 1;
    base.len = name.len - (size_t) (slash + 1 - name.data);
    return base.len == 0 || sym_str_eq(base, SYM_STR(".DS_Store"));
}


sym_mozilla_name_t
sym_mozilla_name(sym_str_t name)
{
    sym_str_t rest = name, a, id, b;

    if (name.len == 0) {
        return SYM_MOZILLA_UNKNOWN;
    }

    if (memmem(name.data, name.len, SYM_MOZILLA_SNIPPET,
               sizeof(SYM_MOZILLA_SNIPPET) - 1)
        != NULL)
    {
        return SYM_MOZILLA_BANNED;
    }

    if (is_ignored(name)) {
        return SYM_MOZILLA_IGNORED;
    }

    a = sym_str_cut(&rest, '/');
    id = sym_str_cut(&rest, '/');
    b = sym_str_cut(&rest, '/');
    return rest.data == NULL && is_mozilla_part(a) && is_hex(id)
                   && is_mozilla_part(b) && sym_utf8_valid(name)
               ? SYM_MOZILLA_FILE
               : SYM_MOZILLA_UNKNOWN;
}
