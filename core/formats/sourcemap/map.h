/*
 * map.h - reads the members of a version 3 source map; splits indexed maps into
 * parts.
 *
 * Source: ECMA-426; metro's and Hermes' extensions (x_facebook_sources).  Real
 * maps that violate the specification are read as by Sentry's crate
 * `sourcemap`.
 */
#ifndef SYM_FORMATS_SOURCEMAP_MAP_H
#define SYM_FORMATS_SOURCEMAP_MAP_H

#include "base/arena.h"
#include "formats/sourcemap/json.h"
#include "object/module_key.h"

/* Limit on nested indexed maps. */
#define SYM_MAP_DEPTH_MAX 16

/* A map without sections.  Sources and names are numbered across all parts. */
typedef struct {
    uint32_t line, column; /* its start */
    size_t order;          /* number of its section */
    sym_raw_string_t root;
    sym_str_t mappings;
    sym_map_strings_t sources, contents, names;
    sym_str_t functions; /* JSON of the list x_facebook_sources; len 0: none */
    sym_str_t ignored;   /* JSON of the list ignoreList; len 0: none */
    uint32_t first_source, first_name;
} sym_map_part_t;

typedef struct {
    sym_map_part_t *parts;
    size_t n_parts, parts_size;
    bool is_indexed;
    uint32_t n_sources, n_names;
    char id[SYM_ID_MAX]; /* canonical */
    size_t id_len;       /* 0: no id */
    sym_arena_t arena;   /* memory of decoded texts */
} sym_map_t;

/* Reads the complete text.  Call sym_map_free() even after a failure. */
sym_status_t sym_map_read(sym_map_t *map, sym_str_t text, sym_error_t *err);
void sym_map_free(sym_map_t *map);

/* The name of a source, with the map's sourceRoot.  It may be in the arena. */
sym_status_t sym_map_source_name(sym_map_part_t *part, uint32_t i,
                                 sym_arena_t *arena, sym_str_t *name,
                                 sym_error_t *err);

#endif
