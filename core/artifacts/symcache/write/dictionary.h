/*
 * dictionary.h - packs names against a dictionary of their common parts.
 *
 * Names of one module repeat each other's parts; a name is stored as copies
 * from one dictionary of at most 60 KiB and literal bytes (relative
 * Lempel-Ziv).  Unlike with a stream compressor, any single name unpacks in
 * some tens of nanoseconds, and the dictionary stays in the cache.
 *
 * The dictionary consists of the samples' windows that cover most frequent
 * strings: Liao, Petri, Moffat, Wirth, "Effective construction of relative
 * Lempel-Ziv dictionaries", WWW 2016.  Format of packed names: format.h.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_DICTIONARY_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_DICTIONARY_H

#include "base/str.h"
#include "base/buffer.h"
#include "artifacts/symcache/format.h"
#include "artifacts/symcache/write/recent.h"

/* For the largest dictionary: with 15 bits, one candidate in four fails. */
#define SYM_DICT_HASH_BITS 16

/* Positions with the same first bytes, newest first: position + 1, 0 ends. */
typedef struct {
    uint16_t head[1 << SYM_DICT_HASH_BITS]; /* 1 << hash_bits are used */
    uint16_t next[SYM_DICT_MAX];
} sym_dict_chains_t;

typedef struct {
    uint32_t len;
    unsigned hash_bits; /* follow len: most modules are small */
    uint8_t bytes[SYM_DICT_MAX + SYM_DICT_SLACK];
    sym_dict_chains_t by4, by8; /* same first four, same first eight bytes */
} sym_dict_t;

/*
 * Fills *dict from the samples (any concatenation of names).  False when out
 * of memory; few samples give a short dictionary, or none.
 */
bool sym_dict_train(sym_dict_t *dict, const uint8_t *samples, size_t len);

/* Makes the chains, after the bytes are set. */
void sym_dict_index(sym_dict_t *dict);

/* Candidates that are tried for one copy: shorter output or faster. */
#define SYM_DICT_CAREFUL 32
#define SYM_DICT_QUICK 12

/* Appends the packed form of name, which has at most SYM_PART_BYTES_MAX bytes;
 * all names in `recent` are in the same buffer. */
void sym_dict_pack(const sym_dict_t *dict, sym_recent_t *recent, sym_str_t name,
                   unsigned tries, sym_buffer_t *out);

/* The name packed at p (as written by sym_dict_pack()) is exactly `name`. */
bool sym_dict_packed_is(const sym_dict_t *dict, const uint8_t *p,
                        sym_str_t name);

#endif
