/*
 * worker.h - what a worker keeps over requests for one open store.
 *
 * Belongs to that store and goes with it: ids of modules mean nothing in
 * another.  Nothing kept here holds pages of the store.
 */
#ifndef SYM_SYMBOLICATE_CACHE_WORKER_H
#define SYM_SYMBOLICATE_CACHE_WORKER_H

#include "symbolicate/cache/modules.h"
#include "symbolicate/cache/answers.h"

typedef struct {
    sym_answer_cache_t *recent; /* answers */
    sym_module_cache_t *known;  /* modules */
} sym_worker_cache_t;

/* With room for so many bytes of answers.  NULL when out of memory. */
sym_worker_cache_t *sym_worker_cache_create(size_t answer_bytes);
void sym_worker_cache_free(sym_worker_cache_t *kept);

#endif
