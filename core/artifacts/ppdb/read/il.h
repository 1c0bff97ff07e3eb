/*
 * il.h - looks up .NET frames, which are a method and an offset in its IL.
 *
 * A .NET frame has no address.  The module's artifact of kind `ppdb` contains
 * the file and line of the last sequence point at or before the offset.  A
 * portable PDB contains no names of methods; the client sends them.
 */
#ifndef SYM_ARTIFACTS_PPDB_READ_IL_H
#define SYM_ARTIFACTS_PPDB_READ_IL_H

#include "artifacts/ppdb/read/ppdb.h"
#include "base/arena.h"

typedef struct {
    sym_str_t folder, file; /* the path is the concatenation of both */
    uint32_t line;
    uint8_t lang; /* SYM_LANG_* */
} sym_il_frame_t;

/*
 * Opens an artifact by its extents, which sym_artifact_extents() returns for a
 * need that was found.  The arena contains a cache of them, so they must not
 * move: after sym_resolver_resume() the caller opens the artifact again.
 * SYM_DAMAGED, SYM_VERSION, SYM_NOMEM.
 */
sym_status_t sym_il_open(sym_ppdb_t *ppdb, sym_arena_t *arena,
                         const sym_extent_source_t *extents, sym_error_t *err);

/* The row of a method.  Clients send the row or the token (0x06000012,
 * ECMA-335, III.1.9). */
uint32_t sym_il_method(uint32_t row_or_token);

/* The source position of an offset in a method, which is given by row or token.
 * SYM_NOT_FOUND: the method has no line there; SYM_DAMAGED.  The strings are
 * views into the extents. */
sym_status_t sym_il_answer(const sym_ppdb_t *ppdb, uint32_t method,
                           uint32_t offset, sym_il_frame_t *frame);

#endif
