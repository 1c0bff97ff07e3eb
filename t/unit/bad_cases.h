/*
 * bad_cases.h - inputs that must be refused: FOLDER/CASE/input with exactly the
 * text in .../error.
 */
#ifndef T_UNIT_BAD_CASES_H
#define T_UNIT_BAD_CASES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "tap.h"

/* The complete file of a case; data NULL: it does not exist. */
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


static int
visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}


/* Runs test on each case, and checks that there are at least `least`.  want is
 * without the newline at the end of its file. */
__attribute__((unused)) static void
bad_cases(const char *folder, int least,
          void (*test)(const char *name, sym_str_t in, sym_str_t want))
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, visible, alphasort);

    ok(n >= least, "there are cases in %s", folder);

    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        sym_str_t in = slurp(folder, name, "input");
        sym_str_t want = slurp(folder, name, "error");

        if (ok(in.data != NULL && want.data != NULL, "%s: input and error",
               name)) {
            while (want.len > 0 && want.data[want.len - 1] == '\n') {
                want.len--;
            }
            test(name, in, want);
        }

        free((void *) (uintptr_t) in.data);
        free((void *) (uintptr_t) want.data);
        free(entries[i]);
    }

    free(entries);
}

#endif
