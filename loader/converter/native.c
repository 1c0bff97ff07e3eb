#include "converter/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arch.h"
#include "formats/elf/elf.h"
#include "converter/native_read.h"
#include "common/converter_protocol.h"

/* A first buffer; it doubles. */
#define FIRST_BYTES ((size_t) 4 << 20)

/* Ids that a reason names, at most: it must fit the wire. */
#define IDS_SHOWN 5

typedef struct {
    uint8_t *data;
    size_t len, cap;
} file_t;

struct native_s {
    native_kind_t kind;
    file_t copy;     /* of what cannot be mapped */
    sym_str_t whole; /* all bytes of the file */
    const native_means_t *means;
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    size_t n_modules;
    char reason[CONVERTER_WHAT_MAX];
};


native_kind_t
native_kind(const char *data, size_t len)
{
    const uint8_t *bytes = (const uint8_t *) data;

    return sym_elf_is(bytes, len)     ? NATIVE_ELF
           : sym_macho_is(bytes, len) ? NATIVE_MACHO
                                      : NATIVE_NONE;
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


/* Maps what can be mapped, and copies the rest. */
static sym_status_t
get_whole(native_t *n, input_t *in, sym_str_t first, sym_error_t *err)
{
    sym_status_t rc = input_map(in, &n->whole.data, &n->whole.len, err);

    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    if (append(&n->copy, first.data, first.len, err) != SYM_OK
        || read_rest(in, &n->copy, err) != SYM_OK)
    {
        return err->status;
    }

    n->whole = sym_str((const char *) n->copy.data, n->copy.len);
    return SYM_OK;
}


native_t *
native_open(input_t *in, const char *data, size_t len,
            const native_means_t *means, sym_error_t *err)
{
    native_t *n = calloc(1, sizeof(*n));
    sym_status_t rc;

    if (n == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    n->kind = native_kind(data, len);
    n->means = means;
    n->n_modules = 1;

    rc = get_whole(n, in, sym_str(data, len), err);
    if (rc == SYM_OK && n->kind == NATIVE_MACHO) {
        rc = sym_macho_slices((const uint8_t *) n->whole.data, n->whole.len,
                              n->slices, &n->n_modules, err);
    }

    if (rc != SYM_OK) {
        native_close(n);
        return NULL;
    }

    return n;
}


void
native_close(native_t *n)
{
    if (n != NULL) {
        free(n->copy.data);
    }

    free(n);
}


uint64_t
native_bytes(const native_t *n)
{
    return n->whole.len;
}


size_t
native_modules(const native_t *n)
{
    return n->n_modules;
}


static native_file_t
file_of(const native_t *n)
{
    return (native_file_t){ .data = (const uint8_t *) n->whole.data,
                            .len = n->whole.len,
                            .means = n->means };
}


static void
add_reason(native_t *n, const char *text, sym_str_t more)
{
    size_t len = strlen(n->reason);

    (void) snprintf(n->reason + len, sizeof(n->reason) - len, "%s%.*s", text,
                    (int) more.len, more.data);
}


sym_status_t
native_find(native_t *n, sym_str_t id, size_t *which, sym_error_t *err)
{
    const native_file_t f = file_of(n);
    size_t shown = 0;

    n->reason[0] = '\0';
    add_reason(n, "another module: its ids are", SYM_STR(""));

    for (size_t i = 0; i < n->n_modules; i++) {
        char text[SYM_ID_MAX];
        sym_str_t found = { text, native_macho_id(&f, &n->slices[i], text) };

        if (found.len != 0 && sym_str_eq(found, id)) {
            *which = i;
            return SYM_OK;
        }

        if (found.len != 0 && shown++ < IDS_SHOWN) {
            add_reason(n, shown == 1 ? " " : ", ", found);
        }
    }

    add_reason(n,
               shown == 0          ? " none"
               : shown > IDS_SHOWN ? ", ..."
                                   : "",
               SYM_STR(""));
    add_reason(n, "; asked for was ", id);
    return sym_fail(err, SYM_MALFORMED, n->reason);
}


sym_status_t
native_find_arch(native_t *n, sym_str_t arch, size_t *which, sym_error_t *err)
{
    char there[CONVERTER_WHAT_MAX];
    size_t len = 0;

    for (size_t i = 0; i < n->n_modules; i++) {
        sym_str_t found = sym_cstr(n->slices[i].arch);

        if (arch_is(arch, found)) {
            *which = i;
            return SYM_OK;
        }

        len +=
            (size_t) snprintf(there + len, sizeof(there) - len, "%s%.*s",
                              i == 0 ? "" : ", ", (int) found.len, found.data);
        len = len < sizeof(there) ? len : sizeof(there) - 1;
    }

    (void) snprintf(n->reason, sizeof(n->reason), ARCH_MISSING, (int) arch.len,
                    arch.data, (int) len, there);
    return sym_fail(err, SYM_NOT_FOUND, n->reason);
}


sym_status_t
native_read(native_t *n, size_t which, sym_writer_t *w, native_module_t *module,
            sym_error_t *err)
{
    native_file_t f = file_of(n);

    *module = (native_module_t){ 0 };
    f.writer = w;
    f.module = module;

    return n->kind == NATIVE_MACHO
               ? native_read_macho(&f, &n->slices[which], err)
               : native_read_elf(&f, err);
}
