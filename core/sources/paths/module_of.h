/*
 * module_of.h - the module that a file at a source belongs to, by its path.
 *
 * Readers of event notifications need it.  Nothing is allocated: results are views
 * of the caller's text.
 */
#ifndef SYM_SOURCES_PATHS_MODULE_OF_H
#define SYM_SOURCES_PATHS_MODULE_OF_H

#include "object/object_id.h"

/* The module of an object at a source.  Both ids: its key does not show which
 * of them it has. */
typedef struct {
    sym_str_t name; /* a view of the key; empty: only the ids are known */
    char id[SYM_ID_MAX];
    size_t id_len; /* of the canonical debug id; 0: none */
    sym_code_id_t code_id;
} sym_source_found_t;

/* Reads the decoded key of an object in any layout, perhaps below folders.
 * False: not a symbol file; *found is empty. */
bool sym_source_module_of(sym_str_t key, sym_source_found_t *found);

#endif
