/*
 * faults.h - a converter that was taken over, for tests.
 *
 * Compiled into build/t/symloader-faults only (-DSYM_TEST_FAULTS).  An input
 * that begins with "FAULT word" makes the converter do what the word says, from
 * inside its sandbox, as hostile input that had found a hole would.  A symbol
 * file with the line "INFO FAULT remember" fails in a converter that has read
 * another file before.
 */
#ifndef SYM_TEST_FAULTS_H
#define SYM_TEST_FAULTS_H

#include <stddef.h>

/* Comes back only if the input asks for nothing. */
void faults_run(const char *data, size_t len);

#endif
