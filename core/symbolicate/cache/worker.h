/*
 * worker.h - the worker cache: caches that outlive a request, for one open
 * store.
 *
 * The caches end with the store, because module ids are valid in one store
 * only.  They do not refer to pages of the store.
 */
#ifndef SYM_SYMBOLICATE_CACHE_WORKER_H
#define SYM_SYMBOLICATE_CACHE_WORKER_H

#include "symbolicate/cache/modules.h"
#include "symbolicate/cache/answers.h"
#include "symbolicate/cache/blocks.h"

typedef struct {
    sym_answer_cache_t *answers;
    sym_module_cache_t *modules;
    sym_block_cache_t *blocks;
} sym_worker_cache_t;

/* Creates a cache with room for this many bytes of answers.  NULL: out of
 * memory. */
sym_worker_cache_t *sym_worker_cache_create(size_t answer_bytes);
void sym_worker_cache_free(sym_worker_cache_t *cache);

#endif
