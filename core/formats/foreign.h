/*
 * foreign.h - names unsupported files by their first bytes.
 *
 * The name of a foreign format is a better message than a parse error.
 */
#ifndef SYM_FORMATS_FOREIGN_H
#define SYM_FORMATS_FOREIGN_H

#include <stddef.h>

#include "base/error.h"

/*
 * Name of the format of bytes that no probe accepted, a static text.
 * SYM_UNSUPPORTED: a known format; SYM_MALFORMED: an unknown one.
 */
sym_status_t sym_foreign_name(const char *data, size_t len, const char **name);

#endif
