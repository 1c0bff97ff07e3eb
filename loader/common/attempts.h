/*
 * attempts.h - what was tried to get a module: the lines of a record's
 * `attempts`, docs/formats/store.md, section 2.
 *
 * The loader keeps what a worker told it, so a line may be anything: fields that
 * are not there are empty, numbers that are none are 0.
 */
#ifndef SYMLOADER_COMMON_ATTEMPTS_H
#define SYMLOADER_COMMON_ATTEMPTS_H

#include <stdint.h>

#include "base/str.h"

typedef struct {
    sym_str_t source, status, url;
    uint64_t bytes, ms;
} attempt_t;

/* Takes the first line off *lines, into which the views go; false: none left. */
bool attempts_next(sym_str_t *lines, attempt_t *attempt);

#endif
