/*
 * answers.h - the answer cache: rendered text of recent frames.
 *
 * Crashes repeat: most frames of a report appeared in another one minutes ago.
 * The second time a frame is seen, its text is cached.  Later hits copy it,
 * with no lookup, unpacking or escaping, in a quarter of the time (measured on
 * large modules; docs/design/README.md).
 *
 * The cache is a ring of fixed size: new texts evict the oldest.  Keys contain
 * module ids, which a store never reuses, so each cache belongs to one open
 * store and ends with it.
 *
 * Not thread-safe.
 */
#ifndef SYM_SYMBOLICATE_CACHE_ANSWERS_H
#define SYM_SYMBOLICATE_CACHE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sym_answer_cache_s sym_answer_cache_t;

typedef struct {
    uint64_t module_id;
    uint32_t addr;
    uint32_t form; /* form of the text: tag of the API, and a number that the
                      API chooses */
} sym_answer_cache_key_t;

/* Position of a text; valid until enough others are cached. */
typedef struct {
    uint64_t place;
    uint32_t len;
} sym_answer_cache_ref_t;

/* Longer texts are not cached. */
#define SYM_ANSWER_CACHE_TEXT_MAX 16384

#define SYM_ANSWER_CACHE_BYTES_MIN ((size_t) 64 * 1024)

/* Creates a cache with room for `bytes` of text (at least
 * SYM_ANSWER_CACHE_BYTES_MIN), plus a table of a quarter of that.  NULL: out of
 * memory. */
sym_answer_cache_t *sym_answer_cache_create(size_t bytes);
void sym_answer_cache_free(sym_answer_cache_t *cache);

typedef enum {
    SYM_ANSWER_CACHE_MISS, /* not seen recently */
    SYM_ANSWER_CACHE_SEEN, /* seen before: cache the text */
    SYM_ANSWER_CACHE_HIT   /* *ref is the position of the text */
} sym_answer_cache_state_t;

/* Prefetches for a key that will be looked up soon. */
void sym_answer_cache_expect(const sym_answer_cache_t *cache,
                             const sym_answer_cache_key_t *key);

/* Records that the key was seen.  Compares only hashes; sym_answer_cache_text()
   compares keys. */
sym_answer_cache_state_t sym_answer_cache_meet(
    sym_answer_cache_t *cache, const sym_answer_cache_key_t *key,
    sym_answer_cache_ref_t *ref);

/* Caches a text of up to SYM_ANSWER_CACHE_TEXT_MAX bytes for a key that was
   seen. */
void sym_answer_cache_keep(sym_answer_cache_t *cache,
                           const sym_answer_cache_key_t *key, const char *text,
                           size_t len);

/* Returns the text, valid until the next one is cached.  NULL: evicted, or the
 * text of another key. */
const char *sym_answer_cache_text(const sym_answer_cache_t *cache,
                                  const sym_answer_cache_key_t *key,
                                  const sym_answer_cache_ref_t *ref);

#endif
