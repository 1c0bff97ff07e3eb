/*
 * text.h - files at URLs, whose type follows from the request, not from their
 * bytes; and single files of source bundles.
 */
#ifndef SYM_FORMATS_SOURCEBUNDLE_TEXT_H
#define SYM_FORMATS_SOURCEBUNDLE_TEXT_H

#include "artifacts/sources/bundle_name.h"
#include "formats/format.h"

/* Converts a single source file, like a bundle with one file, to an artifact of
 * kind `sources`.  The file is under SYM_SOURCES_TEXT_NAME. */
sym_status_t sym_source_text_convert(const sym_format_file_t *f,
                                     sym_error_t *err);

/*
 * Converts a bundle of generated scripts, source maps and sources to an
 * artifact of kind `sources`.  Each file is under its URL and under
 * "TYPE/DEBUG-ID" (bundle_name.h).
 */
sym_status_t sym_artifact_bundle_convert(const sym_format_file_t *f,
                                         sym_error_t *err);

/* A file of such a bundle.  All texts are views. */
typedef struct {
    sym_str_t release, dist; /* of the bundle; "": none */
    sym_str_t type;          /* bundle_name.h */
    sym_debug_id_t debug_id; /* form NONE: none */
    sym_str_t url;           /* "": none */
    sym_str_t text;
} sym_artifact_file_t;

/* Calls put with each file that is not empty and has a debug id or a URL.
 * SYM_LIMIT: the bundle has more than `most` files. */
sym_status_t sym_artifact_bundle_each(
    const sym_format_file_t *f, uint64_t most,
    sym_status_t (*put)(void *ctx, const sym_artifact_file_t *file,
                        sym_error_t *err),
    void *ctx, sym_error_t *err);

/*
 * Finds the source file with this path, which has no dot segments, in a source
 * bundle, and calls put with its text.  SYM_UNSUPPORTED: it has no such file.
 */
sym_status_t sym_source_bundle_find(const sym_format_file_t *f, sym_str_t path,
                                    sym_status_t (*put)(void *ctx,
                                                        sym_str_t text,
                                                        sym_error_t *err),
                                    void *ctx, sym_error_t *err);

#endif
