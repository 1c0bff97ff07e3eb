#include "json/load.h"

#include <stdlib.h>

/* More than jansson asks for at a time, but for the largest strings. */
#define MEMORY_PROBE ((size_t) 64 * 1024)

/*
 * jansson 2.14 calls a string that it found no memory for an invalid token.  To
 * blame the text's sender for that would be worse than to look.
 */
static bool
has_memory(void)
{
    /* volatile: a compiler may leave out what is given back at once */
    void *volatile probe = malloc(MEMORY_PROBE);
    bool had = probe != NULL;

    free(probe);
    return had;
}


json_t *
sym_json_load(sym_str_t text, size_t flags, const char *what, sym_error_t *err)
{
    json_error_t error = { 0 };
    enum json_error_code code;
    json_t *root;

    if (err->status != SYM_OK) {
        return NULL;
    }

    root = json_loadb(text.len == 0 ? "" : text.data, text.len, flags, &error);
    if (root != NULL) {
        return root;
    }

    code = json_error_code(&error);
    if (code == json_error_unknown || code == json_error_out_of_memory
        || !has_memory())
    {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a JSON text");
        return NULL;
    }

    err->line = error.line > 0 ? (uint64_t) error.line : 0;
    err->offset = error.position > 0 ? (uint64_t) error.position : 0;
    (void) sym_fail(err, SYM_MALFORMED, what);
    return NULL;
}
