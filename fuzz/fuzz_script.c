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
#include "convert.h"
#include "extents.h"
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
    convert(SYM_CONVERSION_script, data, size);
    return 0;
}
