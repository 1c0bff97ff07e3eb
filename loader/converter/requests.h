/*
 * requests.h - the converter's requests and notes to its loader, in addition to
 * its output.
 *
 * May be called on all threads that read a file.
 */
#ifndef SYMLOADER_CONVERTER_REQUESTS_H
#define SYMLOADER_CONVERTER_REQUESTS_H

#include "formats/format.h"

/* Functions for a sym_format_services_t; they do not use its ctx. */
sym_status_t request_companion(void *ctx, const sym_companion_t *want,
                               sym_companion_file_t *file);
__attribute__((format(printf, 2, 3))) void request_note(void *ctx,
                                                        const char *format,
                                                        ...);

#endif
