/*
 * temporary_symcache.h - one symcache outside of any store, to be read at leisure.
 *
 * For commands that ask a single module and keep nothing: what is compiled out
 * of a file (compile.h), or copied out of a store.
 * The extents go to a temporary file that has no name ($TMPDIR, or /tmp) and
 * is mapped, so memory stays flat whatever the module's size, nothing is left
 * behind however the process ends, and no snapshot of a store stays open
 * while somebody reads slowly what the command prints.
 */
#ifndef SYMLOADER_DRIVER_TEMPORARY_SYMCACHE_H
#define SYMLOADER_DRIVER_TEMPORARY_SYMCACHE_H

#include "common/module.h"

typedef struct temporary_symcache_s temporary_symcache_t;

/* An empty one.  NULL: *err says why. */
temporary_symcache_t *temporary_symcache_create(sym_error_t *err);

/* Copies a key that fits the store. */
void temporary_symcache_set_key(temporary_symcache_t *s,
                                const sym_module_key_t *key);

/* Takes an extent, in any order. */
sym_status_t temporary_symcache_put(temporary_symcache_t *s, uint32_t number,
                                    const uint8_t *data, size_t len,
                                    sym_error_t *err);

/*
 * Copies a module that is SYM_MODULE_READY and checks its checksums
 * (SYM_DAMAGED).  m is open in a snapshot, key is its.  NULL: *err says why.
 */
temporary_symcache_t *temporary_symcache_copy(const module_t *m,
                                              const sym_module_key_t *key,
                                              sym_error_t *err);

void temporary_symcache_free(temporary_symcache_t *s);

/* What names the module; lives as long as s. */
const sym_module_key_t *temporary_symcache_key(const temporary_symcache_t *s);

/* All of it, of whatever kind; once for each s. */
sym_status_t temporary_symcache_extents(temporary_symcache_t *s,
                                        sym_extent_source_t *extents,
                                        sym_error_t *err);

#endif
