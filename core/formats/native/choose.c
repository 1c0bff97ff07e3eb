#include "formats/native/choose.h"

#include <stdlib.h>

/* Limit on the candidate files of one name. */
#define ATTEMPTS_MAX 8


sym_status_t
sym_native_choose(sym_companion_t *wanted,
                  const sym_format_services_t *services,
                  sym_native_candidate_pt take, void *ctx,
                  sym_companion_file_t *file, sym_error_t *err)
{
    sym_status_t rc = SYM_OK;

    for (; wanted->attempt < ATTEMPTS_MAX; wanted->attempt++) {
        *file = (sym_companion_file_t){ 0 };
        rc = services->companion(services->ctx, wanted, file);

        if (rc != SYM_OK) {
            return rc == SYM_NOMEM ? sym_fail(err, rc,
                                              "no memory for a file that goes "
                                              "with it: see --convert-memory")
                                   : SYM_OK;
        }

        rc = take(ctx, file, err);
        if (rc == SYM_OK) {
            return SYM_OK;
        }

        free(file->data);
        *file = (sym_companion_file_t){ 0 };
        if (rc != SYM_NOT_FOUND) {
            return rc;
        }
    }

    return SYM_OK;
}
