/*
 * slurp.h - a file of a case: FOLDER/CASE/NAME whole, or NULL if there is none.
 */
#ifndef T_UNIT_SLURP_H
#define T_UNIT_SLURP_H

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

static sym_str_t
slurp(const char *folder, const char *test, const char *name)
{
    char path[512];
    char *data = NULL;
    size_t len = 0, got;
    FILE *file;

    (void) snprintf(path, sizeof(path), "%s/%s/%s", folder, test, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        return sym_str(NULL, 0);
    }

    do {
        char *grown = realloc(data, len + 65536);

        if (grown == NULL) {
            abort();
        }
        data = grown;
        got = fread(data + len, 1, 65536, file);
        len += got;
    } while (got != 0);

    (void) fclose(file);
    return sym_str(data, len);
}

#endif
