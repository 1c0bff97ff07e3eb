/*
 * scopes.h - the namespaces and types of a unit, to qualify names with.
 *
 * Only positions are kept: names are read when they are needed.  The walk
 * records scopes in languages that have them.  For a type in a function, such
 * as a lambda's, the function is recorded, too.  Other functions cost nothing
 * here.
 */
#ifndef SYM_FORMATS_DWARF_SCOPES_H
#define SYM_FORMATS_DWARF_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dwarf/abbrev.h"

/* Entries at offsets in (start, end) are in the scope. */
typedef struct {
    uint64_t start, end;
    uint64_t function; /* the function around it, inside the parent; 0: none */
    uint32_t parent;   /* SYM_DW_NO_SCOPE: none */
} sym_dw_scope_t;

/* The scope and the function around the entries of a level. */
typedef struct {
    uint64_t function; /* the innermost function inside the scope; 0: none */
    uint32_t scope;    /* SYM_DW_NO_SCOPE: none */
    uint32_t call;     /* call in the walk; SYM_DW_NONE: no call with code */
} sym_dw_level_t;

typedef struct {
    sym_dw_scope_t *items; /* sorted by start */
    size_t n, size;
    bool is_made;
} sym_dw_scopes_t;

#define SYM_DW_NO_SCOPE UINT32_MAX

/* Begins a scope inside *around, and sets *around to the new scope.  False: out
   of memory. */
bool sym_dw_scope_begin(sym_dw_scopes_t *s, uint64_t start,
                        sym_dw_level_t *around);

/* Begins the list of an entry's children, and sets *around for them.  False:
 * out of memory. */
static inline bool
sym_dw_scope_enter(sym_dw_scopes_t *s, uint8_t kind, uint64_t start,
                   sym_dw_level_t *around)
{
    switch (kind) {
    case SYM_DW_SCOPE:
        return sym_dw_scope_begin(s, start, around);
    case SYM_DW_SUBPROGRAM:
    case SYM_DW_CODELESS:
    case SYM_DW_INLINED:
        around->function = start;
        return true;
    default:
        return true;
    }
}


/* Ends a list of children, and restores *around to `before`. */
static inline void
sym_dw_scope_end(sym_dw_scopes_t *s, uint64_t end, sym_dw_level_t *around,
                 sym_dw_level_t before)
{
    if (around->scope != before.scope) {
        s->items[around->scope].end = end;
    }
    *around = before;
}

#endif
