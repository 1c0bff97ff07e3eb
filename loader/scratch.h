/*
 * scratch.h - one symcache outside of any store, to be read at leisure.
 *
 * For commands that ask a single module and keep nothing: what is compiled out
 * of a file (compile.h), or copied out of a store.
 * The extents go to a temporary file that has no name ($TMPDIR, or /tmp) and
 * is mapped, so memory stays flat whatever the module's size, nothing is left
 * behind however the process ends, and no snapshot of a store stays open
 * while somebody reads slowly what the command prints.
 */
#ifndef SYMLOADER_SCRATCH_H
#define SYMLOADER_SCRATCH_H

#include "module.h"

typedef struct scratch_s scratch_t;

/* An empty one.  NULL: *err says why. */
scratch_t *scratch_create(sym_error_t *err);

/* Copies a key that fits the store. */
void scratch_set_key(scratch_t *s, const sym_module_key_t *key);

/* Takes an extent, in any order. */
sym_status_t scratch_put(scratch_t *s, uint32_t number, const uint8_t *data,
                         size_t len, sym_error_t *err);

/*
 * Copies a module that is SYM_MODULE_READY and checks its checksums
 * (SYM_DAMAGED).  m is open in a snapshot, key is its.  NULL: *err says why.
 */
scratch_t *scratch_copy(const module_t *m, const sym_module_key_t *key,
                        sym_error_t *err);

void scratch_free(scratch_t *s);

/* What names the module; lives as long as s. */
const sym_module_key_t *scratch_key(const scratch_t *s);

/*
 * Opens the symcache for m->cache, module_string() and module_info(); of m's
 * other fields only `levels` and `text` are of use then.  Once for each s; m
 * must not outlive it.
 */
sym_status_t scratch_open(scratch_t *s, module_t *m, sym_error_t *err);

#endif
