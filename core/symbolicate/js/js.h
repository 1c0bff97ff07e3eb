/*
 * js.h - maps a position in a generated script to a place in a source, and to
 * the name of the function there.
 *
 * It joins two artifacts: a token of the source map leads to the place, and the
 * script shows which function the token is in.  The map may have other names
 * for the identifiers in the function's name.  The rules are those of Sentry's
 * crate symbolic-sourcemapcache, because Sentry groups events by these names.
 */
#ifndef SYM_SYMBOLICATE_JS_JS_H
#define SYM_SYMBOLICATE_JS_JS_H

#include "artifacts/script/read/script.h"
#include "artifacts/sourcemap/read/sourcemap.h"

/* Maximum length of a function's name in bytes; longer names are cut. */
#define SYM_JS_FUNCTION_MAX 4096

typedef enum {
    SYM_JS_UNKNOWN, /* outside of all functions, or the function is unknown */
    SYM_JS_ANONYMOUS,
    SYM_JS_NAMED
} sym_js_function_t;

typedef struct {
    sym_sourcemap_token_t token;
    sym_sourcemap_source_t source;
    sym_str_t name; /* name at the token; data NULL: none */
    sym_js_function_t function;
    sym_str_t function_name; /* stored in the caller's bytes */
} sym_js_place_t;

/* script may be NULL.  Lines and columns count from 0.  SYM_NOT_FOUND: the map
 * has no place for the position; SYM_DAMAGED. */
sym_status_t sym_js_answer(const sym_sourcemap_t *map,
                           const sym_script_t *script, uint32_t line,
                           uint32_t column, char text[SYM_JS_FUNCTION_MAX],
                           sym_js_place_t *place);

/*
 * Whether Sentry ignores this token.  Sentry keeps only the first one of a run
 * of tokens with the same place, name and function, and ignores tokens of
 * earlier lines.  *n: number of tokens examined, a measure of work.
 */
bool sym_js_is_dropped(const sym_sourcemap_t *map, const sym_script_t *script,
                       const sym_sourcemap_token_t *token, uint32_t *n);

/* Whether sym_js_show() uses the name at the call. */
bool sym_js_needs_caller(const sym_js_place_t *place, sym_str_t given);

/*
 * Returns the shown name of a function.  `given` is the client's name, and
 * `caller` the name of the token at the call; either may have data NULL.
 * Repeated parts are folded: "a.a.b" becomes "{a#2}.b".  The name is written to
 * out[SYM_JS_SHOWN_MAX].
 */
#define SYM_JS_SHOWN_MAX (SYM_JS_FUNCTION_MAX + 64)
sym_str_t sym_js_show(const sym_js_place_t *place, sym_str_t given,
                      sym_str_t caller, char out[SYM_JS_SHOWN_MAX]);

#endif
