/*
 * load.h - a JSON text as jansson's tree, or why there is none.
 *
 * The one place that calls jansson's reader: it knows which of its errors are
 * the text's and which are ours.  jansson goes 2,048 levels deep and no deeper.
 */
#ifndef SYM_JSON_LOAD_H
#define SYM_JSON_LOAD_H

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"

/*
 * The tree of all of text, for json_decref(); flags are jansson's JSON_*.  NULL:
 * SYM_MALFORMED with what (static, "the answer is no JSON"), line and byte; or
 * SYM_NOMEM.
 */
json_t *sym_json_load(sym_str_t text, size_t flags, const char *what,
                      sym_error_t *err);

#endif
