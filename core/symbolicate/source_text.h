/*
 * source_text.h - texts of an artifact of kind `sources`, for context.h.
 *
 * It keeps the last blocks, up to 2 MiB, because frames of a stack are in few
 * files and close together.
 */
#ifndef SYM_SYMBOLICATE_SOURCE_TEXT_H
#define SYM_SYMBOLICATE_SOURCE_TEXT_H

#include "artifacts/sources/read/sources.h"
#include "base/arena.h"
#include "symbolicate/context.h"

#define SYM_SOURCE_BLOCKS 64

typedef struct {
    const sym_sources_t *sources; /* NULL: the slot is free */
    uint32_t number;              /* number of the block in the artifact */
    uint64_t used;                /* time of its last use */
    char *bytes;
    size_t len;
} sym_source_block_t;

typedef struct {
    sym_arena_t *arena;
    const sym_sources_t *sources;
    sym_sources_file_t file;
    sym_source_block_t blocks[SYM_SOURCE_BLOCKS];
    sym_source_block_t *last; /* the block used last, or NULL */
    uint64_t uses;
    uint64_t unpacked; /* number of blocks read so far, as a measure of work */
} sym_source_text_t;

/* Gets the text of a file, valid until the next call.  Initialize `t` with its
 * arena and zeros; `t` and the artifacts must stay in place. */
sym_context_text_t sym_source_text(sym_source_text_t *t,
                                   const sym_sources_t *sources,
                                   const sym_sources_file_t *file);

#endif
