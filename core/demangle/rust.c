#include <libiberty/demangle.h>
#include <stdbool.h>
#include <string.h>

#include "demangle/languages.h"
#include "demangle/sink.h"

/* Limit on the digits of the number of lifetimes.  Two digits allow 3,844. */
#define LIFETIME_DIGITS_MAX 2


static bool
is_base62(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
           || (c >= 'A' && c <= 'Z');
}


/*
 * A binder, "for<'a, 'b, ...>", is F or D, then G, a number in base 62, "_".
 * libiberty prints it in a loop that cannot be ended early, and the number may
 * be 2^64.
 */
static bool
has_endless_binder(const char *name)
{
    for (const char *p = strchr(name, 'G'); p != NULL; p = strchr(p + 1, 'G')) {
        size_t n = 0;

        if (p == name || (p[-1] != 'F' && p[-1] != 'D')) {
            continue;
        }

        while (is_base62(p[n + 1])) {
            n++;
        }
        if (n > LIFETIME_DIGITS_MAX && p[n + 1] == '_') {
            return true;
        }
    }

    return false;
}


/* A byte that ends any parsing, because no Rust symbol contains it. */
static void
spoil(void *ctx)
{
    char *name = ctx;

    memset(name, '!', strlen(name));
}


size_t
sym_demangle_rust(char *name, char *out, size_t size)
{
    sym_sink_t sink = { .out = out, .size = size, .spoil = spoil, .ctx = name };

    if (name[1] == 'R' && has_endless_binder(name)) {
        return 0;
    }

    /* otherwise libiberty would scan every byte of a C++ name */
    if (name[1] == 'Z' && strstr(name, "17h") == NULL) {
        return 0;
    }

    return rust_demangle_callback(name, DMGL_NO_OPTS, sym_sink_put, &sink) != 0
                   && !sink.is_full
               ? sink.len
               : 0;
}
