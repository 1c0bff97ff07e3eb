/*
 * hidden.h - the names that Apple's tools hid, from their maps.
 *
 * Only a file with hidden names needs maps: first the map that contains the
 * UUID of the developer's build, then the symbol map of that build.
 */
#ifndef SYM_FORMATS_MACHO_HIDDEN_H
#define SYM_FORMATS_MACHO_HIDDEN_H

#include "formats/bitcode/symbol_map.h"
#include "formats/format.h"
#include "formats/macho/macho.h"

typedef struct {
    sym_symbol_map_t map;
    sym_companion_file_t file; /* memory of the views in `map` */
    bool is_missing;           /* the file has hidden names, but no map was
                                  found */
} sym_macho_hidden_t;

/* Returns SYM_OK even if there is no map; fails only when out of memory. */
sym_status_t sym_macho_hidden_open(sym_macho_t *m,
                                   const sym_format_services_t *services,
                                   sym_macho_hidden_t *h, sym_error_t *err);
void sym_macho_hidden_close(sym_macho_hidden_t *h);

/* Replaces a name or a part of a path; ctx: the sym_macho_hidden_t. */
sym_str_t sym_macho_hidden_resolve(const void *ctx, sym_str_t text);

/* Does the same for the symbol table, where C names begin with an
 * underscore. */
sym_str_t sym_macho_hidden_symbol(const sym_macho_hidden_t *h, sym_str_t name);

#endif
