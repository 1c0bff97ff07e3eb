/*
 * map.h - the members of a source map of version 3, indexed maps taken apart.
 *
 * Source: ECMA-426; metro's and Hermes' extensions (x_facebook_sources).  What
 * real maps break is read as Sentry's crate `sourcemap` reads it.
 */
#ifndef SYM_FORMATS_SOURCEMAP_MAP_H
#define SYM_FORMATS_SOURCEMAP_MAP_H

#include "base/arena.h"
#include "formats/sourcemap/json.h"
#include "object/module_key.h"

/* Indexed maps inside each other. */
#define SYM_MAP_DEPTH_MAX 16

/* A map without sections.  Sources and names of all parts are numbered on. */
typedef struct {
    uint32_t line, column; /* where it begins */
    size_t order;          /* the number of its section */
    sym_raw_string_t root;
    sym_str_t mappings;
    sym_map_strings_t sources, contents, names;
    sym_str_t functions; /* the list x_facebook_sources; len 0: none */
    sym_str_t ignored;   /* the list ignoreList; len 0: none */
    uint32_t first_source, first_name;
} sym_map_part_t;

typedef struct {
    sym_map_part_t *parts;
    size_t n_parts, parts_size;
    bool is_indexed;
    uint32_t n_sources, n_names;
    char id[SYM_ID_MAX]; /* canonical */
    size_t id_len;       /* 0: the map has none */
    sym_arena_t arena;   /* of decoded texts */
} sym_map_t;

/* Reads the whole text.  sym_map_free() frees what it read, also after a
 * failure. */
sym_status_t sym_map_read(sym_map_t *map, sym_str_t text, sym_error_t *err);
void sym_map_free(sym_map_t *map);

/* The name of a source, with the map's sourceRoot; in the arena if need be. */
sym_status_t sym_map_source_name(sym_map_part_t *part, uint32_t i,
                                 sym_arena_t *arena, sym_str_t *name,
                                 sym_error_t *err);

#endif
