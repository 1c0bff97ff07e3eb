/*
 * sourcemap.h - makes artifacts from the text of a source map, in a file or a
 * script.
 */
#ifndef SYM_FORMATS_SOURCEMAP_SOURCEMAP_H
#define SYM_FORMATS_SOURCEMAP_SOURCEMAP_H

#include "artifacts/sources/write/writer.h"
#include "formats/format.h"
#include "formats/sourcemap/functions.h"

typedef struct {
    sym_map_t map;
    sym_functions_t functions;
    bool has_functions;
    bool is_id_derived; /* the id is a hash of the file */
    bool has_texts;     /* some source has a text */
    bool is_sorted;     /* the tokens are sorted by position */
    uint32_t n_tokens;
    sym_str_t *sources; /* names of the sources */
    uint8_t *flags;     /* flags of the sources */
} sym_sourcemap_file_t;

/* Reads and checks a complete map.  The caller must free it even after a
 * failure. */
sym_status_t sym_sourcemap_file_read(sym_sourcemap_file_t *file, sym_str_t text,
                                     sym_error_t *err);
void sym_sourcemap_file_free(sym_sourcemap_file_t *file);

/* Writes the artifact `sourcemap`: the finish() of a sym_format_output_t whose
 * writer is a sym_sourcemap_file_t. */
sym_status_t sym_sourcemap_file_finish(void *file,
                                       const sym_module_info_t *info,
                                       sym_extent_put_pt put, void *ctx,
                                       sym_writer_stats_t *stats,
                                       sym_error_t *err);

/* Adds the source texts in the map. */
sym_status_t sym_sourcemap_file_add_texts(const sym_sourcemap_file_t *file,
                                          sym_sources_writer_t *w,
                                          sym_error_t *err);

/* Name for sources whose texts are stored by number. */
void sym_sourcemap_file_number(sym_sourcemap_file_t *file, sym_str_t name);

/* Writes an id for a file that has none: a hash of its bytes in canonical form.
 * Returns its length. */
size_t sym_sourcemap_content_id(sym_str_t text, char id[SYM_ID_MAX]);

#endif
