/*
 * batch.h - many addresses of one module, answered together.
 *
 * They are looked up in the order of their addresses, for neighbours share the
 * pages of the store, functions and names, and keep their places for printing.
 * What an answer shows is copied out of the store: none of its snapshots need be
 * open when answers are printed.
 */
#ifndef SYMLOADER_CLI_BATCH_H
#define SYMLOADER_CLI_BATCH_H

#include "cli/string_cache.h"

#define BATCH_MAX 131072u

/* One level of an answer. */
typedef struct {
    text_t text;
    uint32_t line;
} batch_level_t;

typedef struct {
    uint64_t addr;
    uint32_t function_addr, function_size; /* as in sym_answer_t */
    uint32_t first_level;
    uint16_t n_levels; /* 0: nothing is known of the address */
    bool is_address;   /* else it has an answer, too: an empty one */
    bool is_damaged;
} question_t;

typedef struct batch_s batch_t;

/* NULL: out of memory, told on stderr. */
batch_t *batch_create(const string_cache_style_t *style);
void batch_free(batch_t *b);

/* One question more, of at most BATCH_MAX; what addr is does not matter if it is
 * none.  False: out of memory. */
bool batch_ask(batch_t *b, uint64_t addr, bool is_address);
bool batch_is_full(const batch_t *b);

/*
 * Answers questions of those that were asked, from the first that was not
 * answered yet: all, or as many as do not take too much memory.  m's snapshot
 * is open.  False: out of memory.
 */
bool batch_answer(batch_t *b, module_t *m);

typedef struct {
    const question_t *question;
    const batch_level_t *levels; /* innermost first */
    const char *texts;           /* for string_cache_get() */
} batch_answer_t;

/* The next of those that were answered, in the order of asking; false: it was
 * the last of them.  Lives until more are answered. */
bool batch_next(batch_t *b, batch_answer_t *a);

/* All were answered; then others can be asked. */
bool batch_is_done(const batch_t *b);
void batch_clear(batch_t *b);

#endif
