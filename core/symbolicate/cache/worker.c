#include "symbolicate/cache/worker.h"

#include <stdlib.h>

sym_worker_cache_t *
sym_worker_cache_create(size_t answer_bytes)
{
    sym_worker_cache_t *cache = calloc(1, sizeof(*cache));

    if (cache == NULL) {
        return NULL;
    }

    cache->answers = sym_answer_cache_create(answer_bytes);
    cache->modules = sym_module_cache_create();
    cache->blocks = sym_block_cache_create();
    if (cache->answers == NULL || cache->modules == NULL
        || cache->blocks == NULL) {
        sym_worker_cache_free(cache);
        return NULL;
    }

    return cache;
}


void
sym_worker_cache_free(sym_worker_cache_t *cache)
{
    if (cache != NULL) {
        sym_answer_cache_free(cache->answers);
        sym_module_cache_free(cache->modules);
        sym_block_cache_free(cache->blocks);
        free(cache);
    }
}
