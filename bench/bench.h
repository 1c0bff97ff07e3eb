/*
 * bench.h - a clock, the bytes of a file, and the end of a program that fails.
 */
#ifndef SYM_BENCH_BENCH_H
#define SYM_BENCH_BENCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
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


/* For qsort(). */
static inline int
compare_double(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


/* err: the reason, or NULL. */
static inline void
die(const char *what, const sym_error_t *err)
{
    char text[256];

    fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, what,
            err != NULL ? ": " : "",
            err != NULL ? sym_error_text(err, text, sizeof(text)) : "");
    exit(1);
}

#endif
