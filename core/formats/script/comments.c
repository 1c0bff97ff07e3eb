#include "formats/script/comments.h"

/* "//# " */
#define OPENING_BYTES 4

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}


/* `//# NAME=VALUE`, the last one: browsers take none but `//#` and one blank. */
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


sym_str_t
sym_script_data_url(sym_str_t reference)
{
    static const char *const beginnings[] = {
        "data:application/json;base64,",
        "data:application/json;charset=utf-8;base64,",
        "data:application/json;charset=utf8;base64,",
    };

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
        sym_str_t beginning = sym_cstr(beginnings[i]);

        if (reference.data != NULL && sym_str_starts(reference, beginning)) {
            return sym_str(reference.data + beginning.len,
                           reference.len - beginning.len);
        }
    }

    return sym_str(NULL, 0);
}
