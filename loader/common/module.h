/*
 * module.h - modules of a store: finding, reading and removing them.
 *
 * A module_t and all that it returns are valid during one snapshot of the
 * store.
 */
#ifndef SYMLOADER_COMMON_MODULE_H
#define SYMLOADER_COMMON_MODULE_H

#include "object/ref_key.h"
#include "store/write_object.h"

typedef struct {
    sym_snapshot_t *snapshot;
    sym_module_key_t key; /* the module's complete key, even if it was found by
                             its id alone */
    sym_object_record_t record;
    char id[SYM_CODE_ID_MAX];
} module_t;

/*
 * Finds the record of one kind, for module_extents(); with SYM_SCOPE_ALL the
 * best of all sources.  A key without a name matches all names.  If a module
 * loaded by hand was removed, there may be only a record with the reason.
 */
sym_status_t module_open(module_t *m, sym_snapshot_t *snapshot,
                         const sym_module_key_t *key, sym_kind_t kind,
                         sym_error_t *err);
sym_extent_source_t module_extents(module_t *m);

/* Returns the origin of its file: a URL, or the name of a file loaded by
 * hand. */
static inline sym_str_t
module_source(const module_t *m)
{
    return sym_snapshot_source(m->snapshot, m->key.scope, &m->record);
}

/* Removes all modules that match a key, and records of their absence; with
 * SYM_SCOPE_ALL, those of all sources.  SYM_NOT_FOUND: there was nothing to
 * remove. */
sym_status_t module_remove(sym_store_t *store, const sym_module_key_t *key,
                           sym_error_t *err);

/* Returns the kinds of the artifacts that were removed, as bits 1 << kind. */
uint32_t module_removed_kinds(const sym_store_t *store,
                              const sym_kind_counts_t *before);

#endif
