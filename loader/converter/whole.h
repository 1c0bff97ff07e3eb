/*
 * whole.h - reads all bytes of an input into memory, for formats that need
 * random access.
 */
#ifndef SYMLOADER_CONVERTER_WHOLE_H
#define SYMLOADER_CONVERTER_WHOLE_H

#include "base/str.h"
#include "unpack/input.h"

typedef struct {
    sym_str_t bytes;
    char *copy; /* if the input cannot be mapped */
} whole_t;

/* Maps or reads all of `in`, after its first piece.  Must be freed even after a
 * failure. */
sym_status_t whole_get(whole_t *w, input_t *in, sym_str_t first,
                       sym_error_t *err);
void whole_free(whole_t *w);

#endif
