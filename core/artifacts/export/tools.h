/*
 * tools.h - functions for commands on artifacts, one row for each kind.
 *
 * Only the loader links these parts of the rows of artifacts/list.h.  Each
 * function reads a complete artifact, which must not change meanwhile: a copy,
 * not a snapshot of a store.
 */
#ifndef SYM_ARTIFACTS_EXPORT_TOOLS_H
#define SYM_ARTIFACTS_EXPORT_TOOLS_H

#include "artifacts/kinds.h"
#include "json/out.h"

/* Inputs of a dump besides the artifact. */
typedef struct {
    const sym_module_key_t *key; /* the artifact's key */

    /* Demangles a name; the view is valid until the next call.  NULL: names are
     * written as they are stored. */
    sym_str_t (*show_name)(void *ctx, sym_str_t name, uint8_t lang);

    /* Passes a remark to the user that is not part of the dump. */
    void (*remark)(void *ctx, const char *what, sym_str_t value);
    void *ctx;
} sym_dump_t;

typedef struct {
    sym_kind_t kind;

    /* Values of --format.  The first is the default; NULL ends the list. */
    const char *const *formats;

    /* Writes the artifact in the format with that index.  If out->failed is
     * set, it ends early and returns SYM_OK.  After an error the output is
     * incomplete. */
    sym_status_t (*dump)(const sym_extent_source_t *extents,
                         const sym_dump_t *how, unsigned format, sym_out_t *out,
                         sym_error_t *err);

    /* Writes the source text of a path.  SYM_NOT_FOUND: no such path.  The
       function is NULL if the kind has no source texts. */
    sym_status_t (*dump_text)(const sym_extent_source_t *extents,
                              const sym_dump_t *how, sym_str_t path,
                              sym_out_t *out, sym_error_t *err);

    /* Writes the frames of addresses, found by the engine
     * (core/symbolicate). */
    bool has_frames;

    /* Lookups by text: a description of a query ("METHOD+OFFSET, like
     * 6000012+1a"), whether a text is a valid query, and the answer as a line.
     * An invalid query has an empty answer, too.  SYM_NOT_FOUND: the answer is
     * empty.  NULL: the kind has no such lookups. */
    const char *question;
    bool (*is_question)(sym_str_t text);
    sym_status_t (*lookup)(const sym_extent_source_t *extents, sym_str_t text,
                           bool is_json, sym_out_t *out, sym_error_t *err);
} sym_kind_tools_t;

/* The functions of a kind; NULL: this program does not know the kind. */
const sym_kind_tools_t *sym_kind_tools(sym_kind_t kind);

#endif
