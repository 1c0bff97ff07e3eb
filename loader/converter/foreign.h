/*
 * foreign.h - what a file is that no reader takes, by its first bytes.
 *
 * For who is told why: "a PDB file" helps more than that a record is missing.
 */
#ifndef SYMLOADER_CONVERTER_FOREIGN_H
#define SYMLOADER_CONVERTER_FOREIGN_H

#include <stddef.h>

#include "base/error.h"

/*
 * What the first bytes of a file say that is no ELF or Mach-O file.  SYM_OK: it
 * may be Breakpad's text.  SYM_UNSUPPORTED: a format that is known by its name;
 * SYM_MALFORMED: none that is.
 */
sym_status_t foreign_check(const char *data, size_t len, sym_error_t *err);

#endif
