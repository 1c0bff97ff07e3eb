/*
 * text.h - names in the string tables of untrusted files.
 */
#ifndef SYM_FORMATS_NATIVE_TEXT_H
#define SYM_FORMATS_NATIVE_TEXT_H

#include <stdint.h>

#include "base/str.h"

/*
 * Returns the string at an offset up to its NUL, cut one byte above the limit
 * of names.  data is NULL if the offset is outside the table.  Many symbols may
 * share one long string: *long_bytes counts the bytes read for such names, and
 * later names are cut shorter.
 */
sym_str_t sym_native_text(sym_str_t strings, uint64_t offset,
                          uint64_t *long_bytes);

#endif
