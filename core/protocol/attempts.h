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
} sym_attempt_t;

/* Takes the next attempt off *text; lines of another form are passed over.
 * False: there is none any more. */
bool sym_attempts_next(sym_str_t *text, sym_attempt_t *attempt);

#endif
