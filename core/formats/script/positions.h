/*
 * positions.h - converts byte offsets of a text to lines and columns.
 *
 * Lines and columns count from 0; a line ends at LF, and columns are units of
 * UTF-16, as in source maps.
 */
#ifndef SYM_FORMATS_SCRIPT_POSITIONS_H
#define SYM_FORMATS_SCRIPT_POSITIONS_H

#include "base/str.h"

#define SYM_POSITIONS_STEP 256

typedef struct {
    uint32_t line, column;
} sym_position_mark_t;

typedef struct {
    sym_str_t text; /* borrowed */
    sym_position_mark_t
        *marks; /* one for each offset that is a multiple of the step */
} sym_positions_t;

/* False: out of memory. */
bool sym_positions_read(sym_positions_t *p, sym_str_t text);
void sym_positions_free(sym_positions_t *p);

/* False: the byte is beyond the end of the text. */
bool sym_positions_find(const sym_positions_t *p, uint32_t offset,
                        uint32_t *line, uint32_t *column);

#endif
