/*
 * answers.h - the answer cache: recently rendered frames, as they were written.
 *
 * Crashes repeat: most frames of a report stood in another one minutes ago.  The
 * text of a frame that is met for the second time is cached, and from then on
 * copied: nothing is looked up, unpacked or escaped for it (measured: a fourth
 * of the time of an answer over large modules; docs/design/README.md).
 *
 * A ring of bytes that never grows: the newest texts push the oldest out, so
 * memory is flat however many modules and requests there are.  A text belongs
 * to a module id, and a store gives an id to one module for ever; so a
 * sym_answer_cache_t belongs to one open store, and goes with it.
 *
 * For one thread.
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
    uint32_t form; /* which text of it: the API's tag and its own number */
} sym_answer_cache_key_t;

/* Where a text is, until enough others are cached. */
typedef struct {
    uint64_t place;
    uint32_t len;
} sym_answer_cache_ref_t;

/* A text that is longer is not cached. */
#define SYM_ANSWER_CACHE_TEXT_MAX 16384

#define SYM_ANSWER_CACHE_BYTES_MIN ((size_t) 64 * 1024)

/* With room for `bytes` of text (at least SYM_ANSWER_CACHE_BYTES_MIN), beside a table
 * of a fourth of that.  NULL when out of memory. */
sym_answer_cache_t *sym_answer_cache_create(size_t bytes);
void sym_answer_cache_free(sym_answer_cache_t *cache);

typedef enum {
    SYM_ANSWER_CACHE_MISS, /* not met recently */
    SYM_ANSWER_CACHE_SEEN, /* worth keeping */
    SYM_ANSWER_CACHE_HIT   /* *ref tells where */
} sym_answer_cache_state_t;

/* The key will be met soon: fetches what that needs into the cache. */
void sym_answer_cache_expect(const sym_answer_cache_t *cache,
                             const sym_answer_cache_key_t *key);

/* Notes that the key was met.  Goes by a hash: only sym_answer_cache_text() is sure. */
sym_answer_cache_state_t sym_answer_cache_meet(
    sym_answer_cache_t *cache, const sym_answer_cache_key_t *key,
    sym_answer_cache_ref_t *ref);

/* Keeps a text of up to SYM_ANSWER_CACHE_TEXT_MAX bytes for a key that was met. */
void sym_answer_cache_keep(sym_answer_cache_t *cache,
                           const sym_answer_cache_key_t *key, const char *text,
                           size_t len);

/* NULL: pushed out meanwhile, or of another key.  Lives until the next text is
 * cached. */
const char *sym_answer_cache_text(const sym_answer_cache_t *cache,
                                  const sym_answer_cache_key_t *key,
                                  const sym_answer_cache_ref_t *ref);

#endif
