#include "formats/script/comments.h"

#include "base/base64.h"

/* "//# " */
#define OPENING_BYTES 4

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}


/* The last `//# NAME=VALUE`, because browsers accept only `//#` and one
 * blank. */
static sym_str_t
last_comment(sym_str_t script, sym_str_t name, bool has_old_form)
{
    const char *data = script.data, *end = data + script.len;

    for (size_t i = script.len; i-- > OPENING_BYTES;) {
        const char *at = data + i, *value;

        at = memrchr(data, name.data[0], i + 1);
        if (at == NULL || at - data < OPENING_BYTES) {
            break;
        }

        i = (size_t) (at - data);
        if ((size_t) (end - at) < name.len
            || memcmp(at, name.data, name.len) != 0
            || memcmp(at - OPENING_BYTES, "//", 2) != 0 || at[-1] != ' '
            || (at[-2] != '#' && !(has_old_form && at[-2] == '@')))
        {
            continue;
        }

        for (value = at + name.len; value < end && is_space(*value); value++) {
        }

        for (at = value; at < end && !is_space(*at); at++) {
        }

        return sym_str(value, (size_t) (at - value));
    }

    return sym_str(NULL, 0);
}


sym_str_t
sym_script_map_reference(sym_str_t script)
{
    sym_str_t url = last_comment(script, SYM_STR("sourceMappingURL="), true);

    for (size_t i = 0; i < url.len; i++) {
        if (url.data[i] == '?' || url.data[i] == '#') {
            return sym_str(url.data, i);
        }
    }

    return url;
}


size_t
sym_script_debug_id(sym_str_t script, char id[SYM_ID_MAX])
{
    sym_str_t text = last_comment(script, SYM_STR("debugId="), false);

    return text.data != NULL ? sym_uuid_canonical(text, id) : 0;
}


static int
hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}


/* A `%` without two digits is kept. */
static void
read_percents(sym_str_t text, char *out, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int high = -1, low = -1;

        if (text.data[i] == '%' && text.len - i > 2) {
            high = hex_digit(text.data[i + 1]);
            low = hex_digit(text.data[i + 2]);
        }

        if (high >= 0 && low >= 0) {
            out[(*len)++] = (char) (high << 4 | low);
            i += 2;
        } else {
            out[(*len)++] = text.data[i];
        }
    }
}


bool
sym_script_is_data_url(sym_str_t reference)
{
    return reference.data != NULL
           && sym_str_starts(reference, SYM_STR("data:"));
}


bool
sym_script_data_url(sym_str_t reference, char *out, size_t *len)
{
    const char *comma = memchr(reference.data, ',', reference.len);
    sym_str_t type, packed, ending = SYM_STR(";base64");

    if (comma == NULL) {
        return false;
    }

    type = sym_str(reference.data, (size_t) (comma - reference.data));
    packed = sym_str(comma + 1, reference.len - type.len - 1);

    if (type.len > ending.len
        && memcmp(type.data + type.len - ending.len, ending.data, ending.len)
               == 0)
    {
        return sym_base64_read(packed, out, len);
    }

    read_percents(packed, out, len);
    return true;
}
