/*
 * open.c - the sections of a module (Core Specification, 5.5).
 */
#include <stdlib.h>

#include "base/hash.h"
#include "formats/wasm/file.h"

#define HEADER "WebAssembly header"
#define SECTION "section"

#define MAGIC "\0asm"
#define VERSION 1
/* Offset of the layer: 1 in a component (Component Model, Binary.md). */
#define LAYER_AT 6

/* Limit on sections.  A real module has a few dozen. */
#define CUSTOMS_MAX 65536


uint32_t
sym_wasm_u32(sym_cursor_t *c)
{
    uint64_t value = sym_uleb(c);

    if (value > UINT32_MAX) {
        sym_cursor_fail(c, SYM_MALFORMED, "a number does not fit 32 bits");
        return 0;
    }

    return (uint32_t) value;
}


sym_str_t
sym_wasm_name(sym_cursor_t *c)
{
    return sym_bytes(c, sym_wasm_u32(c));
}


sym_cursor_t
sym_wasm_cursor(const sym_wasm_t *w, sym_str_t bytes, const char *part,
                sym_error_t *err)
{
    const uint8_t *p = (const uint8_t *) bytes.data;
    sym_cursor_t c = sym_cursor(w->data, w->len, part, err);

    c.pos = bytes.len != 0 ? p : c.end;
    c.end = c.pos + bytes.len;
    return c;
}


bool
sym_wasm_is(const uint8_t *data, size_t len)
{
    return sym_str_starts(sym_str((const char *) data, len), SYM_STR(MAGIC));
}


static sym_status_t
read_header(sym_cursor_t *c)
{
    uint16_t version, layer;

    (void) sym_u32(c);
    version = sym_u16(c);
    layer = sym_u16(c);

    if (sym_ok(c) && (version != VERSION || layer != 0)) {
        c->pos = c->start + LAYER_AT;
        sym_cursor_fail(c, SYM_UNSUPPORTED,
                        layer != 0 ? "a component, not a module"
                                   : "a version of WebAssembly other than 1");
    }

    return c->err->status;
}


/* Stores the contents of a section.  A custom section begins with its name. */
static uint8_t
read_section(sym_cursor_t *c, sym_wasm_custom_t *s)
{
    uint8_t kind = sym_u8(c);
    uint32_t size = sym_wasm_u32(c);
    sym_cursor_t inside = sym_take(c, size);

    s->name = kind == SYM_WASM_CUSTOM ? sym_wasm_name(&inside) : SYM_STR("");
    s->bytes = sym_bytes(&inside, sym_left(&inside));
    return kind;
}


static bool
grow(sym_wasm_t *w, size_t *size)
{
    size_t wanted = *size == 0 ? 64 : 4 * *size;
    sym_wasm_custom_t *grown =
        sym_arena_calloc(&w->arena, wanted, sizeof(*grown));

    if (grown == NULL) {
        return false;
    }

    if (w->n_customs != 0) {
        memcpy(grown, w->customs, w->n_customs * sizeof(*grown));
    }

    w->customs = grown;
    *size = wanted;
    return true;
}


static sym_status_t
read_sections(sym_wasm_t *w, sym_cursor_t *c)
{
    size_t size = 0;

    while (sym_left(c) != 0) {
        sym_wasm_custom_t s;
        uint8_t kind = read_section(c, &s);

        if (!sym_ok(c)) {
            break;
        }

        if (kind != SYM_WASM_CUSTOM) {
            if (kind < SYM_WASM_SECTIONS && w->sections[kind].data == NULL) {
                w->sections[kind] = s.bytes;
            }
            continue;
        }

        if (w->n_customs == CUSTOMS_MAX) {
            sym_cursor_fail(c, SYM_LIMIT, "too many custom sections");
        } else if (w->n_customs == size && !grow(w, &size)) {
            return sym_fail(c->err, SYM_NOMEM, "no memory for sections");
        } else {
            w->customs[w->n_customs++] = s;
        }
    }

    return c->err->status;
}


sym_status_t
sym_wasm_section(const sym_wasm_t *w, const char *name, sym_str_t *bytes)
{
    for (size_t i = 0; i < w->n_customs; i++) {
        if (sym_str_eq(w->customs[i].name, sym_cstr(name))) {
            *bytes = w->customs[i].bytes;
            return SYM_OK;
        }
    }

    return SYM_NOT_FOUND;
}


static void
look_over(sym_wasm_t *w)
{
    sym_error_t none = { 0 };
    sym_str_t bytes;

    w->info.code = w->sections[SYM_WASM_CODE];
    if (w->info.code.data != NULL) {
        w->info.code_at =
            (uint64_t) ((const uint8_t *) w->info.code.data - w->data);
    }

    w->info.has_debug_info =
        sym_wasm_section(w, ".debug_info", &bytes) == SYM_OK && bytes.len != 0;
    if (sym_wasm_section(w, "build_id", &bytes) == SYM_OK) {
        w->info.build_id = bytes;
    }

    if (sym_wasm_section(w, "external_debug_info", &bytes) == SYM_OK) {
        sym_cursor_t c =
            sym_wasm_cursor(w, bytes, "external_debug_info", &none);

        bytes = sym_wasm_name(&c);
        w->info.external_name = sym_ok(&c) ? bytes : SYM_STR("");
    }
}


sym_wasm_t *
sym_wasm_open(const uint8_t *data, size_t len, sym_error_t *err)
{
    sym_wasm_t *w = calloc(1, sizeof(*w));
    sym_cursor_t c = sym_cursor(data, len, HEADER, err);

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a WebAssembly file");
        return NULL;
    }

    w->data = data;
    w->len = len;
    w->info.code = w->info.build_id = w->info.external_name = SYM_STR("");
    sym_arena_init(&w->arena, 0);

    if (read_header(&c) == SYM_OK) {
        c.section = SECTION;
        (void) read_sections(w, &c);
    }

    if (err->status != SYM_OK) {
        sym_wasm_close(w);
        return NULL;
    }

    look_over(w);
    return w;
}


void
sym_wasm_close(sym_wasm_t *w)
{
    if (w != NULL) {
        sym_arena_drop(&w->arena);
        free(w);
    }
}


const sym_wasm_info_t *
sym_wasm_info(const sym_wasm_t *w)
{
    return &w->info;
}


/* Do not change this hash: ids of modules in stores depend on it. */
static void
hash_code(sym_str_t code, uint8_t out[SYM_UUID_BYTES])
{
    static const sym_hash_key_t keys[] = { { 0, 0 }, { 0, 1 } };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        uint64_t half = sym_hash(&keys[i], code);

        memcpy(out + i * sizeof(half), &half, sizeof(half));
    }
}


/* Like Sentry's symbolic, keeps the bytes in their order. */
bool
sym_wasm_debug_id(const sym_wasm_t *w, sym_debug_id_t *id)
{
    *id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_NONE };
    if (w->info.build_id.len >= SYM_UUID_BYTES) {
        id->form = SYM_DEBUG_ID_UUID;
        memcpy(id->signature, w->info.build_id.data, SYM_UUID_BYTES);
        return true;
    }

    if (w->info.code.len != 0) {
        id->form = SYM_DEBUG_ID_UUID;
        hash_code(w->info.code, id->signature);
    }

    return false;
}
