/*
 * shard.h - the results of one of several threads that read a file.
 *
 * Each thread interns names and packs functions into its own shard, without
 * access to the others.  sym_writer_join() takes the shards in the order of the
 * file, so the output does not depend on the threads' speed.  Ids of strings
 * are local to their shard.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_SHARD_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_SHARD_H

#include "base/hash.h"
#include "artifacts/symcache/write/packed_function.h"

typedef struct {
    sym_str_t text;
    uint32_t hash;
} sym_shard_text_t;

struct sym_shard_s {
    sym_hash_key_t key;      /* the writer's key */
    sym_shard_text_t *texts; /* indexed by id */
    size_t n_texts, texts_size;
    uint32_t *slots; /* hash table of ids + 1; a power of two */
    size_t n_slots;
    sym_arena_t copies; /* copies of texts that would not live long enough */

    sym_arena_t drafts;
    sym_file_table_t files; /* files of the drafts */
    sym_buffer_t scratch;
    sym_packed_function_t *functions;
    size_t n_functions, functions_size;

    uint64_t n_segments, n_inlines; /* in all functions */
    bool has_lines;
};

void sym_shard_init(sym_shard_t *part);
void sym_shard_free(sym_shard_t *part);

/* Equal text (UTF-8) gives an equal id.  is_lasting: the text does not move
 * until the part is joined.  SYM_OK or SYM_NOMEM. */
sym_status_t sym_shard_string(sym_shard_t *part, sym_str_t text,
                              bool is_lasting, uint32_t *id);

/* Copies the needed data from *f.  If several functions have the same addresses
 * (the same code in several units), the first wins.  SYM_OK or SYM_NOMEM. */
sym_status_t sym_shard_function(sym_shard_t *part,
                                const sym_flat_function_t *f);

#endif
