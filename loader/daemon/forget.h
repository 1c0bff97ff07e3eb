/*
 * forget.h - removes what the daemon knows of a module or of a path.
 *
 * Searches that have used it begin again: what they were fetching is void.  The
 * caller commits negative outcomes first (negatives_commit()).
 */
#ifndef SYMLOADER_DAEMON_FORGET_H
#define SYMLOADER_DAEMON_FORGET_H

#include "daemon/serve.h"

/* Searches for the key must not store the files that they have fetched.  A key
 * without a name, or with a code id, applies to all keys with its ids. */
void forget_running(serve_t *s, const sym_module_key_t *key);

/* Same, and removes the module: see module_remove(). */
sym_status_t forget_module(serve_t *s, const sym_module_key_t *key,
                           sym_error_t *err);

/* Handles a file of a source that was written or removed: see
 * sym_store_clear_path().  SYM_NOT_FOUND: the store had no record of it. */
sym_status_t forget_path(serve_t *s, sym_str_t scope, sym_str_t path,
                         sym_error_t *err);

#endif
