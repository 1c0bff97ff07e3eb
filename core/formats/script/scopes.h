/*
 * scopes.h - the functions of a script: where they begin and end, and what they
 * are called.
 *
 * A parser of all of ECMA-262's grammar that keeps nothing but functions and the
 * names around them.  A function without a name of its own takes one from what it
 * is assigned to, as Sentry's crate js-source-scopes does it.  Takes time linear
 * in the script, and memory in its functions.
 */
#ifndef SYM_FORMATS_SCRIPT_SCOPES_H
#define SYM_FORMATS_SCRIPT_SCOPES_H

#include "base/arena.h"
#include "base/error.h"

/* A part of a name: an identifier of the script, which its map may name
 * differently, or a text between two. */
typedef struct {
    sym_str_t text;
    uint32_t offset; /* of the identifier */
    bool is_identifier;
} sym_js_scope_part_t;

typedef struct {
    uint32_t start, end; /* bytes of the script */
    uint32_t first, n;   /* parts; none: the function has no name */
} sym_js_scope_t;

typedef struct {
    sym_js_scope_t
        *scopes; /* by their starts; each is inside another or apart */
    size_t n, size;
    sym_js_scope_part_t *parts;
    size_t n_parts, parts_size;
    sym_arena_t arena; /* of texts that are not in the script */
} sym_js_scopes_t;

/*
 * SYM_MALFORMED: the text is no script, err->offset tells from where on.
 * SYM_LIMIT: it is nested too deep, or is larger than 4 GiB.  sym_js_scopes_free()
 * frees what was read, also after a failure.
 */
sym_status_t sym_js_scopes_read(sym_js_scopes_t *scopes, sym_str_t script,
                                sym_error_t *err);
void sym_js_scopes_free(sym_js_scopes_t *scopes);

#endif
