/*
 * path.h - cleans the path of a source file for display.
 *
 * It does the same as symbolic, which Mozilla's and Sentry's servers use.  The
 * path is split after its last separator, and folder and name are joined with
 * one separator.  "." and ".." are resolved.  A folder counts as a Windows
 * folder if it begins with a drive, "\\" or "//", or contains "\"; then all
 * separators become "\".  Differences: docs/use/compat.md.
 */
#ifndef SYM_BASE_PATH_H
#define SYM_BASE_PATH_H

#include "base/str.h"

/* Writes the cleaned path to out (path.len + 1 bytes); returns its length. */
size_t sym_clean_path(sym_str_t path, char *out);

/* Longer paths should be shown unchanged. */
#define SYM_PATH_SPELT_MAX 4096

/*
 * The inverse of sym_clean_path(): returns a spelling that is cleaned to this
 * path.  It has "." before the name if necessary, because "src\\main.c" would
 * be read as "src/main.c".  It is in out (SYM_PATH_SPELT_MAX + 2 bytes) if it
 * differs from the path.  If no spelling exists, the path itself is returned.
 */
sym_str_t sym_spell_path(sym_str_t path, char *out);

#endif
