/*
 * base64.h - decodes base 64 (RFC 4648, 4), with padding.
 */
#ifndef SYM_BASE_BASE64_H
#define SYM_BASE_BASE64_H

#include "base/str.h"

/* Writes at most text.len bytes to out.  False: the text is not base 64. */
bool sym_base64_read(sym_str_t text, char *out, size_t *len);

#endif
