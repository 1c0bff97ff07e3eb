/* text.h - strings of entries in other sections. */
#ifndef SYM_FORMATS_DWARF_TEXT_H
#define SYM_FORMATS_DWARF_TEXT_H

#include "base/str.h"
#include "artifacts/symcache/format.h"

/* The NUL-terminated string at the offset; data NULL: the offset is invalid.  A
 * string too long for a symcache is cut, because many offsets may point into
 * it. */
static inline sym_str_t
sym_dw_text_at(sym_str_t section, uint64_t offset)
{
    const char *start, *end;
    size_t left, most;

    if (offset >= section.len) {
        return sym_str(NULL, 0);
    }

    start = section.data + offset;
    left = section.len - (size_t) offset;
    most = left < SYM_NAME_BYTES_MAX + 1 ? left : SYM_NAME_BYTES_MAX + 1;

    end = memchr(start, '\0', most);
    if (end != NULL) {
        return sym_str(start, (size_t) (end - start));
    }

    return most < left ? sym_str(start, most) : sym_str(NULL, 0);
}

#endif
