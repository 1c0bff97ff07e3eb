/*
 * foreign.h - names unsupported files by their first bytes.
 *
 * A message with the format's name helps more than a parse error.
 */
#ifndef SYM_FORMATS_FOREIGN_H
#define SYM_FORMATS_FOREIGN_H

#include <stddef.h>

#include "base/error.h"

/*
 * Name of the format of bytes that no probe accepted, as static text.
 * SYM_UNSUPPORTED: the format is known; SYM_MALFORMED: it is not.
 */
sym_status_t sym_foreign_name(const char *data, size_t len, const char **name);

#endif
