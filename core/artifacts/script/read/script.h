/*
 * script.h - finds the function at a position of a generated script, in an artifact
 * of kind `script`.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes: with any contents, a call gives an answer or a
 * status, in bounded time, and reads only inside the extents.  It allocates
 * nothing.  Views live as long as the extents stay mapped.
 *
 * Lines and columns count from 0, columns in units of UTF-16.
 */
#ifndef SYM_ARTIFACTS_SCRIPT_READ_SCRIPT_H
#define SYM_ARTIFACTS_SCRIPT_READ_SCRIPT_H

#include "artifacts/script/format.h"
#include "base/error.h"

/* Only the reader looks inside. */
typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    sym_extent_view_t *extents; /* n_extents of them, or NULL */
    uint32_t n_extents, n_bounds, n_scopes;
    uint32_t bounds_ref, scopes_ref, reference_ref;
    bool is_unparsed; /* its functions are not known */
    bool has_id;      /* it names its debug id */
} sym_script_t;

/* A function.  Parts are read one after the other. */
typedef struct {
    uint32_t n_parts;           /* 0: the function has no name */
    sym_script_position_t last; /* where its last character is */
    sym_script_position_t end;  /* of the character after it */
    bool has_end;               /* the script does not end with it */
    const uint8_t *pos, *limit; /* the reader's */
} sym_script_scope_t;

/* SYM_VERSION: an unknown version; SYM_DAMAGED: invalid bytes, which any of the
 * other calls may report, too. */
sym_status_t sym_script_open(sym_script_t *s, sym_extent_get_pt get, void *ctx,
                             sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries in which it caches
 * extents.  The extents must stay where they are. */
void sym_script_remember(sym_script_t *s, sym_extent_view_t *table);

/* The function that the position is in; SYM_NOT_FOUND: in none. */
sym_status_t sym_script_find(const sym_script_t *s, uint32_t line,
                             uint32_t column, uint32_t *scope);

sym_status_t sym_script_scope(const sym_script_t *s, uint32_t number,
                              sym_script_scope_t *scope);

/* The next of its n_parts parts. */
sym_status_t sym_script_part(sym_script_scope_t *scope,
                             sym_script_part_t *part);

/* Bounds by their number: where a function, or what is around it, begins. */
sym_status_t sym_script_bound(const sym_script_t *s, uint32_t number,
                              sym_script_position_t *at, uint32_t *scope);

/* What its comment says where its map is, without query and fragment.
 * SYM_NOT_FOUND: it has none. */
sym_status_t sym_script_reference(const sym_script_t *s, sym_str_t *reference);

/* Reads the whole artifact, and checks order, bounds and counts. */
sym_status_t sym_script_check(const sym_script_t *s, sym_error_t *err);

#endif
