/*
 * whole.h - all bytes of an input at once, for formats whose parts point to
 * each other.
 */
#ifndef SYMLOADER_CONVERTER_WHOLE_H
#define SYMLOADER_CONVERTER_WHOLE_H

#include "base/str.h"
#include "unpack/input.h"

typedef struct {
    sym_str_t bytes;
    char *copy; /* of what cannot be mapped */
} whole_t;

/* Maps all of `in`, whose first piece is given, or reads it.  To be freed also
 * after a failure. */
sym_status_t whole_get(whole_t *w, input_t *in, sym_str_t first,
                       sym_error_t *err);
void whole_free(whole_t *w);

#endif
