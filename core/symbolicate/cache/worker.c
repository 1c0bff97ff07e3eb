#include "symbolicate/cache/worker.h"

#include <stdlib.h>

sym_worker_cache_t *
sym_worker_cache_create(size_t answer_bytes)
{
    sym_worker_cache_t *kept = calloc(1, sizeof(*kept));

    if (kept == NULL) {
        return NULL;
    }

    kept->recent = sym_answer_cache_create(answer_bytes);
    kept->known = sym_module_cache_create();
    if (kept->recent == NULL || kept->known == NULL) {
        sym_worker_cache_free(kept);
        return NULL;
    }

    return kept;
}


void
sym_worker_cache_free(sym_worker_cache_t *kept)
{
    if (kept != NULL) {
        sym_answer_cache_free(kept->recent);
        sym_module_cache_free(kept->known);
        free(kept);
    }
}
