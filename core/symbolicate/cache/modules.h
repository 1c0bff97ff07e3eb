/*
 * modules.h - the module cache: modules found, or found missing, in the current
 * version of the store.
 *
 * Finding a module costs a search in the store's directory and reading its
 * record and header (measured: 0.5 us, an eighth of a request of two frames
 * without its HTTP).  Requests repeat modules, so results are cached for one
 * version of the store.
 *
 * A table of fixed size, for one open store and one thread.
 */
#ifndef SYM_SYMBOLICATE_CACHE_MODULES_H
#define SYM_SYMBOLICATE_CACHE_MODULES_H

#include <stdint.h>

#include "object/module_key.h"
#include "store/store.h"

typedef struct sym_module_cache_s sym_module_cache_t;

typedef struct {
    sym_module_state_t state;
    uint32_t since;      /* seconds since 1970 when it was cached */
    uint32_t expires_at; /* seconds since 1970 until when it is valid; 0: until
                            the store changes */
    uint64_t module_id;
    uint64_t tag;  /* sym_object_ref_hash() of the object that was asked for, to
                       which its absence belongs; 0: of none */
    uint32_t slot; /* in the use clock */
    sym_str_t name; /* from its file, or "" */
} sym_cached_module_t;

/* NULL when out of memory. */
sym_module_cache_t *sym_module_cache_create(void);
void sym_module_cache_free(sym_module_cache_t *cache);

/* Hash for all functions below; worth storing next to the key.  Results depend
 * on the visible sources, so a module is cached for a list of sources, by its
 * number; the scope of a key is ignored. */
uint64_t sym_module_cache_hash(const sym_module_cache_t *cache,
                               const sym_module_key_t *key, uint32_t scopes);

/* Prefetches for a module that will be looked up soon: its set, then, when that
 * has arrived, its entry. */
void sym_module_cache_expect(const sym_module_cache_t *cache, uint64_t hash);
void sym_module_cache_fetch(const sym_module_cache_t *cache, uint64_t hash);

/* version: of the store, from sym_snapshot_version().  The name lives until the
 * next sym_module_cache_add(). */
bool sym_module_cache_find(const sym_module_cache_t *cache, uint64_t version,
                           const sym_module_key_t *key, uint32_t scopes,
                           uint64_t hash, sym_cached_module_t *module);

/* Caches a module, unless its name is very long. */
void sym_module_cache_add(sym_module_cache_t *cache, uint64_t version,
                          const sym_module_key_t *key, uint32_t scopes,
                          uint64_t hash, const sym_cached_module_t *module);

#endif
