#include "converter/whole.h"

#include <stdlib.h>
#include <string.h>

/* Initial size of the buffer; it doubles. */
#define FIRST_BYTES ((size_t) 4 << 20)

static sym_status_t
append(whole_t *w, size_t *cap, const char *data, size_t len, sym_error_t *err)
{
    size_t needed = *cap == 0 ? FIRST_BYTES : *cap;
    char *grown;

    while (needed - w->bytes.len < len) {
        if (needed > SIZE_MAX / 2) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }
        needed *= 2;
    }

    if (needed != *cap) {
        grown = realloc(w->copy, needed);
        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        w->copy = grown;
        *cap = needed;
    }

    memcpy(w->copy + w->bytes.len, data, len);
    w->bytes = sym_str(w->copy, w->bytes.len + len);
    return SYM_OK;
}


static sym_status_t
read_all(whole_t *w, input_t *in, sym_str_t first, sym_error_t *err)
{
    const char *data = first.data;
    size_t len = first.len, cap = 0;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && len > 0) {
        rc = append(w, &cap, data, len, err);

        if (rc == SYM_OK) {
            rc = input_next(in, &data, &len, err);
        }
    }

    return rc;
}


sym_status_t
whole_get(whole_t *w, input_t *in, sym_str_t first, sym_error_t *err)
{
    sym_status_t rc = input_map(in, &w->bytes.data, &w->bytes.len, err);

    return rc == SYM_NOT_FOUND ? read_all(w, in, first, err) : rc;
}


void
whole_free(whole_t *w)
{
    free(w->copy);
    *w = (whole_t){ 0 };
}
