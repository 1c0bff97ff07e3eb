/*
 * text.h - names in the string tables of untrusted files.
 */
#ifndef SYM_FORMATS_NATIVE_TEXT_H
#define SYM_FORMATS_NATIVE_TEXT_H

#include <stdint.h>

#include "base/str.h"

/*
 * The text at an offset up to its NUL, cut behind where names are cut; data
 * NULL: there is none.  Many symbols may share one long text: *long_bytes
 * counts what such names have read, and shortens the later ones.
 */
sym_str_t sym_native_text(sym_str_t strings, uint64_t offset,
                          uint64_t *long_bytes);

#endif
