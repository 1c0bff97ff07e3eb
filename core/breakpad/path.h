/*
 * path.h - the text of a FILE record as it is shown.
 *
 * Separators at the end go, "." and ".." are resolved, and a path that looks
 * like Windows' (a drive, "\\" or "//" in front, or any "\") gets "\" between
 * all parts.  Rules and where they differ from Sentry's: docs/compat.md.
 */
#ifndef SYM_BREAKPAD_PATH_H
#define SYM_BREAKPAD_PATH_H

#include "base/str.h"

/* Writes the cleaned path to out (path.len + 1 bytes); returns its length. */
size_t sym_path_clean(sym_str_t path, char *out);

#endif
