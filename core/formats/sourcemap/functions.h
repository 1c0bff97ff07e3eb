/*
 * functions.h - the function at a position of a source, from metro's maps
 * (x_facebook_sources).
 */
#ifndef SYM_FORMATS_SOURCEMAP_FUNCTIONS_H
#define SYM_FORMATS_SOURCEMAP_FUNCTIONS_H

#include "formats/sourcemap/map.h"

typedef struct {
    uint32_t line, column, name;
} sym_function_start_t;

/* The functions of one source: ranges in `starts` and `names`. */
typedef struct {
    size_t first_start, n_starts;
    uint32_t first_name, n_names;
} sym_function_map_t;

typedef struct {
    sym_function_map_t *maps; /* one for each source with functions */
    size_t n_maps, maps_size;
    sym_function_start_t *starts;
    size_t n_starts, starts_size;
    sym_map_strings_t names;
} sym_functions_t;

/* list: the JSON of x_facebook_sources.  Call sym_functions_free() even after a
 * failure. */
sym_status_t sym_functions_read(sym_functions_t *f, sym_str_t list,
                                sym_error_t *err);
void sym_functions_free(sym_functions_t *f);

/* The number in f->names of the function at a position (from 0) of a source.
 * SYM_SOURCEMAP_NONE: unknown. */
uint32_t sym_functions_find(const sym_functions_t *f, uint32_t source,
                            uint32_t line, uint32_t column);

#endif
