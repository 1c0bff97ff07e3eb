/*
 * glob.h - patterns of file names, as in Symbolicator's path_patterns.
 *
 * '*' matches any characters, including slashes; '**' complete folders; '?' one
 * character; [a-z] and [!a-z] one of a set.  The case of ASCII letters is
 * ignored, and '\' in a name equals '/'.
 */
#ifndef SYM_SOURCES_PATHS_GLOB_H
#define SYM_SOURCES_PATHS_GLOB_H

#include "base/str.h"

/* Longer patterns match nothing. */
#define SYM_GLOB_MAX 256
#define SYM_GLOB_NAME_MAX 4096

/* Whether the pattern is valid: each '[' is closed, and '**' is a complete
 * folder. */
bool sym_glob_is_pattern(sym_str_t pattern);

/* Takes steps (steps.h), a bounded number for each pattern.  A pattern that
 * needs more, or more than are left, does not match. */
bool sym_glob_matches(sym_str_t pattern, sym_str_t name, uint64_t *steps);

/* Same, but case counts, and '\' is an ordinary character. */
bool sym_glob_matches_case(sym_str_t pattern, sym_str_t name, uint64_t *steps);

#endif
