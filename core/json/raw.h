/*
 * raw.h - reads JSON in place, without a tree, for readers that parse requests
 * in one pass.
 *
 * These functions accept less than jansson does: text that they refuse may
 * still be JSON, and jansson decides.  jansson accepts everything that they
 * accept, and reads the same value, so such text can be passed on unchanged.
 * They take time linear in the text.  All views are of the text that is read.
 */
#ifndef SYM_JSON_RAW_H
#define SYM_JSON_RAW_H

#include "base/arena.h"
#include "base/str.h"

/* A string without its quotes. */
typedef struct {
    sym_str_t text; /* as written, with its escapes */
    bool has_escapes;
} sym_raw_string_t;

/* Maximum length of a list or object, because it is read in one turn; strings
 * have no limit. */
#define SYM_RAW_BYTES_MAX ((size_t) 4 << 20)

/* Maximum depth of lists and objects; jansson allows 2,048. */
#define SYM_RAW_DEPTH_MAX 64

/* Maximum number of keys, of an object and of those around it, that are
 * compared. */
#define SYM_RAW_KEYS_MAX 64

/* Returns the end of the white space at p. */
static inline const char *
sym_raw_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }

    return p;
}


/* Returns the end of the string with its opening quote at p; NULL: refused. */
const char *sym_raw_string(const char *p, const char *end,
                           sym_raw_string_t *string);

/* Returns the end of the escape at p; NULL: it is not an escape. */
const char *sym_raw_escape(const char *p, const char *end);

/* Returns the end of the value at p, after optional white space; NULL:
 * refused. */
const char *sym_raw_value(const char *p, const char *end);

/* Same, but refuses objects with a repeated key, because readers disagree about
 * its value. */
const char *sym_raw_unique(const char *p, const char *end);

/* Returns the decoded text; it is in the arena if it has escapes. data NULL: no
 * memory. */
sym_str_t sym_raw_decode(sym_arena_t *arena, const sym_raw_string_t *string);

#endif
