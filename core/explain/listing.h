/*
 * listing.h - modules of a store that match a query, and paths without a useful
 * file, in parts, as JSON.
 *
 * The number of records read and shown for a part is bounded, for any store;
 * the caller continues at the end of the part.  docs/use/directives.md,
 * symbolicate_admin, describes the members.
 */
#ifndef SYM_EXPLAIN_LISTING_H
#define SYM_EXPLAIN_LISTING_H

#include "json/out.h"
#include "store/object.h"

#define SYM_LISTING_READ 2000 /* maximum number of records to read for a part */
#define SYM_LISTING_ROWS 100

/* Maximum length of a part: each row has a path, an outcome and a source's
 * name, of which each byte may take six, and 500 bytes of keys and numbers. */
#define SYM_LISTING_MAX                                                        \
    ((size_t) SYM_LISTING_ROWS                                                 \
         * (6 * (SYM_PATH_SHOWN_MAX + SYM_PATH_WORD_MAX + SYM_SCOPE_MAX)       \
            + 500)                                                             \
     + 2 * SYM_STORE_MARK_MAX + 100)

typedef struct {
    sym_str_t q;     /* substring of a name, id or path, case-insensitive; "":
                        all */
    sym_str_t state; /* name of a state; "": all */
    sym_str_t after; /* from the previous part; "": the first part */
} sym_listing_question_t;

/* SYM_MALFORMED: `after` does not belong to these sources, or `state` is
 * invalid. */
sym_status_t sym_listing(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                         const sym_listing_question_t *question, uint32_t now_s,
                         sym_out_t *out, sym_error_t *err);

#endif
