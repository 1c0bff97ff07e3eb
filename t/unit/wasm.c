/*
 * The reader of WebAssembly files, with files made here; t/wasm.t reads real
 * ones.  Expected results follow from the Core Specification, 5.5 and 7.4.
 */
#include <stdlib.h>

#include "formats/wasm/wasm.h"
#include "tap.h"

typedef struct {
    uint8_t data[4096];
    size_t len;
} kit_t;


static void
put(kit_t *k, const void *bytes, size_t len)
{
    if (k->len + len > sizeof(k->data)) {
        abort();
    }

    memcpy(k->data + k->len, bytes, len);
    k->len += len;
}


static void
begin(kit_t *k)
{
    k->len = 0;
    put(k, "\0asm\1\0\0\0", 8);
}


/* A section of less than 128 bytes. */
static void
section(kit_t *k, uint8_t kind, const void *bytes, size_t len)
{
    const uint8_t head[2] = { kind, (uint8_t) len };

    put(k, head, 2);
    put(k, bytes, len);
}

#define SECTION(k, kind, bytes) section(k, kind, bytes, sizeof(bytes) - 1)


typedef struct {
    char text[1024];
    size_t len;
} said_t;


static sym_status_t
say(void *ctx, const sym_wasm_symbol_t *s, sym_error_t *err)
{
    said_t *said = ctx;

    (void) err;
    said->len += (size_t) snprintf(
        said->text + said->len, sizeof(said->text) - said->len, "%x+%x %.*s\n",
        s->addr, s->size, (int) s->name.len, s->name.data);
    return SYM_OK;
}


/* The reader gets a copy of exactly that size, so that a sanitizer sees reads
 * past its end. */
static void
symbols_are(const kit_t *k, sym_status_t status, const char *want,
            const char *name)
{
    said_t said = { .len = 0 };
    sym_error_t err = { 0 };
    uint8_t *copy = malloc(k->len);
    sym_wasm_t *w;

    if (copy == NULL) {
        abort();
    }

    memcpy(copy, k->data, k->len);
    w = sym_wasm_open(copy, k->len, &err);
    if (w != NULL) {
        (void) sym_wasm_symbols(w, say, &said, &err);
    }

    is_u64(err.status, status, name);
    is_str(sym_str(said.text, said.len), want, name);
    sym_wasm_close(w);
    free(copy);
}


/* One of each kind, and one function twice. */
#define IMPORTS                                                                \
    "\6"                                                                       \
    "\1m\1f\0\0"                                                               \
    "\1m\1t\1\x70\1\1\2"                                                       \
    "\1m\1n\2\0\1"                                                             \
    "\1m\1g\3\x64\x70\0"                                                       \
    "\1m\1e\4\0\0"                                                             \
    "\1m\1h\0\0"

#define CODE "\3\2\0\x0b\4\0\1\1\x0b\2\0\x0b"


static void
test_symbols(void)
{
    kit_t k;

    begin(&k);
    SECTION(&k, 2, IMPORTS);
    SECTION(&k, 7, "\3\6export\0\3\6shadow\0\2\3mem\2\0");
    SECTION(&k, 10, CODE);
    SECTION(&k, 0, "\4name\0\2\1x\1\x0c\3\0\1i\2\3one\4\1c");
    symbols_are(&k, SYM_OK,
                "55+3 one\n"
                "58+5 export\n"
                "5d+2 c\n",
                "names of functions, then exports");

    begin(&k);
    SECTION(&k, 7, "\1\6export\0\0");
    SECTION(&k, 10, CODE);
    SECTION(&k, 0, "\4name\1\x0b\3\0\1i");
    symbols_are(&k, SYM_OK, "18+3 export\n",
                "a name section that runs past its end is ignored");

    begin(&k);
    SECTION(&k, 0, "\4name\1\3\1\0\1i");
    symbols_are(&k, SYM_OK, "", "no code");
}


static void
test_bad(void)
{
    kit_t k;

    begin(&k);
    SECTION(&k, 2, "\1\1m\1f\7\0");
    symbols_are(&k, SYM_MALFORMED, "", "an import of an unknown kind");

    begin(&k);
    SECTION(&k, 10, "\x80\x80\x80\x80\1\0");
    symbols_are(&k, SYM_MALFORMED, "", "more functions than bytes");

    begin(&k);
    SECTION(&k, 10, "\1\x09\0\x0b");
    symbols_are(&k, SYM_TRUNCATED, "", "a body past the end of its section");

    begin(&k);
    put(&k, "\1\x09\0", 3);
    symbols_are(&k, SYM_TRUNCATED, "", "a section past the end of the file");

    begin(&k);
    put(&k, "\1\xff\xff\xff\xff\x7f", 6);
    symbols_are(&k, SYM_MALFORMED, "", "a size of more than 32 bits");

    begin(&k);
    SECTION(&k, 0, "\x09name");
    symbols_are(&k, SYM_TRUNCATED, "", "a name past the end of its section");

    begin(&k);
    k.data[4] = 2;
    symbols_are(&k, SYM_UNSUPPORTED, "", "another version");

    begin(&k);
    memcpy(k.data + 4, "\x0d\0\1\0", 4);
    symbols_are(&k, SYM_UNSUPPORTED, "", "a component");
}


static void
test_info(void)
{
    static const char id[] = "\x08"
                             "build_id"
                             "0123456789abcdefg";
    sym_error_t err = { 0 };
    char text[SYM_ID_TEXT_MAX];
    sym_debug_id_t debug_id;
    sym_str_t bytes;
    sym_wasm_t *w;
    kit_t k;

    begin(&k);
    SECTION(&k, 0, "\x0b.debug_infoINFO");
    SECTION(&k, 0, "\x0b.debug_infomore");
    SECTION(&k, 0, id);
    SECTION(&k, 0,
            "\x13"
            "external_debug_info"
            "\6a.wasm");
    SECTION(&k, 10, CODE);

    w = sym_wasm_open(k.data, k.len, &err);
    if (!ok(w != NULL, "opens")) {
        return;
    }

    ok(sym_wasm_debug_id(w, &debug_id), "a debug id of build_id");
    is_str(sym_str(text, sym_debug_id_write_breakpad(&debug_id, text)),
           "303132333435363738396162636465660", "the debug id");
    is_str(sym_wasm_info(w)->build_id, id + 9, "build_id");
    is_str(sym_wasm_info(w)->external_name, "a.wasm", "external_debug_info");
    is_u64(sym_wasm_info(w)->code_at, k.len - sizeof(CODE) + 1, "code");
    ok(sym_wasm_info(w)->has_debug_info, "has .debug_info");
    is_u64(sym_wasm_section(w, ".debug_info", &bytes), SYM_OK, "a section");
    is_str(bytes, "INFO", "... the first one");
    is_u64(sym_wasm_section(w, ".debug_line", &bytes), SYM_NOT_FOUND, "none");
    sym_wasm_close(w);

    begin(&k);
    SECTION(&k, 0,
            "\x08"
            "build_id"
            "0123456789abcde");
    w = sym_wasm_open(k.data, k.len, &err);
    ok(!sym_wasm_debug_id(w, &debug_id), "a short build_id");
    is_u64(debug_id.form, SYM_DEBUG_ID_NONE, "15 bytes make no id");
    sym_wasm_close(w);
}


int
main(void)
{
    test_symbols();
    test_bad();
    test_info();
    return done_testing();
}
