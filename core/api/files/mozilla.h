/*
 * mozilla.h - what paths of symbol files mean to Tecken, Mozilla's symbol
 * server, and its errors.
 */
#ifndef SYM_API_FILES_MOZILLA_H
#define SYM_API_FILES_MOZILLA_H

#include "api/registry.h"

/* Returns the length of "try/" before NAME/ID/FILE; 0: the path does not begin
 * with it. */
size_t sym_files_try_prefix(sym_str_t path);

/* Returns the sources to search for the parameter `try`, whatever its value. */
sym_file_sources_t sym_files_sources(sym_str_t query);

/* Whether Tecken answers a path NAME/ID/FILE with 404 without looking. */
bool sym_files_is_never(sym_str_t path);

/* Returns the text of the 404 for a path; NULL: Tecken has no such paths. */
const char *sym_files_absent(sym_str_t path);

/* For the route of /api/syminfo/NAME/ID, where ID is a code id or a debug id. */
bool sym_files_read_syminfo(sym_str_t path, sym_str_t query,
                            sym_file_request_t *request);
const char *sym_files_no_syminfo(sym_str_t path);
void sym_files_write_names(const sym_file_names_t *names, sym_str_t base,
                           bool is_try, sym_out_t *out);

/* For sym_api_t.write_error. */
const char *sym_files_write_error(const sym_api_error_t *error, sym_out_t *out);

#endif
