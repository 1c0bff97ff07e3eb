/* text.h - texts that an entry names by their place in another section. */
#ifndef SYM_DWARF_TEXT_H
#define SYM_DWARF_TEXT_H

#include "base/str.h"

/* The NUL-terminated text at offset; data NULL: there is none. */
static inline sym_str_t
sym_dw_text_at(sym_str_t section, uint64_t offset)
{
    const char *start, *end;

    if (offset >= section.len) {
        return sym_str(NULL, 0);
    }

    start = section.data + offset;
    end = memchr(start, '\0', section.len - (size_t) offset);
    return end != NULL ? sym_str(start, (size_t) (end - start))
                       : sym_str(NULL, 0);
}

#endif
