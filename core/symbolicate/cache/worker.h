/*
 * worker.h - the worker cache: what outlives a request, for one open store.
 *
 * Belongs to that store and goes with it: ids of modules mean nothing in
 * another.  Nothing in it holds pages of the store.
 */
#ifndef SYM_SYMBOLICATE_CACHE_WORKER_H
#define SYM_SYMBOLICATE_CACHE_WORKER_H

#include "symbolicate/cache/modules.h"
#include "symbolicate/cache/answers.h"

typedef struct {
    sym_answer_cache_t *answers;
    sym_module_cache_t *modules;
} sym_worker_cache_t;

/* With room for so many bytes of answers.  NULL when out of memory. */
sym_worker_cache_t *sym_worker_cache_create(size_t answer_bytes);
void sym_worker_cache_free(sym_worker_cache_t *cache);

#endif
