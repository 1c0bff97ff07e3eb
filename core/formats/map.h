/*
 * map.h - recognizes a map that debug files need: of UUIDs, of hidden names, or
 * of C# lines (companion.h).  Maps do not contain the id of their module.
 */
#ifndef SYM_FORMATS_MAP_H
#define SYM_FORMATS_MAP_H

#include "base/error.h"
#include "formats/companion.h"

/* Reads a complete file as the module's converter will.  SYM_UNSUPPORTED,
 * without a text: it is no map. */
sym_status_t sym_map_check(sym_str_t file, sym_companion_kind_t *kind,
                           sym_error_t *err);

#endif
