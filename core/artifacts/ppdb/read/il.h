/*
 * il.h - answers questions about .NET frames: a method and an offset in its IL.
 *
 * A .NET frame has no address.  The artifact of kind `ppdb` of its module
 * has the file and line of the last sequence
 * point at or before the offset.  A portable PDB has no names of methods; the
 * client sends them.
 */
#ifndef SYM_ARTIFACTS_PPDB_READ_IL_H
#define SYM_ARTIFACTS_PPDB_READ_IL_H

#include "artifacts/ppdb/read/ppdb.h"
#include "base/arena.h"

typedef struct {
    sym_str_t folder, file; /* the path is their concatenation */
    uint32_t line;
    uint8_t lang; /* SYM_LANG_* */
} sym_il_frame_t;

/*
 * Opens an artifact by its extents, which sym_artifact_extents() gives for a
 * need that was found.  The arena holds a cache of them, so they must stay
 * where they are: after sym_resolver_resume() the caller opens the artifact
 * again.  SYM_DAMAGED, SYM_VERSION, SYM_NOMEM.
 */
sym_status_t sym_il_open(sym_ppdb_t *ppdb, sym_arena_t *arena,
                         const sym_extent_source_t *extents, sym_error_t *err);

/* The row of a method; clients send either the row or the token (0x06000012,
 * ECMA-335, III.1.9). */
uint32_t sym_il_method(uint32_t row_or_token);

/* The place of an offset in a method (its row, or its token).  SYM_NOT_FOUND: the
 * method has no line there; SYM_DAMAGED.  Views into the extents. */
sym_status_t sym_il_answer(const sym_ppdb_t *ppdb, uint32_t method,
                           uint32_t offset, sym_il_frame_t *frame);

#endif
