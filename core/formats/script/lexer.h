/*
 * lexer.h - the tokens of a script of JavaScript (ECMA-262, 12).
 *
 * The parser reads one token after the other.  A `/` in place of an operand
 * begins a regular expression, and the `}` of a substitution continues a
 * template.  Only the parser can tell, so it calls separate functions for these
 * tokens.  Nothing is decoded.  The input may be any bytes.
 */
#ifndef SYM_FORMATS_SCRIPT_LEXER_H
#define SYM_FORMATS_SCRIPT_LEXER_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    SYM_JS_END,
    SYM_JS_NAME,    /* a name or a keyword */
    SYM_JS_PRIVATE, /* `#` and a name */
    SYM_JS_NUMBER,
    SYM_JS_STRING,
    SYM_JS_MARK, /* punctuation; see `mark` */
    SYM_JS_BAD   /* a byte that begins no token, or a token without an end */
} sym_js_type_t;

/* The bytes of a mark as a number, the first byte highest: '=' << 8 | '>'. */
typedef struct {
    const char *start, *end;
    sym_js_type_t type;
    uint32_t mark;
    bool is_after_line; /* a line end precedes it */
} sym_js_token_t;

#define SYM_JS_MARK1(a) ((uint32_t) (a))
#define SYM_JS_MARK2(a, b) ((uint32_t) (a) << 8 | (b))
#define SYM_JS_MARK3(a, b, c) ((uint32_t) (a) << 16 | (uint32_t) (b) << 8 | (c))

#define SYM_JS_ARROW SYM_JS_MARK2('=', '>')
#define SYM_JS_DOTS SYM_JS_MARK3('.', '.', '.')

/* The token at pos, after white space and comments. */
sym_js_token_t sym_js_token(const char *pos, const char *end);

/* The end of the regular expression whose `/` is at pos, after its flags.
 * NULL: it has no end. */
const char *sym_js_regexp(const char *pos, const char *end);

/* Continues a template after its back quote or after a substitution's `}`.
 * Returns the position after the closing back quote or after `${`.  NULL: it
 * has no end. */
const char *sym_js_template(const char *pos, const char *end, bool *is_open);

/* Skips a byte order mark, and a first line that names an interpreter. */
const char *sym_js_begin(const char *pos, const char *end);

#endif
