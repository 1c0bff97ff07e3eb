/*
 * strings.h - the writer's names.
 *
 * Each is stored once, and packed as early as possible.  The first megabytes
 * are kept unpacked and become the samples of the dictionary.  Later names are
 * packed when they arrive, so that memory is proportional to the packed size.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_STRINGS_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_STRINGS_H

#include "base/hash.h"
#include "artifacts/symcache/write/dictionary.h"
#include "artifacts/symcache/write/extents.h"
#include "artifacts/symcache/write/swift.h"

typedef struct {
    uint32_t hash;
    uint32_t id;
} sym_string_slot_t;

/* A string of more than SYM_PART_BYTES_MAX bytes. */
typedef struct {
    uint32_t len;
    bool is_plain;
    uint32_t n_parts;
    uint32_t parts[SYM_PARTS_MAX]; /* ids */
} sym_long_string_t;

typedef struct {
    sym_error_t *err;
    sym_hash_key_t key;
    sym_buffer_t raw;     /* samples, until there is a dictionary */
    sym_buffer_t packed;  /* afterwards all names */
    sym_dict_t *dict;     /* NULL: there is no dictionary yet */
    sym_recent_t *recent; /* names in `packed`; NULL like dict */

    uint64_t *places; /* indexed by id: offset in raw or packed; UNDEFINED,
                         ALIAS, LONG */
    size_t n, size;
    sym_long_string_t *longs;
    size_t n_longs, longs_size;
    uint64_t long_bytes;      /* bytes of long strings so far, including
                                 repeated ones */
    sym_string_slot_t *slots; /* hash table of ids + 1; n_slots is a power of
                                 two */
    size_t n_slots, used_slots;

    sym_swift_names_t swift;

    uint64_t bytes; /* unpacked bytes of distinct names */
    uint64_t distinct;
    uint64_t truncated; /* number of names that were cut */
} sym_strings_t;

void sym_strings_init(sym_strings_t *s, sym_error_t *err);
void sym_strings_free(sym_strings_t *s);

/* Equal text gives an equal id. */
sym_status_t sym_strings_add(sym_strings_t *s, sym_str_t text, uint32_t *id);

/* Whether the text, of at most one part, exists; if so, *id is its id. */
bool sym_strings_find(const sym_strings_t *s, sym_str_t text, uint32_t *id);

/* Like sym_strings_add(), for a fact about the module, which is cut to one
 * part. */
sym_status_t sym_strings_add_fact(sym_strings_t *s, sym_str_t text,
                                  uint32_t *id);

/* Like sym_strings_add(), if the low bits of the hash (by s->key) are known. */
sym_status_t sym_strings_add_hashed(sym_strings_t *s, sym_str_t text,
                                    uint32_t hash, uint32_t *id);

/* Prefetches the slot of a text that will be added soon.  hash: the text's. */
static inline void
sym_strings_expect(const sym_strings_t *s, uint32_t hash)
{
    if (s->n_slots != 0) {
        __builtin_prefetch(&s->slots[hash & (s->n_slots - 1)]);
    }
}


/* An id whose text follows later.  An undefined id stays "". */
sym_status_t sym_strings_reserve(sym_strings_t *s, uint32_t *id);
sym_status_t sym_strings_define(sym_strings_t *s, uint32_t id, sym_str_t text);

/*
 * Writes dictionary and names, and frees their memory. refs[id] is the position
 * of each name (0: ""); the caller frees refs.
 */
sym_status_t sym_strings_write(sym_strings_t *s, sym_extents_t *x,
                               sym_header_t *header, uint32_t **refs);

#endif
