/*
 * hidden.h - the names that Apple's tools hid, from the maps that have them.
 *
 * Only a file with hidden names asks for a map: first for the one that says
 * which UUID the developer's build had, then for the symbol map of that build.
 */
#ifndef SYM_FORMATS_MACHO_HIDDEN_H
#define SYM_FORMATS_MACHO_HIDDEN_H

#include "formats/bitcode/symbol_map.h"
#include "formats/format.h"
#include "formats/macho/macho.h"

typedef struct {
    sym_symbol_map_t map;
    sym_companion_file_t file; /* what the map is a view of */
    bool is_missing;           /* there are hidden names, and no map */
} sym_macho_hidden_t;

/* SYM_OK also if there is no map; fails only without memory. */
sym_status_t sym_macho_hidden_open(sym_macho_t *m,
                                   const sym_format_services_t *services,
                                   sym_macho_hidden_t *h, sym_error_t *err);
void sym_macho_hidden_close(sym_macho_hidden_t *h);

/* What stands for a name or a part of a path; ctx: the sym_macho_hidden_t. */
sym_str_t sym_macho_hidden_resolve(const void *ctx, sym_str_t text);

/* The same of the symbol table, where names of C begin with an underscore. */
sym_str_t sym_macho_hidden_symbol(const sym_macho_hidden_t *h, sym_str_t name);

#endif
