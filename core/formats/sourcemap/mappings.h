/*
 * mappings.h - the tokens of a source map's `mappings` (base 64 VLQ).
 */
#ifndef SYM_FORMATS_SOURCEMAP_MAPPINGS_H
#define SYM_FORMATS_SOURCEMAP_MAPPINGS_H

#include "artifacts/sourcemap/format.h"
#include "formats/sourcemap/map.h"

/* Fields of a segment beyond this number are only counted. */
#define SYM_VLQ_FIELDS_MAX 6

/*
 * Reads the fields up to `,`, `;` or the end, and moves *pos there.  Returns
 * their number, or SYM_VLQ_FIELDS_MAX + 1 for any larger number.  -1: the last
 * field is cut, or a field is longer than 64 bits.  As in Sentry's crate, a
 * byte that is not a digit counts as a digit with all bits set.
 */
int sym_vlq_read(const char **pos, const char *end,
                 int64_t fields[SYM_VLQ_FIELDS_MAX]);

typedef struct {
    const sym_map_part_t *part;
    const char *pos, *end;
    uint32_t line, column; /* start of the part */
    uint32_t source, source_line, source_column, name;
} sym_mappings_t;

void sym_mappings_begin(sym_mappings_t *m, const sym_map_part_t *part);

/*
 * Gets the next token, in the order of the text.  The start of its part is
 * added to its position.  Sources and names are numbered across the complete
 * map.  SYM_NOT_FOUND: there are no more tokens; SYM_MALFORMED, SYM_LIMIT.
 */
sym_status_t sym_mappings_next(sym_mappings_t *m, sym_sourcemap_token_t *token,
                               sym_error_t *err);

#endif
