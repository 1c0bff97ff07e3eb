/*
 * counts.h - the results for the files of an upload: the text of the loader's
 * DONE.
 */
#ifndef SYM_UPLOADS_COUNTS_H
#define SYM_UPLOADS_COUNTS_H

#include "base/str.h"

typedef struct {
    uint64_t report;  /* bytes of the report after the upload */
    uint64_t stored;  /* number of files that are now in the folder, */
    uint64_t same;    /* that already existed with the same bytes, */
    uint64_t kept;    /* that were omitted because a better one exists, */
    uint64_t refused; /* that are unreadable or have no path, */
    uint64_t failed;  /* that could not be stored this time */
    uint64_t part;    /* bytes of an incomplete file; all others are zero */
} sym_upload_counts_t;

#define SYM_UPLOAD_COUNTS_TEXT 160

/* Returns the length of the text. */
size_t sym_upload_counts_write(const sym_upload_counts_t *counts,
                               char out[SYM_UPLOAD_COUNTS_TEXT]);
bool sym_upload_counts_read(sym_str_t text, sym_upload_counts_t *counts);

#endif
