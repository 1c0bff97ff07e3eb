/*
 * metadata.h - reads R8's comments about a class or method: JSON on one line,
 * as defined by R8's doc/retrace.md.
 *
 * Views point into the text.  Texts with escapes are treated as invalid, as
 * Sentry does.
 */
#ifndef SYM_FORMATS_PROGUARD_METADATA_H
#define SYM_FORMATS_PROGUARD_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum {
    SYM_R8_OTHER, /* or invalid */
    SYM_R8_SOURCE_FILE,
    SYM_R8_SYNTHESIZED,
    SYM_R8_OUTLINE,
    SYM_R8_OUTLINE_CALLSITE,
    SYM_R8_REWRITE_FRAME
} sym_r8_type_t;

typedef struct {
    sym_r8_type_t type;
    sym_str_t file;                /* SOURCE_FILE: the name */
    sym_str_t positions;           /* OUTLINE_CALLSITE: members of the object */
    sym_str_t conditions, actions; /* REWRITE_FRAME: items of the lists */
} sym_r8_t;

void sym_r8_read(sym_str_t json, sym_r8_t *r8);

/* Removes and returns the next position.  False: there are no more.  The
 * positions of SYM_R8_OUTLINE_CALLSITE are all valid. */
bool sym_r8_next_position(sym_str_t *positions, uint32_t *from, uint32_t *to);

/* Gets the rule of SYM_R8_REWRITE_FRAME: the number of innermost frames to
 * remove if an exception of this class was thrown.  False: it never removes
 * any. */
bool sym_r8_rule(const sym_r8_t *r8, sym_str_t *thrown, uint32_t *removed);

#endif
