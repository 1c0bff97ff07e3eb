/*
 * scopes.h - the namespaces and types of a unit, to qualify names with.
 *
 * Only where they lie: names are read when asked for.  The walk notes them in
 * languages that have any.  A type that stands in a function, as that of a
 * lambda does, remembers it; other functions cost nothing here.
 */
#ifndef SYM_FORMATS_DWARF_SCOPES_H
#define SYM_FORMATS_DWARF_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dwarf/abbrev.h"

/* Entries in (start, end) are in the scope. */
typedef struct {
    uint64_t start, end;
    uint64_t function; /* around it, inside of its parent; 0: none */
    uint32_t parent;   /* SYM_DW_NO_SCOPE: none */
} sym_dw_scope_t;

/* What stands around the entries of a level. */
typedef struct {
    uint64_t function; /* the innermost one inside of the scope; 0: none */
    uint32_t scope;    /* SYM_DW_NO_SCOPE: none */
    uint32_t call;     /* the walk's; SYM_DW_NONE: none with code */
} sym_dw_level_t;

typedef struct {
    sym_dw_scope_t *items; /* by start */
    size_t n, size;
    bool is_made;
} sym_dw_scopes_t;

#define SYM_DW_NO_SCOPE UINT32_MAX

/* A scope begins inside *around, which becomes it.  False: out of memory. */
bool sym_dw_scope_begin(sym_dw_scopes_t *s, uint64_t start,
                        sym_dw_level_t *around);

/* The children of an entry begin, *around becomes what is around them.  False:
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


/* A list of children ends, before which *around was `before`. */
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
