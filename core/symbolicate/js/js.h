/*
 * js.h - a position of a generated script to a place in a source, and to the name
 * of the function there.
 *
 * Joins two artifacts: the source map's tokens lead to the place, and the script
 * says which function the token is in.  The map may name the identifiers of the
 * function's name differently.  The rules are those of Sentry's crate
 * symbolic-sourcemapcache, because events are grouped by these names.
 */
#ifndef SYM_SYMBOLICATE_JS_JS_H
#define SYM_SYMBOLICATE_JS_JS_H

#include "artifacts/script/read/script.h"
#include "artifacts/sourcemap/read/sourcemap.h"

/* Bytes of a function's name; a longer one is cut. */
#define SYM_JS_FUNCTION_MAX 4096

typedef enum {
    SYM_JS_UNKNOWN, /* outside of all functions, or nothing is known of them */
    SYM_JS_ANONYMOUS,
    SYM_JS_NAMED
} sym_js_function_t;

typedef struct {
    sym_sourcemap_token_t token;
    sym_sourcemap_source_t source;
    sym_str_t name; /* of the token; data NULL: none */
    sym_js_function_t function;
    sym_str_t function_name; /* in the caller's bytes */
} sym_js_place_t;

/* script: may be NULL.  Lines and columns count from 0.  SYM_NOT_FOUND: the map
 * has no place there; SYM_DAMAGED. */
sym_status_t sym_js_answer(const sym_sourcemap_t *map,
                           const sym_script_t *script, uint32_t line,
                           uint32_t column, char text[SYM_JS_FUNCTION_MAX],
                           sym_js_place_t *place);

/*
 * Whether Sentry finds nothing here: it keeps the first of a run of tokens of the
 * same place, name and function, and no token of an earlier line.  *n: tokens that
 * were looked at, a measure of work.
 */
bool sym_js_is_dropped(const sym_sourcemap_t *map, const sym_script_t *script,
                       const sym_sourcemap_token_t *token, uint32_t *n);

/* Whether the name at the call counts for sym_js_show(). */
bool sym_js_needs_caller(const sym_js_place_t *place, sym_str_t given);

/*
 * The name that is shown for a function: `given` is what the client calls it, or
 * data NULL; `caller` the name of the token at the call, or data NULL.  It is
 * folded: "a.a.b" is "{a#2}.b".  Writes to out[SYM_JS_SHOWN_MAX].
 */
#define SYM_JS_SHOWN_MAX (SYM_JS_FUNCTION_MAX + 64)
sym_str_t sym_js_show(const sym_js_place_t *place, sym_str_t given,
                      sym_str_t caller, char out[SYM_JS_SHOWN_MAX]);

#endif
