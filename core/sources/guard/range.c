#include "sources/guard/range.h"

#include "base/hex.h"

/* Reads the number before the character, and consumes both; '\0': reads all of
   the text. */
static bool
take_number(sym_str_t *text, char end, uint64_t *number)
{
    const char *at = text->len == 0 ? NULL : memchr(text->data, end, text->len);
    size_t len = at == NULL ? text->len : (size_t) (at - text->data);

    if ((at == NULL) != (end == '\0')
        || !sym_dec_read(sym_str(text->data, len), number))
    {
        return false;
    }

    if (at != NULL) {
        *text = sym_str(at + 1, text->len - len - 1);
    }
    return true;
}


bool
sym_range_read(sym_str_t text, sym_range_t *range)
{
    const sym_str_t unit = SYM_STR("bytes ");
    sym_range_t r = { 0 };

    if (!sym_str_starts(text, unit)) {
        return false;
    }

    text = sym_str(text.data + unit.len, text.len - unit.len);
    if (!take_number(&text, '-', &r.first) || !take_number(&text, '/', &r.last)
        || !take_number(&text, '\0', &r.size) || r.first > r.last
        || r.last >= r.size || r.size > INT64_MAX)
    {
        return false;
    }

    *range = r;
    return true;
}


bool
sym_etag_is_strong(sym_str_t etag)
{
    if (etag.len < 2 || etag.data[0] != '"' || etag.data[etag.len - 1] != '"') {
        return false;
    }

    /* etagc: %x21, %x23-7E and bytes that are not ASCII */
    for (size_t i = 1; i < etag.len - 1; i++) {
        unsigned char c = (unsigned char) etag.data[i];

        if (c <= ' ' || c == '"' || c == 0x7f) {
            return false;
        }
    }

    return true;
}
