/*
 * formats.h - the table of all formats (list.h).
 */
#ifndef SYM_FORMATS_FORMATS_H
#define SYM_FORMATS_FORMATS_H

#include "formats/format.h"
#include "formats/list.h"

/* NULL for SYM_CONVERSION_UNKNOWN. */
const sym_format_t *sym_format_of(sym_conversion_format_t format);

/* The format of a file that begins so, or SYM_CONVERSION_UNKNOWN. */
sym_conversion_format_t sym_format_find(const uint8_t *data, size_t len);

/*
 * Why a file that begins so is not read, into text: what it is, as far as its
 * first bytes tell, and what is read.  SYM_UNSUPPORTED: a format that is known
 * by its name; SYM_MALFORMED: none that is known.
 */
sym_status_t sym_format_refuse(const char *data, size_t len, char *text,
                               size_t size);

#endif
