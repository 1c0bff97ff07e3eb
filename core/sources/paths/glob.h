/*
 * glob.h - patterns of file names, as Symbolicator's path_patterns has them.
 *
 * '*' stands for any characters, slashes too; '**' for whole folders; '?' for one
 * character; [a-z] and [!a-z] for one of a set.  Case (of ASCII) does not count,
 * and '\' in a name is '/'.
 */
#ifndef SYM_SOURCES_PATHS_GLOB_H
#define SYM_SOURCES_PATHS_GLOB_H

#include "base/str.h"

/* Longer ones match nothing. */
#define SYM_GLOB_MAX 256
#define SYM_GLOB_NAME_MAX 4096

/* Whether it is a pattern: each '[' has its ']', and '**' is a folder. */
bool sym_glob_is_pattern(sym_str_t pattern);

/* Takes steps (steps.h), a bounded number for each pattern: one that would need
 * more, or more than are left, matches nothing. */
bool sym_glob_matches(sym_str_t pattern, sym_str_t name, uint64_t *steps);

#endif
