/*
 * path.h - paths of source files, in Symbolicator's form.
 *
 * Windows paths have '\\' or '/' between their parts; the form of a path shows
 * its system (symbolic's path.rs).
 */
#ifndef SYM_API_SENTRY_PATH_H
#define SYM_API_SENTRY_PATH_H

#include "base/str.h"

/* Returns the last part; separators at the end are ignored. */
sym_str_t sentry_path_name(sym_str_t path);

/* Whether sentry_path_clean() would change nothing. */
bool sentry_path_is_clean(sym_str_t path);

/* Writes the path without its "." and ".." to out, which has room for path.len
 * bytes, and returns its length. */
size_t sentry_path_clean(sym_str_t path, char *out);

#endif
