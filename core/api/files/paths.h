/*
 * paths.h - readers of paths, for sym_api_route_t.read_file (registry.h).
 */
#ifndef SYM_API_FILES_PATHS_H
#define SYM_API_FILES_PATHS_H

#include "api/file_request.h"
#include "base/str.h"

/* Files that contain a module's code. */
#define SYM_FILES_CODE                                                         \
    (SYM_FILE(ELF_CODE) | SYM_FILE(MACH_CODE) | SYM_FILE(PE)                   \
     | SYM_FILE(PE_PACKED))

/* ID/debuginfo and others below debuginfod's /buildid/. */
bool sym_files_read_debuginfod(sym_str_t path, sym_str_t query,
                               sym_file_request_t *request);

/* NAME/SIGNATURE/NAME of a Windows symbol server, by Symbolicator's rules. */
bool sym_files_read_symstore(sym_str_t path, sym_str_t query,
                             sym_file_request_t *request);

/* NAME/ID/STEM.sym */
bool sym_files_read_breakpad(sym_str_t path, sym_str_t query,
                             sym_file_request_t *request);

/* Any path of a symbol server: of Breakpad, of a Windows symbol server, or of
 * the layout `native`. */
bool sym_files_read_any(sym_str_t path, sym_str_t query,
                        sym_file_request_t *request);

/* The first two parts of NAME/SIGNATURE/FILE; *file is the rest, unchecked. */
bool sym_files_read_signature(sym_str_t path, sym_str_t *name, sym_str_t *file,
                              sym_file_request_t *request);

/* Sets the URL of a path, for layouts that have paths of such files.  False: too
 * long. */
bool sym_files_write_url(sym_str_t prefix, sym_str_t path,
                         sym_file_request_t *request);

/* Splits the part before the next slash off *path; false: it has no slash. */
bool sym_files_next_part(sym_str_t *path, sym_str_t *part);

#endif
