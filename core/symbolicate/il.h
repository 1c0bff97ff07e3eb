/*
 * il.h - answers questions of .NET: a method, and an offset in its IL.
 *
 * A frame of .NET has no address.  Its module's artifact of kind `ppdb`, which a
 * need finds (SYM_KEY_IL), has the file and line of the last statement that begins
 * at or before the offset.  Names of methods are in no portable PDB: who asks has
 * them.
 */
#ifndef SYM_SYMBOLICATE_IL_H
#define SYM_SYMBOLICATE_IL_H

#include "artifacts/ppdb/read/ppdb.h"
#include "base/arena.h"
#include "symbolicate/question.h"

typedef struct {
    sym_str_t folder, file; /* of the path, one behind the other */
    uint32_t line;
    uint8_t lang; /* SYM_LANG_* */
} sym_il_frame_t;

/*
 * Opens an artifact whose extents the caller has: sym_artifact_extents() of a need
 * that was found.  The arena is for remembering them; they must stay where they are,
 * so after sym_resolver_resume() it is opened again.  SYM_DAMAGED, SYM_VERSION,
 * SYM_NOMEM.
 */
sym_status_t sym_il_open(sym_ppdb_t *ppdb, sym_arena_t *arena,
                         const sym_extent_source_t *extents, sym_error_t *err);

/* A method by its row, or by its token (0x06000012), both are in use. */
uint32_t sym_il_method(uint32_t row_or_token);

/* SYM_NOT_FOUND: the method has no line there; SYM_DAMAGED.  Views into the
 * extents. */
sym_status_t sym_il_answer(const sym_ppdb_t *ppdb,
                           const sym_keyed_question_t *question,
                           sym_il_frame_t *frame);

#endif
