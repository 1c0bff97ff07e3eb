/*
 * attempts.h - what was tried to get a module, line by line.
 *
 * The worker that fetches writes the lines, the store keeps them
 * (docs/formats/store.md, section 2).  Views lie in the text that is read.
 */
#ifndef SYM_PROTOCOL_ATTEMPTS_H
#define SYM_PROTOCOL_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    sym_str_t source;  /* its name in nginx's configuration */
    sym_str_t outcome; /* HTTP status, or a word: "timeout" */
    uint64_t bytes;    /* of the body */
    uint64_t ms;
    sym_str_t url;
    bool is_whole; /* the line has all five, and an end */
} sym_attempt_t;

/*
 * The outcome of a file that a loader has rated (message.h) is its status and,
 * behind a '+', a letter for each thing that it has: d debug information, s
 * symbols, u information for unwinding, c sources; m: it is malformed.
 */
#define SYM_ATTEMPT_RATED '+'
#define SYM_ATTEMPT_LETTERS "mdsuc" /* in the order of the bits behind RATED */

/*
 * The outcome of an attempt that was left out because the host keeps failing:
 * for how many milliseconds at most, the outcome of the failure that blocked
 * it, and how many that took, "blocked/3600000/500/12".
 */
#define SYM_ATTEMPT_BLOCKED "blocked/"

typedef struct {
    uint64_t block_ms;
    sym_str_t outcome;
    uint64_t ms;
} sym_attempt_blocked_t;

/* False: it is no such outcome. */
bool sym_attempt_blocked(sym_str_t outcome, sym_attempt_blocked_t *blocked);

/* The outcome of an attempt that would have led to an address that requests must
 * not lead to. */
#define SYM_ATTEMPT_RESTRICTED "restricted"

/* Outcomes of attempts at a gcs source with a private key. */
#define SYM_ATTEMPT_BAD_KEY "bad-key"
#define SYM_ATTEMPT_NO_TOKEN "no-token"

/* The last line, if there was no room for more. */
#define SYM_ATTEMPTS_CUT "...\n"

/* Writes the text with the features of a FETCH added to its last attempt.  Returns
 * the length; 0: no attempt, or no room. */
size_t sym_attempts_rate(sym_str_t text, uint32_t features, char *out,
                         size_t size);

/* The features of a file that was rated; 0: it was not. */
uint32_t sym_attempt_features(const sym_attempt_t *attempt);

/* True: more was tried than the lines tell. */
bool sym_attempts_is_cut(sym_str_t text);

/* Takes the next line off *text, whatever it is: what a worker told is kept as it
 * came.  Fields that are missing are empty, numbers that cannot be read 0.
 * False: no line is left. */
bool sym_attempts_line(sym_str_t *text, sym_attempt_t *attempt);

/* The same, but skips lines that are not whole. */
bool sym_attempts_next(sym_str_t *text, sym_attempt_t *attempt);

#endif
