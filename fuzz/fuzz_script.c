/*
 * Scripts: the parser of functions, the format's row, and the reader of artifacts of
 * kind `script`.  Input that begins with "SYMF" after two bytes is cut into extents
 * (u16 length, then the bytes); any other is a script.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "artifacts/script/read/script.h"
#include "check.h"
#include "extents.h"
#include "formats/formats.h"
#include "formats/script/scopes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* --- a script --- */

/* Functions must be nested or disjoint, and must not share parts. */
static void
check_functions(const uint8_t *data, size_t size)
{
    sym_js_scopes_t s;
    sym_error_t err = { 0 };

    if (sym_js_scopes_read(&s, sym_str((const char *) data, size), &err)
        == SYM_OK) {
        for (size_t i = 0; i < s.n; i++) {
            const sym_js_scope_t *f = &s.scopes[i];

            check(f->start <= f->end && f->end <= size);
            check(f->n <= s.n_parts && f->first <= s.n_parts - f->n);
            check(i == 0 || f->start >= s.scopes[i - 1].start);
            check(i == 0 || f->start >= s.scopes[i - 1].end
                  || f->end <= s.scopes[i - 1].end);
        }
    }

    sym_js_scopes_free(&s);
}


/* Our readers must find the output of our writers sound. */
static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;
    sym_error_t bad = { 0 };
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     &made, &stats, err);

    (void) ctx;

    if (rc == SYM_OK) {
        const sym_extent_source_t extents = { get, &made, made.n };

        check(sym_kind_verify(sym_kind_find(output->kind), &extents, &bad)
              == SYM_OK);
    }

    drop_extents(&made);
    return rc;
}


static void
note(void *ctx, const char *format, ...)
{
    (void) ctx;
    (void) format;
}


static void
convert(const uint8_t *data, size_t size)
{
    const sym_format_services_t services = { .unpacked_max = 200000,
                                             .note = note };
    const sym_format_file_t f = { .data = { (const char *) data, size },
                                  .services = &services,
                                  .put = put };
    sym_error_t err = { 0 };

    (void) sym_format_of(SYM_CONVERSION_script)->convert(&f, 0, &err);
}


/* --- an artifact --- */

static void
read_all(input_t *in)
{
    sym_extent_view_t views[EXTENTS_MAX] = { { 0 } };
    sym_error_t err = { 0 };
    sym_str_t reference;
    sym_script_t s;

    if (sym_script_open(&s, get, in, &err) != SYM_OK) {
        return;
    }

    if (s.in.n <= EXTENTS_MAX) {
        sym_script_remember(&s, views);
    }

    (void) sym_script_check(&s, &err);
    (void) sym_script_reference(&s, &reference);

    for (uint32_t line = 0; line < 4; line++) {
        for (uint32_t column = 0; column < 5000; column += 1 + column / 4) {
            sym_script_scope_t scope;
            sym_script_part_t part;
            uint32_t number;

            if (sym_script_find(&s, line, column, &number) != SYM_OK
                || sym_script_scope(&s, number, &scope) != SYM_OK)
            {
                continue;
            }

            for (uint32_t i = 0;
                 i < scope.n_parts && sym_script_part(&scope, &part) == SYM_OK;
                 i++)
            {
                check(part.text.len <= SYM_EXTENT_MAX);
            }
        }
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t in;

    if (size > 6 && memcmp(data + 2, "SYMF", 4) == 0) {
        in = cut(data, size);
        read_all(&in);
        return 0;
    }

    check_functions(data, size);
    convert(data, size);
    return 0;
}
