/*
 * scopes.h - the functions of a script: their start, end and name.
 *
 * It parses all of ECMA-262's grammar, but keeps only functions and the names
 * around them.  A function without its own name is named after the target of
 * its assignment, as in Sentry's crate js-source-scopes.  Time is linear in the
 * script, memory in its functions.
 */
#ifndef SYM_FORMATS_SCRIPT_SCOPES_H
#define SYM_FORMATS_SCRIPT_SCOPES_H

#include "base/arena.h"
#include "base/error.h"

/* A part of a name: an identifier of the script, which the source map may
 * rename, or a text between identifiers. */
typedef struct {
    sym_str_t text;
    uint32_t offset; /* offset of the identifier */
    bool is_identifier;
} sym_js_scope_part_t;

typedef struct {
    uint32_t start, end; /* bytes of the script */
    uint32_t first, n;   /* parts; 0: the function has no name */
} sym_js_scope_t;

typedef struct {
    sym_js_scope_t *scopes; /* sorted by start; nested or disjoint */
    size_t n, size;
    sym_js_scope_part_t *parts;
    size_t n_parts, parts_size;
    sym_arena_t arena; /* memory of texts that are not in the script */
} sym_js_scopes_t;

/*
 * SYM_MALFORMED: the text is not a script; err->offset is the position of the
 * error.  SYM_LIMIT: it is nested too deep, or larger than 4 GiB.  Call
 * sym_js_scopes_free() even after a failure.
 */
sym_status_t sym_js_scopes_read(sym_js_scopes_t *scopes, sym_str_t script,
                                sym_error_t *err);
void sym_js_scopes_free(sym_js_scopes_t *scopes);

#endif
