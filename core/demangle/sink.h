/*
 * sink.h - receives what libiberty prints, up to a size.
 *
 * The callback cannot stop libiberty.  But the input belongs to us: beyond the
 * size the sink calls spoil(), which makes the input invalid, so that libiberty
 * gives up.
 */
#ifndef SYM_DEMANGLE_SINK_H
#define SYM_DEMANGLE_SINK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *out;
    size_t len, size;
    bool is_full;
    void (*spoil)(void *ctx);
    void *ctx;
} sym_sink_t;

/* A demangle_callbackref for libiberty. */
void sym_sink_put(const char *text, size_t len, void *sink);

#endif
