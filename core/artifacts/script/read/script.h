/*
 * script.h - finds the function at a position of a generated script, in an
 * artifact of kind `script`.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes.  For any contents, each call returns a result or
 * a status in bounded time, and reads only inside the extents.  It allocates
 * nothing.  Views live as long as the extents stay mapped.
 *
 * Lines and columns count from 0, columns in units of UTF-16.
 */
#ifndef SYM_ARTIFACTS_SCRIPT_READ_SCRIPT_H
#define SYM_ARTIFACTS_SCRIPT_READ_SCRIPT_H

#include "artifacts/extent_reader.h"
#include "artifacts/script/format.h"
#include "base/error.h"
#include "object/object_id.h"

/* Only the reader uses the members. */
typedef struct {
    sym_extent_reader_t in;
    uint32_t n_bounds, n_scopes;
    uint32_t bounds_ref, scopes_ref, reference_ref;
    bool is_unparsed;        /* functions are unknown */
    bool has_map;            /* the script contains its source map */
    sym_debug_id_t debug_id; /* debug id in the script, or none */
} sym_script_t;

/* A function.  Its parts are read in sequence. */
typedef struct {
    uint32_t n_parts;           /* 0: the function has no name */
    sym_script_position_t last; /* position of its last character */
    sym_script_position_t end;  /* position of the character after it */
    bool has_end;               /* false: the script ends with it */
    const uint8_t *pos, *limit; /* used by the reader */
} sym_script_scope_t;

/* SYM_VERSION: the version is unknown.  SYM_DAMAGED: bytes are invalid; any
 * other call may also return this. */
sym_status_t sym_script_open(sym_script_t *s, sym_extent_get_pt get, void *ctx,
                             sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries to cache extents in.
 * The extents must not move. */
void sym_script_remember(sym_script_t *s, sym_extent_view_t *table);

/* Gets the function at the position.  SYM_NOT_FOUND: no function. */
sym_status_t sym_script_find(const sym_script_t *s, uint32_t line,
                             uint32_t column, uint32_t *scope);

sym_status_t sym_script_scope(const sym_script_t *s, uint32_t number,
                              sym_script_scope_t *scope);

/* Reads the next part.  Call it n_parts times. */
sym_status_t sym_script_part(sym_script_scope_t *scope,
                             sym_script_part_t *part);

/* Gets a bound by number.  At a bound a function begins, or the surrounding
   function continues. */
sym_status_t sym_script_bound(const sym_script_t *s, uint32_t number,
                              sym_script_position_t *at, uint32_t *scope);

/* The URL of the source map from the script's comment, without query and
 * fragment.  SYM_NOT_FOUND: there is no such comment. */
sym_status_t sym_script_reference(const sym_script_t *s, sym_str_t *reference);

/* Reads the complete artifact, and checks order, bounds and counts. */
sym_status_t sym_script_check(const sym_script_t *s, sym_error_t *err);

#endif
