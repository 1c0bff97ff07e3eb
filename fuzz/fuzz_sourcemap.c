/*
 * Two readers of source maps.  Input that may be a source map is converted; any
 * other is cut into extents (u16 length, then the bytes), opened as an artifact
 * of kind `sourcemap`, and all of it is read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/sourcemap/read/sourcemap.h"
#include "artifacts/sources/read/sources.h"
#include "check.h"
#include "extents.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* --- a portable PDB --- */

/* Our readers must find the output of our writers sound. */
static void
check_made(sym_kind_t kind, input_t *made)
{
    const sym_extent_source_t extents = { get, made, made->n };
    sym_error_t bad = { 0 };

    check(sym_kind_verify(sym_kind_find(kind), &extents, &bad) == SYM_OK);
}


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     &made, &stats, err);

    (void) ctx;

    if (rc == SYM_OK) {
        check_made(output->kind, &made);
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

    (void) sym_format_of(SYM_CONVERSION_sourcemap)->convert(&f, 0, &err);
}


/* --- an artifact --- */

/* A lookup gives the token that a scan finds, if the artifact is sound. */
static void
check_lookups(const sym_sourcemap_t *s)
{
    sym_sourcemap_token_t token, last = { 0 }, found;
    uint32_t n = s->n_tokens < 300 ? s->n_tokens : 300;

    for (uint32_t i = 0; i < n; i++) {
        check(sym_sourcemap_token(s, i, &token) == SYM_OK);
        check(sym_sourcemap_find(s, token.line, token.column, &found)
              == SYM_OK);
        check(found.line == token.line && found.column == token.column);

        if (i != 0 && (token.line != last.line || token.column != last.column)
            && token.column != 0)
        {
            check(sym_sourcemap_find(s, token.line, token.column - 1, &found)
                  == SYM_OK);
            check(found.line == last.line && found.column == last.column);
        }
        last = token;
    }
}


static void
read_all(input_t *in)
{
    sym_extent_view_t views[EXTENTS_MAX] = { { 0 } };
    sym_sourcemap_token_t token;
    sym_sourcemap_source_t source;
    sym_error_t err = { 0 };
    sym_sourcemap_t s;
    sym_str_t name;

    if (sym_sourcemap_open(&s, get, in, &err) != SYM_OK) {
        return;
    }

    if (s.in.n <= EXTENTS_MAX) {
        sym_sourcemap_remember(&s, views);
    }

    if (sym_sourcemap_check(&s, &err) == SYM_OK) {
        check_lookups(&s);
    }

    for (uint32_t line = 0; line < 8; line++) {
        for (uint32_t column = 0; column < 5000; column += 1 + column / 4) {
            if (sym_sourcemap_lookup(&s, line, column, &token) == SYM_OK) {
                (void) sym_sourcemap_source(&s, token.source, &source);
                (void) sym_sourcemap_name(&s, token.name, &name);
            }
        }
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t in;

    if (sym_format_find(data, size) == SYM_CONVERSION_sourcemap) {
        convert(data, size);
        return 0;
    }

    in = cut(data, size);
    read_all(&in);
    return 0;
}
