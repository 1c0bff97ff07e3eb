/*
 * module.h - modules of a store: finding, reading and removing them.
 *
 * A module_t and all that it returns are valid during one snapshot of the
 * store.
 */
#ifndef SYMLOADER_COMMON_MODULE_H
#define SYMLOADER_COMMON_MODULE_H

#include "store/write.h"

typedef struct {
    sym_snapshot_t *snapshot;
    sym_module_key_t key; /* the module's own key: it may have been found by its
                             id alone */
    sym_module_record_t record;
    char name[SYM_NAME_MAX]; /* of a .sym file found by its id only */
} module_t;

/* The record of a module; with SYM_SCOPE_ALL the best of all sources.  The
 * scope of *found lives as long as the snapshot. */
sym_status_t module_find(sym_snapshot_t *snapshot, const sym_module_key_t *key,
                         sym_kind_t kind, sym_module_key_t *found,
                         sym_module_record_t *record, sym_error_t *err);

/* The record of one kind, for module_extents(); see module_find().  A key
 * without a name also finds a .sym file by its debug id, by a walk over all
 * modules: for commands. */
sym_status_t module_open(module_t *m, sym_snapshot_t *snapshot,
                         const sym_module_key_t *key, sym_kind_t kind,
                         sym_error_t *err);
sym_extent_source_t module_extents(module_t *m);

/* Removes the records under a key, and the module that matches it.  A key
 * without a name: all modules found by its id; with SYM_SCOPE_ALL: of all
 * sources.  SYM_NOT_FOUND: nothing to remove. */
sym_status_t module_remove(sym_store_t *store, const sym_module_key_t *key,
                           sym_error_t *err);

/* The kinds of the artifacts removed since: a bit, 1 << kind, for each. */
uint32_t module_removed_kinds(const sym_store_t *store,
                              const sym_kind_counts_t *before);

#endif
