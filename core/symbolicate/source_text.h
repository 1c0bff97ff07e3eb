/*
 * source_text.h - texts of an artifact of kind `sources`, for context.h.
 *
 * It keeps the two blocks that were read last, so that whoever asks for the lines
 * of a text in their order unpacks each block once.
 */
#ifndef SYM_SYMBOLICATE_SOURCE_TEXT_H
#define SYM_SYMBOLICATE_SOURCE_TEXT_H

#include "artifacts/sources/read/sources.h"
#include "symbolicate/context.h"

typedef struct {
    char *bytes;
    size_t len;
    uint32_t number; /* of the artifact's blocks */
    bool is_read;
} sym_source_block_t;

typedef struct {
    const sym_sources_t *sources;
    sym_sources_file_t file;
    sym_source_block_t blocks[2];
    unsigned newest;
} sym_source_text_t;

/* Allocates the blocks.  SYM_NOMEM. */
sym_status_t sym_source_text_create(sym_source_text_t *t, sym_arena_t *arena);

/* Gives the text of another file, which may be of another artifact.  It is valid
 * until the next call; both must stay in place. */
sym_context_text_t sym_source_text(sym_source_text_t *t,
                                   const sym_sources_t *sources,
                                   const sym_sources_file_t *file);

#endif
