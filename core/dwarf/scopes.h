/*
 * scopes.h - the namespaces and types of a unit, to qualify names with.
 *
 * Made only for units that have a function without a linkage name, in a
 * language with scopes.
 */
#ifndef SYM_DWARF_SCOPES_H
#define SYM_DWARF_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Entries in (start, end) are in the scope. */
typedef struct {
    uint64_t start, end;
    uint32_t parent; /* SYM_DW_NO_SCOPE: none */
    uint16_t tag;
    sym_str_t name;         /* data NULL: none */
    uint64_t specification; /* of the declaration; 0: none */
} sym_dw_scope_t;

typedef struct {
    sym_dw_scope_t *items; /* by start */
    size_t n, size;
    bool is_made;
} sym_dw_scopes_t;

#define SYM_DW_NO_SCOPE UINT32_MAX

#endif
