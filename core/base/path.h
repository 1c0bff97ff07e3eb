/*
 * path.h - the path of a source file as it is shown.
 *
 * It follows symbolic, which Mozilla's and Sentry's servers use: the path is
 * split after its last separator, and folder and name are joined with one
 * separator. "." and ".." are resolved, and a folder that looks like Windows'
 * (it begins with a drive, "\\" or "//", or contains "\") gives "\" between all
 * parts.  Differences: docs/use/compat.md.
 */
#ifndef SYM_BASE_PATH_H
#define SYM_BASE_PATH_H

#include "base/str.h"

/* Writes the cleaned path to out (path.len + 1 bytes); returns its length. */
size_t sym_clean_path(sym_str_t path, char *out);

/* A longer path should be shown as it is. */
#define SYM_PATH_SPELT_MAX 4096

/*
 * A spelling from which sym_clean_path() makes this path, with "." before the
 * name where necessary: "src\\main.c" would be read as "src/main.c".  Written to
 * out (SYM_PATH_SPELT_MAX + 2 bytes) if it differs from the path; the path itself
 * is also returned if it has no such spelling.
 */
sym_str_t sym_spell_path(sym_str_t path, char *out);

#endif
