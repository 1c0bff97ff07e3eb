#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "elf/elf.h"
#include "native_read.h"

/* A first buffer; it doubles. */
#define FIRST_BYTES ((size_t) 4 << 20)

typedef struct {
    uint8_t *data;
    size_t len, cap;
} file_t;


bool
native_is(const char *data, size_t len)
{
    return sym_elf_is((const uint8_t *) data, len);
}


static sym_status_t
append(file_t *f, const char *data, size_t len, sym_error_t *err)
{
    size_t cap = f->cap == 0 ? FIRST_BYTES : f->cap;
    uint8_t *grown;

    while (cap - f->len < len) {
        if (cap > SIZE_MAX / 2) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }
        cap *= 2;
    }

    if (cap != f->cap) {
        grown = realloc(f->data, cap);
        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        f->data = grown;
        f->cap = cap;
    }

    memcpy(f->data + f->len, data, len);
    f->len += len;
    return SYM_OK;
}


static sym_status_t
read_rest(input_t *in, file_t *f, sym_error_t *err)
{
    const char *data;
    size_t len;
    sym_status_t rc;

    do {
        rc = input_next(in, &data, &len, err);

        if (rc == SYM_OK && len > 0) {
            rc = append(f, data, len, err);
        }
    } while (rc == SYM_OK && len > 0);

    return rc;
}


/* Maps what can be mapped; a copy of the rest goes to *copy. */
static sym_status_t
get_whole(input_t *in, sym_str_t first, file_t *copy, sym_str_t *whole,
          sym_error_t *err)
{
    sym_status_t rc = input_map(in, &whole->data, &whole->len, err);

    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    if (append(copy, first.data, first.len, err) != SYM_OK
        || read_rest(in, copy, err) != SYM_OK)
    {
        return err->status;
    }

    *whole = sym_str((const char *) copy->data, copy->len);
    return SYM_OK;
}


sym_status_t
native_read(input_t *in, const char *data, size_t len,
            const native_means_t *means, native_module_t *module,
            sym_error_t *err)
{
    file_t copy = { 0 };
    sym_str_t whole;
    sym_status_t rc = get_whole(in, sym_str(data, len), &copy, &whole, err);

    *module = (native_module_t){ 0 };

    if (rc == SYM_OK) {
        const native_file_t f = { .data = (const uint8_t *) whole.data,
                                  .len = whole.len,
                                  .means = means,
                                  .module = module };

        module->bytes = whole.len;
        rc = native_read_elf(&f, err);
    }

    free(copy.data);
    return rc;
}
