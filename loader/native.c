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


sym_status_t
native_read(input_t *in, const char *data, size_t len, uint64_t unpacked_max,
            sym_writer_t *w, native_module_t *module, sym_error_t *err)
{
    file_t file = { 0 };
    sym_status_t rc = append(&file, data, len, err);

    *module = (native_module_t){ 0 };
    rc = rc != SYM_OK ? rc : read_rest(in, &file, err);

    if (rc == SYM_OK) {
        const native_file_t f = { .data = file.data,
                                  .len = file.len,
                                  .unpacked_max = unpacked_max,
                                  .writer = w,
                                  .module = module };

        module->bytes = file.len;
        rc = native_read_elf(&f, err);
    }

    free(file.data);
    return rc;
}
