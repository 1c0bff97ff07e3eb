/*
 * choose.h - selects the companion of a debug file among the files of that
 * name.
 */
#ifndef SYM_FORMATS_NATIVE_CHOOSE_H
#define SYM_FORMATS_NATIVE_CHOOSE_H

#include "base/error.h"
#include "formats/format.h"

/* Opens a candidate.  SYM_NOT_FOUND: the candidate does not match, and a note
 * says so.  Any other failure ends the search. */
typedef sym_status_t (*sym_native_candidate_pt)(
    void *ctx, const sym_companion_file_t *file, sym_error_t *err);

/*
 * Requests the files of this name until `take` returns SYM_OK for one.  *file
 * is then that file, and the caller frees file->data.  If no candidate was
 * accepted, the call returns SYM_OK, too, and file->data is NULL.
 */
sym_status_t sym_native_choose(sym_companion_t *wanted,
                               const sym_format_services_t *services,
                               sym_native_candidate_pt take, void *ctx,
                               sym_companion_file_t *file, sym_error_t *err);

#endif
