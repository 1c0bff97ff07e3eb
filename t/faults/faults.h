/*
 * faults.h - a compromised converter, for tests.
 *
 * Compiled into build/t/symloader-faults only (-DSYM_TEST_FAULTS).  An input
 * that begins with "FAULT word" makes the converter do what the word says,
 * inside its sandbox, as if hostile input had found a hole.  A symbol file with
 * the line "INFO FAULT remember" fails in a converter that has read another
 * file before.
 */
#ifndef SYM_TEST_FAULTS_H
#define SYM_TEST_FAULTS_H

#include <stddef.h>

/* Returns only if the input asks for nothing. */
void faults_run(const char *data, size_t len);

#endif
