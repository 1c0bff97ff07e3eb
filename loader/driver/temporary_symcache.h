/*
 * temporary_symcache.h - one symcache outside any store.
 *
 * For commands that use a single module and store nothing.  It is compiled from
 * a file (compile.h), or copied from a store.  The extents are written to a
 * mapped temporary file without a name ($TMPDIR, or /tmp).  So memory use is
 * constant for modules of any size, no file remains if the process dies, and no
 * snapshot of a store is open while a slow reader takes the output.
 */
#ifndef SYMLOADER_DRIVER_TEMPORARY_SYMCACHE_H
#define SYMLOADER_DRIVER_TEMPORARY_SYMCACHE_H

#include "common/module.h"

typedef struct temporary_symcache_s temporary_symcache_t;

/* Creates an empty one.  NULL: *err has the reason. */
temporary_symcache_t *temporary_symcache_create(sym_error_t *err);

/*
 * Same for a file that is not an artifact: its extents follow each other in the
 * temporary file, which is in the folder.  limit: maximum number of bytes
 * (SYM_LIMIT).
 */
temporary_symcache_t *temporary_file_create(const char *folder, uint64_t limit,
                                            sym_error_t *err);

/* Return its descriptor, which still belongs to it, and its length.  0: an
 * extent is missing. */
int temporary_file_get(const temporary_symcache_t *s, uint64_t *length);

/* Copies a key that fits the store. */
void temporary_symcache_set_key(temporary_symcache_t *s,
                                const sym_module_key_t *key);

/* Adds an extent, in any order. */
sym_status_t temporary_symcache_put(temporary_symcache_t *s, uint32_t number,
                                    const uint8_t *data, size_t len,
                                    sym_error_t *err);

/*
 * Copies a module that is SYM_MODULE_READY and checks its checksums
 * (SYM_DAMAGED).  m is open in a snapshot, with this key.  NULL: *err has the
 * reason.
 */
temporary_symcache_t *temporary_symcache_copy(const module_t *m,
                                              const sym_module_key_t *key,
                                              sym_error_t *err);

void temporary_symcache_free(temporary_symcache_t *s);

/* Returns the module's key; valid as long as s. */
const sym_module_key_t *temporary_symcache_key(const temporary_symcache_t *s);

/* Returns all extents, of any kind; call this once for each s. */
sym_status_t temporary_symcache_extents(temporary_symcache_t *s,
                                        sym_extent_source_t *extents,
                                        sym_error_t *err);

#endif
