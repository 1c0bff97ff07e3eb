/*
 * text.h - names in the string tables of untrusted files.
 */
#ifndef SYM_FORMATS_NATIVE_TEXT_H
#define SYM_FORMATS_NATIVE_TEXT_H

#include <stdint.h>

#include "base/str.h"

/*
 * Returns the text at an offset up to its NUL, cut behind where names are cut.
 * Its data is NULL if the offset lies outside of the table.  Many symbols may
 * share one long text: *long_bytes counts the bytes that such names have read,
 * and later names are cut shorter.
 */
sym_str_t sym_native_text(sym_str_t strings, uint64_t offset,
                          uint64_t *long_bytes);

#endif
