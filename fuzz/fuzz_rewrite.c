/*
 * Any bytes as a rule that rewrites the name of a module, and as the name: three
 * lines.  Expressions of clients reach PCRE2, in a worker.  A text without '$' is
 * in the result as it is; a name that matches nothing is left alone.
 */
#include <string.h>

#include "base/rewrite.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sym_str_t
take_line(sym_str_t *in)
{
    const char *end = in->len > 0 ? memchr(in->data, '\n', in->len) : NULL;
    sym_str_t line =
        sym_str(in->data, end != NULL ? (size_t) (end - in->data) : in->len);
    size_t skip = line.len + (end != NULL);

    *in = sym_str(in->data + skip, in->len - skip);
    line.len =
        line.len < SYM_REWRITE_TEXT_MAX ? line.len : SYM_REWRITE_TEXT_MAX;
    return line;
}


static bool
has(sym_str_t text, sym_str_t part)
{
    return part.len == 0
           || memmem(text.data, text.len, part.data, part.len) != NULL;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t in = sym_str((const char *) data, size), name, out = { "", 0 };
    sym_rewrite_t rule;
    sym_arena_t arena;
    sym_status_t rc;

    rule.from = take_line(&in);
    rule.to = take_line(&in);
    name = take_line(&in);

    sym_arena_init(&arena, (size_t) 16 << 20);
    rc = sym_rewrite(&arena, &rule, name, &out);
    check(rc == SYM_OK || rc == SYM_NOT_FOUND || rc == SYM_MALFORMED
          || rc == SYM_NOMEM);
    check(rc != SYM_MALFORMED || out.len != 0);

    if (rc == SYM_OK && memchr(rule.to.data, '$', rule.to.len) == NULL) {
        check(has(out, rule.to));
        check(out.len <= name.len + rule.to.len + name.len);
    }

    sym_arena_drop(&arena);
    return 0;
}
