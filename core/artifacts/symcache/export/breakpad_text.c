#include "artifacts/symcache/export/breakpad.h"

#include "base/json_plain.h"

/* Characters that some reader takes for the end of the line. */
static bool
breaks_line(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}


/* The next character, or '?' if it cannot be written. */
static sym_str_t
next_safe(sym_str_t text, size_t *at)
{
    size_t from = *at;
    uint32_t c = sym_utf8_next(text, at);
    bool is_invalid = c == 0xfffd && *at - from != 3;

    return is_invalid || breaks_line(c) ? SYM_STR("?")
                                        : sym_str(text.data + from, *at - from);
}


/* Whether some reader would trim the text to nothing. */
static bool
is_blank(sym_str_t text)
{
    for (size_t at = 0; at < text.len;) {
        if (!sym_utf8_is_space(sym_utf8_next(text, &at))) {
            return false;
        }
    }

    return true;
}


void
sym_breakpad_put_text(sym_out_t *out, sym_str_t text)
{
    size_t at = 0;

    if (text.len != 0 && text.data[0] != ' ' && sym_is_plain(text)) {
        sym_out_raw(out, text);
        return;
    }

    if (is_blank(text)) {
        sym_out_raw(out, SYM_STR("<name omitted>"));
        return;
    }

    while (at < text.len) {
        sym_out_raw(out, next_safe(text, &at));
    }
}


void
sym_breakpad_put_word(sym_out_t *out, sym_str_t text)
{
    size_t at = 0;

    while (at < text.len) {
        sym_str_t c = next_safe(text, &at);

        sym_out_raw(out, c.data[0] == ' ' ? SYM_STR("_") : c);
    }

    if (text.len == 0) {
        sym_out_raw(out, SYM_STR("unknown"));
    }
}
