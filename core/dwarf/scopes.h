/*
 * scopes.h - the namespaces and types of a unit, to qualify names with.
 *
 * Only where they lie: names are read when asked for.  The walk notes them in
 * languages that have any.
 */
#ifndef SYM_DWARF_SCOPES_H
#define SYM_DWARF_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries in (start, end) are in the scope. */
typedef struct {
    uint64_t start, end;
    uint32_t parent; /* SYM_DW_NO_SCOPE: none */
} sym_dw_scope_t;

typedef struct {
    sym_dw_scope_t *items; /* by start */
    size_t n, size;
    bool is_made;
} sym_dw_scopes_t;

#define SYM_DW_NO_SCOPE UINT32_MAX

/* A scope begins inside *around, which becomes it.  False: out of memory. */
bool sym_dw_scope_begin(sym_dw_scopes_t *s, uint64_t start, uint32_t *around);

/* A list of children ends, before which *around was `before`. */
static inline void
sym_dw_scope_end(sym_dw_scopes_t *s, uint64_t end, uint32_t *around,
                 uint32_t before)
{
    if (*around != before) {
        s->items[*around].end = end;
        *around = before;
    }
}

#endif
