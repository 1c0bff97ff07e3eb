/*
 * formats.h - the table of all formats (list.h).
 */
#ifndef SYM_FORMATS_FORMATS_H
#define SYM_FORMATS_FORMATS_H

#include "formats/format.h"
#include "formats/list.h"

/* The format's row; NULL for SYM_CONVERSION_UNKNOWN. */
const sym_format_t *sym_format_of(sym_conversion_format_t format);

/* The format of a file with these first bytes, or SYM_CONVERSION_UNKNOWN. */
sym_conversion_format_t sym_format_find(const uint8_t *data, size_t len);

/* Whether a format reads files with these first bytes, and a folder's or
 * package's file like this is worth reading. */
bool sym_format_is_module(sym_str_t head);

/*
 * Writes to `text` why a file with these first bytes is not read: its format,
 * if known, and the supported ones.  SYM_UNSUPPORTED: the format is known;
 * SYM_MALFORMED: it is not.
 */
sym_status_t sym_format_refuse(const char *data, size_t len, char *text,
                               size_t size);

#endif
