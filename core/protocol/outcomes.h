/*
 * outcomes.h - the results of a worker for the places of a source.
 *
 * A place is a number in the plan of the source (sources/paths/plan.h), which
 * the worker and the loader calculate from the same reference and rules.  Views
 * point into the text being read.
 */
#ifndef SYM_PROTOCOL_OUTCOMES_H
#define SYM_PROTOCOL_OUTCOMES_H

#include "base/str.h"
#include "sources/paths/plan.h"
#include "store/path.h"

typedef struct {
    uint8_t place;
    sym_path_outcome_t outcome; /* READ: the file in the message; else ABSENT or
                                   FAILED */
    uint16_t status;            /* HTTP status; 0: no answer */
    uint32_t ms;
    uint64_t bytes; /* of the body */
    sym_str_t word; /* at most SYM_PATH_WORD_MAX bytes */
    sym_str_t reason, url;
} sym_place_outcome_t;

/* Words for these cases: the place has an address that requests must not reach;
 * a gcs source has a bad private key, or no token. */
#define SYM_PLACE_RESTRICTED "restricted"
#define SYM_PLACE_BAD_KEY "bad-key"
#define SYM_PLACE_NO_TOKEN "no-token"

/*
 * The word for a place that was skipped because its host keeps failing:
 * "blocked/3600000/500/12".  The parts are the maximum duration of the block
 * (ms), the outcome of the failure that caused it, and that failure's duration
 * (ms).
 */
#define SYM_PLACE_BLOCKED "blocked/"

typedef struct {
    uint64_t block_ms;
    sym_str_t outcome;
    uint64_t ms;
} sym_place_blocked_t;

/* Returns false for other words. */
bool sym_place_blocked(sym_str_t word, sym_place_blocked_t *blocked);

/* Maximum length of all outcomes of a message. */
#define SYM_OUTCOMES_MAX 3584

/* Appends an outcome to a text of *len bytes.  Places are in ascending order.
 * Leaves out texts that would take the room needed for later places. */
void sym_outcomes_add(const sym_place_outcome_t *outcome,
                      char text[SYM_OUTCOMES_MAX], size_t *len);

/* Takes the next outcome from *text.  False: none is left, or the text is
 * invalid (text->len != 0). */
bool sym_outcomes_next(sym_str_t *text, sym_place_outcome_t *outcome);

#endif
