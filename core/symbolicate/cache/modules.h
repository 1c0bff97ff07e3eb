/*
 * modules.h - the module cache: lookups of modules in the current version of
 * the store, successful or not.
 *
 * A lookup searches the tables of the store, and reads a record and a header
 * (measured: 0.5 us, an eighth of a request of two frames without HTTP).
 * Requests repeat modules, so results are cached for one version of the store.
 *
 * It is a table of fixed size, for one open store and one thread.
 */
#ifndef SYM_SYMBOLICATE_CACHE_MODULES_H
#define SYM_SYMBOLICATE_CACHE_MODULES_H

#include <stdint.h>

#include "object/module_key.h"
#include "store/store.h"

typedef struct sym_module_cache_s sym_module_cache_t;

typedef struct {
    sym_module_state_t state;
    uint32_t since;      /* time of caching, in seconds since 1970 */
    uint32_t expires_at; /* end of validity, in seconds since 1970; 0: until the
                            store changes */
    uint64_t module_id;
    uint64_t tag;   /* sym_object_ref_hash() of the requested object, if the
                      result applies only to that; 0: it does not depend on
                      it */
    uint32_t slot;  /* index in the use clock */
    sym_str_t name; /* name in the module's file, or "" */
} sym_cached_module_t;

/* Creates a cache.  NULL: out of memory. */
sym_module_cache_t *sym_module_cache_create(void);
void sym_module_cache_free(sym_module_cache_t *cache);

/* Computes the hash for all functions below; store it next to the key.  Results
 * depend on the visible sources, so a module is cached for a list of sources,
 * by the list's number.  The scope of a key is ignored. */
uint64_t sym_module_cache_hash(const sym_module_cache_t *cache,
                               const sym_module_key_t *key, uint32_t scopes);

/* Prefetches for a module that will be looked up soon.  Call the first one for
 * the set, and the second one for the entry after the set has arrived. */
void sym_module_cache_expect(const sym_module_cache_t *cache, uint64_t hash);
void sym_module_cache_fetch(const sym_module_cache_t *cache, uint64_t hash);

/* version: the store's, from sym_snapshot_version().  The name is valid until
 * the next sym_module_cache_add(). */
bool sym_module_cache_find(const sym_module_cache_t *cache, uint64_t version,
                           const sym_module_key_t *key, uint32_t scopes,
                           uint64_t hash, sym_cached_module_t *module);

/* Caches a module, unless its name is very long. */
void sym_module_cache_add(sym_module_cache_t *cache, uint64_t version,
                          const sym_module_key_t *key, uint32_t scopes,
                          uint64_t hash, const sym_cached_module_t *module);

#endif
