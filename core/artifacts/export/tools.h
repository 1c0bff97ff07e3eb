/*
 * tools.h - what commands do with an artifact, by its kind.
 *
 * The part of a kind's row (artifacts/list.h) that only the loader links.  Each
 * function reads a whole artifact that nothing changes meanwhile: a copy, not a
 * snapshot of a store.
 */
#ifndef SYM_ARTIFACTS_EXPORT_TOOLS_H
#define SYM_ARTIFACTS_EXPORT_TOOLS_H

#include "artifacts/kinds.h"
#include "json/out.h"

/* What a dump needs beside the artifact. */
typedef struct {
    const sym_module_key_t *key; /* of the artifact */

    /* Demangles; the view lives until the next call.  NULL: names are written as
     * they are stored. */
    sym_str_t (*show_name)(void *ctx, sym_str_t name, uint8_t lang);

    /* Takes a remark for the user that is no part of the dump. */
    void (*remark)(void *ctx, const char *what, sym_str_t value);
    void *ctx;
} sym_dump_t;

typedef struct {
    sym_kind_t kind;

    /* Words of --format; the first is the default, NULL ends them. */
    const char *const *formats;

    /* Writes all of it in the format of that index.  Ends early, with SYM_OK, once
     * out->failed.  After an error the output is incomplete. */
    sym_status_t (*dump)(const sym_extent_source_t *extents,
                         const sym_dump_t *how, unsigned format, sym_out_t *out,
                         sym_error_t *err);

    /* Writes the text at a path.  SYM_NOT_FOUND.  NULL: it has no texts. */
    sym_status_t (*dump_text)(const sym_extent_source_t *extents,
                              const sym_dump_t *how, sym_str_t path,
                              sym_out_t *out, sym_error_t *err);

    /* Frames of addresses, which the engine looks up (core/symbolicate). */
    bool has_frames;

    /* Other questions are texts: what they look like ("METHOD+OFFSET, like
     * 6000012+1a"), whether a text is one, and the answer on a line.  A text that
     * is none gets an empty answer, too.  SYM_NOT_FOUND: the answer is empty.
     * NULL: there are no questions. */
    const char *question;
    bool (*is_question)(sym_str_t text);
    sym_status_t (*lookup)(const sym_extent_source_t *extents, sym_str_t text,
                           bool is_json, sym_out_t *out, sym_error_t *err);
} sym_kind_tools_t;

/* NULL: a kind that this program does not know. */
const sym_kind_tools_t *sym_kind_tools(sym_kind_t kind);

#endif
