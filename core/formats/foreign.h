/*
 * foreign.h - names files that no format here reads, by their first bytes.
 *
 * The name of a foreign format is a better message than a parse error.
 */
#ifndef SYM_FORMATS_FOREIGN_H
#define SYM_FORMATS_FOREIGN_H

#include <stddef.h>

#include "base/error.h"

/*
 * What the bytes begin, which no probe has known: a static text.
 * SYM_UNSUPPORTED: a format that is known by its name; SYM_MALFORMED: none that
 * is.
 */
sym_status_t sym_foreign_name(const char *data, size_t len, const char **name);

#endif
