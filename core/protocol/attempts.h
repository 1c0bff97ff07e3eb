/*
 * attempts.h - the log of attempts to fetch a module.
 *
 * The worker that fetches writes the lines, and the store keeps them
 * (docs/formats/store.md, section 2).  Views point into the text being read.
 */
#ifndef SYM_PROTOCOL_ATTEMPTS_H
#define SYM_PROTOCOL_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    sym_str_t source;  /* the source's name in nginx's configuration */
    sym_str_t outcome; /* HTTP status, or a word: "timeout" */
    uint64_t bytes;    /* of the body */
    uint64_t ms;
    sym_str_t url;
    bool is_whole; /* the line has all five fields and an end */
} sym_attempt_t;

/*
 * The outcome of a file that a loader has rated (message.h) is its status and,
 * after a '+', a letter for each part that it has: d debug information, s
 * symbols, u unwind information, c sources; m: it is malformed.
 */
#define SYM_ATTEMPT_RATED '+'
#define SYM_ATTEMPT_LETTERS "mdsuc" /* in the order of the bits after RATED */

/*
 * The outcome of an attempt that was skipped because the host keeps failing:
 * "blocked/3600000/500/12", with the maximum duration of the block (ms), the
 * outcome of the failure that caused it, and that failure's duration (ms).
 */
#define SYM_ATTEMPT_BLOCKED "blocked/"

typedef struct {
    uint64_t block_ms;
    sym_str_t outcome;
    uint64_t ms;
} sym_attempt_blocked_t;

/* False: not such an outcome. */
bool sym_attempt_blocked(sym_str_t outcome, sym_attempt_blocked_t *blocked);

/* The outcome of an attempt at an address that requests must not reach. */
#define SYM_ATTEMPT_RESTRICTED "restricted"

/* Outcomes of attempts at a gcs source with a private key. */
#define SYM_ATTEMPT_BAD_KEY "bad-key"
#define SYM_ATTEMPT_NO_TOKEN "no-token"

/* The last line, if there was no room for all attempts. */
#define SYM_ATTEMPTS_CUT "...\n"

/* Writes the text with the features of a FETCH added to its last attempt.  Returns
 * the length; 0: no attempt, or no room. */
size_t sym_attempts_rate(sym_str_t text, uint32_t features, char *out,
                         size_t size);

/* The features of a rated file; 0: not rated. */
uint32_t sym_attempt_features(const sym_attempt_t *attempt);

/* True if there were more attempts than lines. */
bool sym_attempts_is_cut(sym_str_t text);

/* Takes the next line off *text, valid or not: lines of workers are kept
 * unchanged.  Missing fields are empty, unreadable numbers 0.  False: no line
 * is left. */
bool sym_attempts_line(sym_str_t *text, sym_attempt_t *attempt);

/* Same, but skips incomplete lines. */
bool sym_attempts_next(sym_str_t *text, sym_attempt_t *attempt);

#endif
