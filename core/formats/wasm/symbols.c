/*
 * symbols.c - names of functions, from the name section (Core Specification,
 * 7.4.1), else from exports.
 */
#include "formats/native/text.h"
#include "formats/wasm/file.h"

#define FUNCTION_NAMES 1 /* the subsection */

#define KIND_FUNCTION 0
#define KIND_TABLE 1
#define KIND_MEMORY 2
#define KIND_GLOBAL 3
#define KIND_TAG 4

#define LIMITS_HAVE_MAX 1
#define TYPE_REF 0x64 /* (ref ht); (ref null ht) is the number before it */
#define TYPE_REF_NULL 0x63

/* The functions defined in the module.  Imported functions precede them in the
 * index space. */
typedef struct {
    sym_wasm_symbol_t *items;
    uint64_t n, n_imported;
} functions_t;


/* --- imports: number of imported functions --- */

static void
skip_type(sym_cursor_t *c)
{
    uint8_t type = sym_u8(c);

    if (type == TYPE_REF || type == TYPE_REF_NULL) {
        (void) sym_sleb(c);
    }
}


static void
skip_limits(sym_cursor_t *c)
{
    uint8_t flags = sym_u8(c);

    (void) sym_uleb(c);
    if (flags & LIMITS_HAVE_MAX) {
        (void) sym_uleb(c);
    }
}


static void
skip_description(sym_cursor_t *c, uint8_t kind)
{
    switch (kind) {
    case KIND_FUNCTION:
        (void) sym_wasm_u32(c);
        break;
    case KIND_TABLE:
        skip_type(c);
        skip_limits(c);
        break;
    case KIND_MEMORY:
        skip_limits(c);
        break;
    case KIND_GLOBAL:
        skip_type(c);
        (void) sym_u8(c);
        break;
    case KIND_TAG:
        (void) sym_u8(c);
        (void) sym_wasm_u32(c);
        break;
    default:
        sym_cursor_fail(c, SYM_MALFORMED, "an import of an unknown kind");
    }
}


static sym_status_t
count_imports(const sym_wasm_t *w, functions_t *f, sym_error_t *err)
{
    sym_cursor_t c =
        sym_wasm_cursor(w, w->sections[SYM_WASM_IMPORT], "import section", err);
    uint32_t n = sym_left(&c) != 0 ? sym_wasm_u32(&c) : 0;

    while (n-- != 0 && sym_ok(&c)) {
        uint8_t kind;

        (void) sym_wasm_name(&c);
        (void) sym_wasm_name(&c);
        kind = sym_u8(&c);
        skip_description(&c, kind);
        f->n_imported += kind == KIND_FUNCTION;
    }

    return err->status;
}


/* --- bodies --- */

/* The size field before a body belongs to the function before it, as in
 * symbolic.  Engines report no addresses there. */
static sym_status_t
read_bodies(sym_wasm_t *w, functions_t *f, sym_error_t *err)
{
    sym_cursor_t c = sym_wasm_cursor(w, w->info.code, "code section", err);
    uint32_t n = sym_left(&c) != 0 ? sym_wasm_u32(&c) : 0;

    if (n > sym_left(&c)) {
        sym_cursor_fail(&c, SYM_MALFORMED, "more functions than bytes");
    }

    f->items =
        sym_ok(&c) ? sym_arena_calloc(&w->arena, n, sizeof(*f->items)) : NULL;
    if (sym_ok(&c) && f->items == NULL && n != 0) {
        return sym_fail(err, SYM_NOMEM, "no memory for functions");
    }

    while (f->n < n && sym_ok(&c)) {
        uint32_t size = sym_wasm_u32(&c);
        uint64_t addr = (uint64_t) (c.pos - c.start);

        (void) sym_bytes(&c, size);
        if (sym_ok(&c) && addr > UINT32_MAX) {
            break; /* no client can request it */
        }

        if (f->n != 0) {
            f->items[f->n - 1].size =
                (uint32_t) (addr - f->items[f->n - 1].addr);
        }
        f->items[f->n++] =
            (sym_wasm_symbol_t){ .addr = (uint32_t) addr, .size = size };
    }

    return err->status;
}


/* --- names --- */

/* The first name of a function wins. */
static void
name_function(functions_t *f, uint32_t number, sym_str_t name,
              uint64_t *long_bytes)
{
    sym_wasm_symbol_t *s;

    if (number < f->n_imported || number - f->n_imported >= f->n) {
        return;
    }

    s = &f->items[number - f->n_imported];
    if (s->name.len == 0 && name.len != 0) {
        s->name = sym_native_text(name, 0, long_bytes);
    }
}


static void
read_name_map(sym_cursor_t *c, functions_t *f, uint64_t *long_bytes)
{
    uint32_t n = sym_wasm_u32(c);

    while (n-- != 0 && sym_ok(c)) {
        uint32_t number = sym_wasm_u32(c);
        sym_str_t name = sym_wasm_name(c);

        if (sym_ok(c)) {
            name_function(f, number, name, long_bytes);
        }
    }
}


/* Reads names up to the first error: engines ignore a malformed name
 * section. */
static void
read_names(const sym_wasm_t *w, functions_t *f, uint64_t *long_bytes)
{
    sym_error_t none = { 0 };
    sym_cursor_t c;
    sym_str_t bytes;

    if (sym_wasm_section(w, "name", &bytes) != SYM_OK) {
        return;
    }

    c = sym_wasm_cursor(w, bytes, "name section", &none);
    while (sym_left(&c) != 0) {
        uint8_t id = sym_u8(&c);
        sym_cursor_t inside = sym_take(&c, sym_wasm_u32(&c));

        if (id == FUNCTION_NAMES) {
            read_name_map(&inside, f, long_bytes);
        }
    }
}


static void
read_exports(const sym_wasm_t *w, functions_t *f, uint64_t *long_bytes)
{
    sym_error_t none = { 0 };
    sym_cursor_t c = sym_wasm_cursor(w, w->sections[SYM_WASM_EXPORT],
                                     "export section", &none);
    uint32_t n = sym_left(&c) != 0 ? sym_wasm_u32(&c) : 0;

    while (n-- != 0 && sym_ok(&c)) {
        sym_str_t name = sym_wasm_name(&c);
        uint8_t kind = sym_u8(&c);
        uint32_t number = sym_wasm_u32(&c);

        if (sym_ok(&c) && kind == KIND_FUNCTION) {
            name_function(f, number, name, long_bytes);
        }
    }
}


sym_status_t
sym_wasm_symbols(sym_wasm_t *w, sym_wasm_symbol_pt each, void *ctx,
                 sym_error_t *err)
{
    functions_t f = { .n = 0 };
    uint64_t long_bytes = 0;

    if (count_imports(w, &f, err) != SYM_OK
        || read_bodies(w, &f, err) != SYM_OK) {
        return err->status;
    }

    read_names(w, &f, &long_bytes);
    read_exports(w, &f, &long_bytes);

    for (uint64_t i = 0; i < f.n; i++) {
        if (f.items[i].name.len != 0 && f.items[i].size != 0
            && each(ctx, &f.items[i], err) != SYM_OK)
        {
            return err->status;
        }
    }

    return SYM_OK;
}
