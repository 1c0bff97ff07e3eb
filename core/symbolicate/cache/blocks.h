/*
 * blocks.h - the block cache: unpacked blocks of source texts.
 *
 * Events of one program show the same few source lines, and unpacking a block
 * is half of the work for such a frame.
 *
 * It is a table of fixed size, for one open store and one thread.  The memory
 * of a slot is allocated when the slot is first used.
 */
#ifndef SYM_SYMBOLICATE_CACHE_BLOCKS_H
#define SYM_SYMBOLICATE_CACHE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Size of a block, and of all blocks. */
#define SYM_BLOCK_CACHE_BLOCK 32768
#define SYM_BLOCK_CACHE_BYTES ((size_t) 128 * SYM_BLOCK_CACHE_BLOCK)

typedef struct sym_block_cache_s sym_block_cache_t;

/* Creates a cache.  NULL: out of memory. */
sym_block_cache_t *sym_block_cache_create(void);
void sym_block_cache_free(sym_block_cache_t *cache);

/* Returns block `number` of an artifact, valid until the next put. */
bool sym_block_cache_find(sym_block_cache_t *cache, uint64_t artifact,
                          uint32_t number, sym_str_t *bytes);

/* Copies at most SYM_BLOCK_CACHE_BLOCK bytes. */
void sym_block_cache_put(sym_block_cache_t *cache, uint64_t artifact,
                         uint32_t number, sym_str_t bytes);

#endif
