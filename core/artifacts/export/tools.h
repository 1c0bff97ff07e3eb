/*
 * tools.h - functions of commands on artifacts, by kind.
 *
 * The part of a kind's row (artifacts/list.h) that only the loader links.  Each
 * function reads a complete artifact that does not change meanwhile: a copy,
 * not a snapshot of a store.
 */
#ifndef SYM_ARTIFACTS_EXPORT_TOOLS_H
#define SYM_ARTIFACTS_EXPORT_TOOLS_H

#include "artifacts/kinds.h"
#include "json/out.h"

/* Other inputs of a dump than the artifact. */
typedef struct {
    const sym_module_key_t *key; /* of the artifact */

    /* Demangles; the view lives until the next call.  NULL: names are written as
     * they are stored. */
    sym_str_t (*show_name)(void *ctx, sym_str_t name, uint8_t lang);

    /* Takes a remark for the user that is not part of the dump. */
    void (*remark)(void *ctx, const char *what, sym_str_t value);
    void *ctx;
} sym_dump_t;

typedef struct {
    sym_kind_t kind;

    /* Words of --format; the first is the default, NULL ends them. */
    const char *const *formats;

    /* Writes the artifact in the format with that index.  Ends early, with
     * SYM_OK, if out->failed.  After an error the output is incomplete. */
    sym_status_t (*dump)(const sym_extent_source_t *extents,
                         const sym_dump_t *how, unsigned format, sym_out_t *out,
                         sym_error_t *err);

    /* Writes the source text at a path.  SYM_NOT_FOUND.  NULL: the kind has no
       source texts. */
    sym_status_t (*dump_text)(const sym_extent_source_t *extents,
                              const sym_dump_t *how, sym_str_t path,
                              sym_out_t *out, sym_error_t *err);

    /* Frames of addresses, found by the engine (core/symbolicate). */
    bool has_frames;

    /* Lookups by text: a description of the query ("METHOD+OFFSET, like
     * 6000012+1a"), whether a text is a valid query, and the answer on a line.
     * An invalid query gets an empty answer, too.  SYM_NOT_FOUND: the answer is
     * empty.  NULL: no lookups by text. */
    const char *question;
    bool (*is_question)(sym_str_t text);
    sym_status_t (*lookup)(const sym_extent_source_t *extents, sym_str_t text,
                           bool is_json, sym_out_t *out, sym_error_t *err);
} sym_kind_tools_t;

/* NULL: a kind that this program does not know. */
const sym_kind_tools_t *sym_kind_tools(sym_kind_t kind);

#endif
