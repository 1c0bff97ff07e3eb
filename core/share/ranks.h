/*
 * ranks.h - the artifacts that the nodes of a fleet use most: a list in the
 * bucket that they share (docs/formats/ranks.md).
 *
 * Each node adds its uses to the list from time to time.  Weights fade, so they
 * show the uses of about the last day, and no node has to be remembered.  A list
 * comes from the bucket: it is not trusted.
 *
 * Memory is bounded: at most twice SYM_RANKS_MAX artifacts are kept, and then
 * the lighter half is dropped.  Texts from the bucket choose the slots of the
 * index, by a keyed hash.
 */
#ifndef SYM_SHARE_RANKS_H
#define SYM_SHARE_RANKS_H

#include "artifacts/kinds.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "object/ref_key.h"

/* The key of the list in the bucket; it has no slash, so it is no artifact's
 * key. */
#define SYM_RANKS_KEY "ranks.1"

/* Numbers of artifacts: of any list, and of the longest list of small stores. */
#define SYM_RANKS_MAX 32768
#define SYM_RANKS_MIN 2000
#define SYM_RANK_SOURCE_MAX 64
#define SYM_RANK_REF_MAX 512
#define SYM_RANK_WEIGHT_MAX (UINT32_C(1) << 31)

/* The weight of a use. */
#define SYM_RANK_USE 256

/* A step of fading takes one 144th of a weight: a day has 144 steps. */
#define SYM_RANKS_STEP_S 600
#define SYM_RANKS_PART 144

#define SYM_RANKS_HEAD (8 + 4 + 4 + 8)
#define SYM_RANK_HEAD (4 + 1 + 1 + 2)
#define SYM_RANKS_BYTES_MAX ((size_t) 256 * SYM_RANKS_MAX)

/* An artifact.  Two with the same texts and kind are one. */
typedef struct {
    uint32_t weight; /* 1 to SYM_RANK_WEIGHT_MAX */
    uint8_t kind;    /* sym_kind_t; also one that only later programs know */
    sym_str_t source;
    sym_str_t ref; /* sym_object_ref_write() */
} sym_rank_t;

typedef struct {
    sym_rank_t **at;
    uint32_t n;
    int64_t faded_s; /* time of the last step, in seconds since 1970 */
    uint32_t *slots; /* hash table: indexes of `at`, plus 1; 0: free */
} sym_ranks_t;

/* Reads the reference of an entry.  False: no store can have such an object, or it
 * is a text at a URL; no list has such an entry. */
bool sym_rank_ref_read(sym_str_t bytes, sym_object_ref_t *ref);

/* NULL: no memory. */
sym_ranks_t *sym_ranks_create(int64_t now_s);
void sym_ranks_free(sym_ranks_t *ranks); /* NULL is allowed */

/* Adds the weight of an artifact, which is copied; false: no memory, or a text
 * is too long or empty. */
bool sym_ranks_add(sym_ranks_t *ranks, const sym_rank_t *rank);

/* Adds a list to an empty one, with its time.  SYM_DAMAGED, SYM_NOMEM: the part
 * before the damage was added. */
sym_status_t sym_ranks_read(sym_ranks_t *ranks, const void *data, size_t len,
                            sym_error_t *err);

/* Takes the steps that are due.  A time in the future counts as now. */
void sym_ranks_fade(sym_ranks_t *ranks, int64_t now_s);

/* Length of a list that fills the part of a store which a new node takes from
 * its fleet, of this number of bytes: SYM_RANKS_MIN to SYM_RANKS_MAX. */
uint32_t sym_ranks_for(uint64_t bytes);

/* Keeps the heaviest, the heaviest first: at most `max` of them, and
 * SYM_RANKS_BYTES_MAX bytes.  Nothing can be added after that. */
void sym_ranks_order(sym_ranks_t *ranks, uint32_t max);

/* Writes an ordered list; check out->failed. */
void sym_ranks_write(const sym_ranks_t *ranks, sym_buffer_t *out);

/* Checksum of all bytes after the checksum of a list with a complete head. */
uint32_t sym_ranks_crc(const void *data, size_t len);

#endif
