/*
 * modules.h - the module cache: modules that were found, or found missing, in the
 * present version of the store.
 *
 * To find a module costs a search in the store's directory and reading its
 * record and header (measured: 0.5 us, an eighth of all that a request of two
 * frames costs beyond its HTTP).  Requests name the same modules; so what was
 * found in one version of the store is remembered until there is another.
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
    uint32_t since;      /* seconds since 1970 when it was remembered */
    uint32_t expires_at; /* seconds since 1970 until when that is so; 0: while
                            the store stays as it is */
    uint64_t module_id;
    uint64_t tag;   /* sym_object_ref_hash() of the object that was asked for, to
                       which its absence belongs; 0: of none */
    uint32_t slot;  /* in the use clock */
    sym_str_t name; /* that its file gives, or "" */
} sym_cached_module_t;

/* NULL when out of memory. */
sym_module_cache_t *sym_module_cache_create(void);
void sym_module_cache_free(sym_module_cache_t *cache);

/* What all below go by; worth storing beside the key.  What is found depends
 * on who asks, so a module is remembered for a list of sources, by the list's
 * number; the scope of a key does not count. */
uint64_t sym_module_cache_hash(const sym_module_cache_t *cache,
                               const sym_module_key_t *key, uint32_t scopes);

/* The module will be looked for soon: fetches into the cache where it would lie,
 * then, when that has come, what lies there. */
void sym_module_cache_expect(const sym_module_cache_t *cache, uint64_t hash);
void sym_module_cache_fetch(const sym_module_cache_t *cache, uint64_t hash);

/* version: of the store, as sym_snapshot_version() tells it.  The name lives
 * until the next sym_module_cache_add(). */
bool sym_module_cache_find(const sym_module_cache_t *cache, uint64_t version,
                           const sym_module_key_t *key, uint32_t scopes,
                           uint64_t hash, sym_cached_module_t *module);

/* Remembers a module; one with a very long name it does not. */
void sym_module_cache_add(sym_module_cache_t *cache, uint64_t version,
                          const sym_module_key_t *key, uint32_t scopes,
                          uint64_t hash, const sym_cached_module_t *module);

#endif
