/*
 * dictionary.h - packs names against a dictionary of their common parts.
 *
 * Names of one module share many parts.  A name is stored as copies from one
 * dictionary of at most 60 KiB, and literal bytes (relative Lempel-Ziv).
 * Unlike with a stream compressor, any single name unpacks in some tens of
 * nanoseconds, and the dictionary stays in the cache.  The dictionary consists
 * of those windows of the samples that cover most frequent strings: Liao,
 * Petri, Moffat, Wirth, "Effective construction of relative Lempel-Ziv
 * dictionaries", WWW 2016.  Format of packed names: format.h.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_DICTIONARY_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_DICTIONARY_H

#include "base/str.h"
#include "base/buffer.h"
#include "artifacts/symcache/format.h"
#include "artifacts/symcache/write/recent.h"

/* Hash bits for the largest dictionary; with 15, one candidate in four
 * fails. */
#define SYM_DICT_HASH_BITS 16

/* Positions with the same first bytes, newest first.  Values are position + 1;
 * 0 ends a chain. */
typedef struct {
    uint16_t head[1 << SYM_DICT_HASH_BITS]; /* 1 << hash_bits entries are
                                               used */
    uint16_t next[SYM_DICT_MAX];
} sym_dict_chains_t;

typedef struct {
    uint32_t len;
    unsigned hash_bits; /* depends on len, because most modules are small */
    uint8_t bytes[SYM_DICT_MAX + SYM_DICT_SLACK];
    sym_dict_chains_t by4, by8; /* positions that share four, and that share
                                   eight bytes */
} sym_dict_t;

/*
 * Fills *dict from the samples (any concatenation of names).  False: out of
 * memory.  Few samples give a short dictionary, or none.
 */
bool sym_dict_train(sym_dict_t *dict, const uint8_t *samples, size_t len);

/* Makes the chains.  The bytes must be set before. */
void sym_dict_index(sym_dict_t *dict);

/* Limit on the candidates that are tried for one copy: many for short output,
 * few for speed. */
#define SYM_DICT_CAREFUL 32
#define SYM_DICT_QUICK 12

/* Appends the packed form of name, which has at most SYM_PART_BYTES_MAX bytes.
 * All names in `recent` must be in the same buffer. */
void sym_dict_pack(const sym_dict_t *dict, sym_recent_t *recent, sym_str_t name,
                   unsigned tries, sym_buffer_t *out);

/* Whether the packed name at p (of sym_dict_pack()) is exactly `name`. */
bool sym_dict_packed_is(const sym_dict_t *dict, const uint8_t *p,
                        sym_str_t name);

#endif
