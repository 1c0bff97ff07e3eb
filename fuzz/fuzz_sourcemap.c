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
#include "convert.h"
#include "extents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
        convert(SYM_CONVERSION_sourcemap, data, size);
        return 0;
    }

    in = cut(data, size);
    read_all(&in);
    return 0;
}
