/*
 * bench.h - what the programs here share: a clock, and the bytes of a file.
 */
#ifndef SYM_BENCH_BENCH_H
#define SYM_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"

/* On a clock that cannot be set. */
static inline double
now_s(void)
{
    struct timespec t;

    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}


/* The caller must free() it; ends the program if there is none. */
static inline sym_str_t
read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    char *data = NULL;
    long len = -1;

    if (f != NULL && fseek(f, 0, SEEK_END) == 0) {
        len = ftell(f);
        rewind(f);
        data = len < 0 ? NULL : malloc((size_t) len + 1);
    }

    if (data == NULL || fread(data, 1, (size_t) len, f) != (size_t) len) {
        perror(name);
        exit(1);
    }

    (void) fclose(f);
    return sym_str(data, (size_t) len);
}

#endif
