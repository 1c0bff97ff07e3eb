#include "formats/formats.h"

#include <stdio.h>

#include "formats/foreign.h"

#define DECLARE(format) extern const sym_format_t sym_format_##format;
#define ROW(format) [SYM_CONVERSION_##format] = &sym_format_##format,

SYM_FORMATS(DECLARE)

static const sym_format_t *const formats[SYM_CONVERSION_FORMATS] = {
    SYM_FORMATS(ROW)
};


const sym_format_t *
sym_format_of(sym_conversion_format_t format)
{
    return formats[format];
}


sym_conversion_format_t
sym_format_find(const uint8_t *data, size_t len)
{
    for (unsigned i = 0; i < SYM_CONVERSION_FORMATS; i++) {
        if (formats[i] != NULL && formats[i]->probe(data, len)) {
            return (sym_conversion_format_t) i;
        }
    }

    return SYM_CONVERSION_UNKNOWN;
}


static size_t
add(char *text, size_t size, size_t len, const char *more)
{
    int n = snprintf(text + len, size - len, "%s", more);

    len += n > 0 ? (size_t) n : 0;
    return len < size ? len : size - 1;
}


sym_status_t
sym_format_refuse(const char *data, size_t len, char *text, size_t size)
{
    const char *what;
    sym_status_t rc = sym_foreign_name(data, len, &what);
    size_t n = add(text, size, 0, what);
    unsigned end = SYM_CONVERSION_FORMATS;

    if (len == 0) {
        return rc;
    }

    /* rows of reports are last */
    while (formats[end - 1] != NULL && formats[end - 1]->is_report) {
        end--;
    }

    for (unsigned i = 0; i < end; i++) {
        if (formats[i] != NULL) {
            n = add(text, size, n,
                    i == SYM_CONVERSION_UNKNOWN + 1 ? "; "
                    : i < end - 1                   ? ", "
                                                    : " and ");
            n = add(text, size, n, formats[i]->title);
        }
    }

    (void) add(text, size, n, " files are read");
    return rc;
}


bool
sym_format_is_module(sym_str_t head)
{
    const uint8_t *data = (const uint8_t *) head.data;
    const sym_format_t *format = sym_format_of(sym_format_find(data, head.len));

    return format != NULL && format->is_wanted != NULL
           && format->is_wanted(data, head.len);
}
