/*
 * names.h - names of codes, spelled as in Symbolicator.  Private to this
 * format.
 */
#ifndef SYM_FORMATS_MINIDUMP_NAMES_H
#define SYM_FORMATS_MINIDUMP_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t code;
    const char *name;
} minidump_name_t;

/* NULL: the code has no name. */
static inline const char *
minidump_name(const minidump_name_t *names, size_t n, uint64_t code)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }

    return NULL;
}


#define MINIDUMP_NAME(table, code)                                             \
    minidump_name((table), sizeof(table) / sizeof((table)[0]), (code))

#endif
