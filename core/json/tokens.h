/*
 * tokens.h - a JSON text (RFC 8259) that is read token by token, for texts that are
 * too long for one turn.
 *
 * There is no tree.  The reader keeps one bit for each level, and may stop after any
 * token, also inside a long string: a copy of the structure continues there.  It
 * accepts only JSON, but does not compare keys.  Numbers may have any length.  Views
 * are of the text.
 */
#ifndef SYM_JSON_TOKENS_H
#define SYM_JSON_TOKENS_H

#include "base/error.h"
#include "base/str.h"

/* Maximum number of lists and objects around a value. */
#define SYM_JSON_DEPTH_MAX 64

/* Maximum length of white space, because it is skipped in one turn. */
#define SYM_JSON_SPACE_MAX 65536

/* A string takes a token for about this number of bytes. */
#define SYM_JSON_PART_MAX 4096

typedef enum {
    SYM_JSON_PART, /* of a string that is not complete yet */
    SYM_JSON_KEY,
    SYM_JSON_STRING,
    SYM_JSON_NUMBER,
    SYM_JSON_WORD, /* true, false or null */
    SYM_JSON_OPEN, /* of a list or object */
    SYM_JSON_CLOSE
} sym_json_type_t;

typedef struct {
    const char *start, *p, *end;
    const char *string; /* start of the string that is not complete; or NULL */
    uint64_t lists;     /* a bit for each level: it is a list */
    uint8_t depth;
    uint8_t next; /* what may follow; private to tokens.c */
    bool has_escapes;
} sym_json_tokens_t;

typedef struct {
    sym_json_type_t type;
    sym_str_t text;   /* as written; of keys and strings without their quotes */
    bool has_escapes; /* of a key or string */
} sym_json_token_t;

sym_json_tokens_t sym_json_tokens(sym_str_t text);

/* Reads the next token, with the white space, colon or comma around it.  False: the
 * end of the text, or *err. */
bool sym_json_token(sym_json_tokens_t *t, sym_json_token_t *token,
                    sym_error_t *err);

/* Whether a key, decoded, is this ASCII text. */
bool sym_json_is(const sym_json_token_t *key, const char *text);

/* Skips the value that is next.  False: *err. */
bool sym_json_skip(sym_json_tokens_t *t, sym_error_t *err);

#endif
