/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of walking a symcache and
 * writing it as text: each time the writer says so and frees everything (the
 * leak check of the sanitizer run sees that).
 */
#include "artifacts/symcache/export/breakpad.h"
#include "artifacts/symcache/export/returnpads.h"
#include "memory_extents.h"
#include "oom.h"
#include "symbolicate/cache/names.h"
#include "tap.h"

/* More inlined names than the first table has room for, and functions that
 * cover the beginning of others. */
#define FUNCTIONS 40
#define CALLS 60


static void
add_function(sym_writer_t *w, uint32_t i)
{
    sym_inline_t inlines[CALLS];
    sym_line_t line = { 0, 4, 7, SYM_NO_STRING };
    sym_function_t f = { .addr = i * 50 + 1,
                         .size = 80,
                         .lines = &line,
                         .n_lines = 1,
                         .inlines = inlines,
                         .n_inlines = CALLS };
    char text[32];

    line.addr = f.addr;
    (void) sym_writer_string(w, SYM_STR("file.c"), &line.file);
    (void) sym_writer_string(w, SYM_STR("_Z1fv"), &f.name);

    for (uint32_t k = 0; k < CALLS; k++) {
        inlines[k] = (sym_inline_t){ .addr = f.addr + k,
                                     .size = 1,
                                     .call_line = k,
                                     .call_file = line.file };
        (void) snprintf(text, sizeof(text), "call_%u_%u", i, k);
        (void) sym_writer_string(w, sym_cstr(text), &inlines[k].name);
    }

    (void) sym_writer_function(w, &f);
    f = (sym_function_t){ .addr = i * 50 + 60, .size = 80, .name = f.name };
    (void) sym_writer_function(w, &f);
}


static void
make_module(memory_extents_t *memory)
{
    const sym_module_info_t info = { .flags = SYM_FLAG_LINKER_NAMES };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        add_function(w, i);
    }

    is_u64(sym_writer_finish(w, &info, memory_put, memory, NULL), SYM_OK,
           "a module");
    sym_writer_free(w);
}


static sym_str_t
show_name(void *names, sym_str_t name, uint8_t lang)
{
    return sym_names_show(names, name, lang, SYM_DEMANGLE_FULL);
}


/* A call of one byte at each address. */
static bool
next_call(void *ctx, uint32_t addr, uint64_t end, sym_code_call_t *call)
{
    (void) ctx;
    *call = (sym_code_call_t){ addr, 1 };
    return addr < end;
}


static uint32_t
first_size(void *ctx, uint32_t addr, uint64_t end)
{
    (void) ctx;
    return addr < end ? 1 : 0;
}


static sym_status_t
export_module(memory_extents_t *memory, unsigned format, sym_out_t *out,
              sym_error_t *err)
{
    const sym_module_key_t key = { .scope = SYM_STR(""),
                                   .name = SYM_STR("name"),
                                   .id = SYM_STR("ABC1") };
    sym_names_t *names = sym_names_create(65536);
    const sym_dump_t how = { .key = &key,
                             .show_name = show_name,
                             .ctx = names };
    const sym_extent_source_t extents = { memory_get, memory, memory->n };
    sym_status_t rc = SYM_NOMEM;

    const sym_code_t code = { next_call, first_size, NULL };

    if (names != NULL
        && sym_kind_tools(SYM_KIND_SYMCACHE)->formats[format] == NULL) {
        rc = sym_returnpads_export(&extents, &how, &code, out, err);
    } else if (names != NULL) {
        rc = sym_kind_tools(SYM_KIND_SYMCACHE)
                 ->dump(&extents, &how, format, out, err);
    }

    sym_names_free(names);
    return rc;
}


static void
test_format(memory_extents_t *memory, unsigned format)
{
    static char text[1 << 20];
    unsigned long n = 0, wrong = 0;
    sym_error_t err;
    sym_out_t out;
    sym_status_t rc;

    do {
        err = (sym_error_t){ 0 };
        out = sym_out_fixed(text, sizeof(text));
        allocations_left = n++;
        rc = export_module(memory, format, &out, &err);
        allocations_left = (unsigned long) -1;
        wrong += rc != SYM_OK && rc != SYM_NOMEM;
    } while (rc != SYM_OK && n < 100000);

    ok(rc == SYM_OK, "format %u: with enough memory it succeeds", format);
    ok(n > 4, "after %lu failures", n - 1);
    is_u64(wrong, 0, "each is reported as out of memory");
    ok(!out.failed && out.pos - text > 2000, "all is written");

    /* a full output is not a failure of the symcache */
    out = sym_out_fixed(text, 100);
    is_u64(export_module(memory, format, &out, &err), SYM_OK, "a full output");
    ok(out.failed, "is recorded in the output");
}


int
main(void)
{
    memory_extents_t memory = { 0 };
    unsigned format = 0;

    make_module(&memory);

    for (; sym_kind_tools(SYM_KIND_SYMCACHE)->formats[format] != NULL; format++)
    {
        test_format(&memory, format);
    }

    test_format(&memory, format); /* return pads */
    memory_free(&memory);
    return done_testing();
}
