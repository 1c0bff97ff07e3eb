#include "resolve/kept.h"

#include <stdlib.h>

sym_kept_t *
sym_kept_create(size_t answer_bytes)
{
    sym_kept_t *kept = calloc(1, sizeof(*kept));

    if (kept == NULL) {
        return NULL;
    }

    kept->recent = sym_recent_create(answer_bytes);
    kept->known = sym_known_create();
    if (kept->recent == NULL || kept->known == NULL) {
        sym_kept_free(kept);
        return NULL;
    }

    return kept;
}


void
sym_kept_free(sym_kept_t *kept)
{
    if (kept != NULL) {
        sym_recent_free(kept->recent);
        sym_known_free(kept->known);
        free(kept);
    }
}
