/*
 * bundle_name.h - the names of files of a bundle of JavaScript, in an artifact
 * of kind `sources` (docs/formats/sources.md).
 *
 * Each file has its URL ("~/app.min.js") and, if it has a debug id, the name
 * "TYPE/DEBUG-ID".  The text of "=NAME" is the URL of the map of the script
 * NAME.
 */
#ifndef SYM_ARTIFACTS_SOURCES_BUNDLE_NAME_H
#define SYM_ARTIFACTS_SOURCES_BUNDLE_NAME_H

#include "object/object_id.h"

#define SYM_BUNDLE_TYPE_MAX 64
#define SYM_BUNDLE_NAME_MAX (SYM_BUNDLE_TYPE_MAX + 1 + SYM_ID_TEXT_MAX)

#define SYM_BUNDLE_REFERENCE '='

/* Types of files in manifests. */
#define SYM_BUNDLE_SCRIPT "minified_source"
#define SYM_BUNDLE_SOURCEMAP "source_map"
#define SYM_BUNDLE_SOURCE "source"

/* "TYPE/DEBUG-ID"; "": the type is too long. */
static inline sym_str_t
sym_bundle_name(sym_str_t type, const sym_debug_id_t *id,
                char out[SYM_BUNDLE_NAME_MAX])
{
    char *p = out;
    char text[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_sentry(id, text);

    if (type.len > SYM_BUNDLE_TYPE_MAX || len == 0) {
        return sym_str(out, 0);
    }

    (void) sym_str_append(&p, type);
    *p++ = '/';
    (void) sym_str_append(&p, sym_str(text, len));
    return sym_str(out, (size_t) (p - out));
}

#endif
