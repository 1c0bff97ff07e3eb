/* grow.h - makes room for item number n of an array; false: out of memory. */
#ifndef SYM_FORMATS_DWARF_GROW_H
#define SYM_FORMATS_DWARF_GROW_H

#include "base/buffer.h"

static inline bool
sym_dw_grow(void **items, size_t *size, size_t n, size_t each)
{
    void *grown = sym_array_grow(*items, size, n + 1, each);

    if (grown == NULL) {
        return false;
    }

    *items = grown;
    return true;
}


#define SYM_DW_ROOM(items, n, size)                                            \
    ((n) < (size)                                                              \
     || sym_dw_grow((void **) &(items), &(size), (n), sizeof(*(items))))

#endif
