/*
 * text.h - a single source file, as a bundle of one.
 *
 * It is recognized by the scope that it was fetched for, not by its bytes.
 */
#ifndef SYM_FORMATS_SOURCEBUNDLE_TEXT_H
#define SYM_FORMATS_SOURCEBUNDLE_TEXT_H

#include "formats/format.h"

/* Stores an artifact of kind `sources` with the file under
 * SYM_SOURCES_TEXT_NAME.  id: canonical. */
sym_status_t sym_source_text_convert(const sym_format_file_t *f, sym_str_t id,
                                     sym_error_t *err);

#endif
