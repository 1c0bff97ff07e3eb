/*
 * json.h - reads the values of a source map's JSON, in one pass and without a
 * tree.
 *
 * A map of 100 MB is mostly a few strings, which are not copied until they are
 * written.  The first failure fills *err and empties the reader, so callers
 * check once for each value.
 */
#ifndef SYM_FORMATS_SOURCEMAP_JSON_H
#define SYM_FORMATS_SOURCEMAP_JSON_H

#include <stdbool.h>

#include "base/error.h"
#include "json/raw.h"

typedef struct {
    const char *start, *pos, *end;
    sym_error_t *err;
} sym_map_json_t;

typedef struct {
    sym_raw_string_t *items; /* text.data NULL: null */
    size_t n, size;
} sym_map_strings_t;

/* Both also skip the white space after the token. */
bool sym_map_take(sym_map_json_t *j, char c);
bool sym_map_null(sym_map_json_t *j);

/* Fails because a member with this name has a value of a wrong type. */
sym_status_t sym_map_fail(sym_map_json_t *j, sym_status_t status,
                          const char *what);

/*
 * Moves to the next member of an object, or item of a list; *n were read
 * before.  False: the end, which is skipped, or a failure.  Lists have no key.
 */
bool sym_map_next(sym_map_json_t *j, char close, size_t *n,
                  sym_raw_string_t *key);

/* A string, or null. */
sym_raw_string_t sym_map_string(sym_map_json_t *j);
uint32_t sym_map_number(sym_map_json_t *j);
void sym_map_skip(sym_map_json_t *j);

/* A list of strings and nulls.  With any_value, numbers are kept as written,
 * and other values count as "". null counts as an empty list. */
void sym_map_strings(sym_map_json_t *j, bool any_value,
                     sym_map_strings_t *list);

#endif
