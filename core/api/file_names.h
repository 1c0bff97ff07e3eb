/*
 * file_names.h - names and ids of the module that a path names.
 *
 * A client knows a module's code file and code id, or its debug file and debug
 * id.  Records of the store have the others.
 */
#ifndef SYM_API_FILE_NAMES_H
#define SYM_API_FILE_NAMES_H

#include "api/file_request.h"
#include "json/out.h"
#include "store/object.h"
#include "store/store.h"

/* Texts are in the structure; "": unknown. */
typedef struct {
    sym_str_t debug_file, debug_id, code_file, code_id;
    int64_t stored_at;
    char text[2 * SYM_NAME_MAX + SYM_ID_TEXT_MAX + SYM_CODE_ID_MAX];
} sym_file_names_t;

/* Finds the newest module of a source that has an id and a name of the request.
 * SYM_NOT_FOUND: names is unchanged. */
sym_status_t sym_file_names_find(sym_snapshot_t *snapshot, sym_str_t scope,
                                 const sym_file_request_t *request,
                                 sym_file_names_t *names, sym_error_t *err);

/* Reads "NAME/ID", which the loader makes of an executable.  False: it is
 * malformed. */
bool sym_file_names_read(sym_str_t made, const sym_file_request_t *request,
                         sym_file_names_t *names);

#endif
