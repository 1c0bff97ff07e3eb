/*
 * names.h - finds the name of a function.
 *
 * References lead from a concrete or inlined function to its declaration.  The
 * first linkage name on this path wins.  If there is none, the plain name is
 * used, with the namespaces and types of its declaration.
 */
#ifndef SYM_FORMATS_DWARF_NAMES_H
#define SYM_FORMATS_DWARF_NAMES_H

#include "formats/dwarf/map.h"
#include "formats/dwarf/units.h"
#include "artifacts/symcache/write/shard.h"

typedef struct {
    sym_dw_context_t *x;
    sym_shard_t *part;
    sym_dw_map_t entries; /* current unit: entry offset -> string id */
    sym_dw_map_t texts;   /* string position -> string id */
    sym_buffer_t scratch;
    bool is_passing;  /* sections are freed before the part is joined, so
                         texts are copied */
    uint64_t missing; /* entries without a name */
    sym_str_t (*undecorate)(sym_str_t name); /* or NULL */
} sym_dw_names_t;

/* State of a search for a name. */
typedef struct {
    const sym_dw_info_t *info; /* position of the entry that was read last */
    uint64_t offset;
    uint16_t tag;  /* DW_TAG_* of that entry */
    bool is_scope; /* linkage names are ignored */
    sym_str_t linkage, plain;
} sym_dw_found_t;

void sym_dw_names_init(sym_dw_names_t *n, sym_dw_context_t *x);
void sym_dw_names_free(sym_dw_names_t *n);

/* Begins another shard. */
void sym_dw_names_begin(sym_dw_names_t *n, sym_shard_t *part);

/* Forgets names of sections that are freed, because other bytes may get the
   same addresses. */
void sym_dw_names_forget(sym_dw_names_t *n);

/* Begins another unit. */
void sym_dw_names_unit(sym_dw_names_t *n);

/*
 * The string id of the name of the entry at this offset of *info.  `u` is the
 * current unit.  SYM_NO_STRING: the entry has no name.  Fails only when out of
 * memory.
 */
sym_status_t sym_dw_name_of(sym_dw_names_t *n, sym_dw_open_t *u,
                            const sym_dw_info_t *info, uint64_t offset,
                            uint32_t *id, sym_error_t *err);

/* The string id of a view into a section, or of other text.  SYM_NO_STRING: the
 * budget is spent. */
sym_status_t sym_dw_name_text(sym_dw_names_t *n, sym_str_t text,
                              bool is_in_section, uint32_t *id,
                              sym_error_t *err);

/* Follows references from the entry in f to its declaration, or to the first
 * linkage name.  A broken reference ends the search; *err is then the
 * reason. */
void sym_dw_find(sym_dw_context_t *x, sym_dw_open_t *current, sym_dw_found_t *f,
                 sym_error_t *err);

/* The unit of the entry at this offset of *info, which may be `current`.  NULL:
 * there is no such unit, or it is broken.  Valid until the next call. */
sym_dw_open_t *sym_dw_unit_of(sym_dw_context_t *x, sym_dw_open_t *current,
                              const sym_dw_info_t *info, uint64_t offset,
                              sym_error_t *err);

/* --- scopes.c --- */

/* Whether names of the language (DW_LANG_*) are qualified. */
bool sym_dw_has_scopes(uint16_t language);

/* Writes "a::b::" for the entry that was found to *out.  SYM_OK also for broken
 * entries; fails only when out of memory. */
sym_status_t sym_dw_qualify(sym_dw_context_t *x, sym_dw_open_t *current,
                            sym_dw_found_t f, sym_buffer_t *out,
                            sym_error_t *err);

#endif
