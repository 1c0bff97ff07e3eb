/*
 * names.h - the name of a function, found along the references that lead from
 * a concrete or inlined one to its declaration.
 *
 * The first linkage name on the path wins; without any, the plain name, with
 * the namespaces and types of its declaration.
 */
#ifndef SYM_FORMATS_DWARF_NAMES_H
#define SYM_FORMATS_DWARF_NAMES_H

#include "formats/dwarf/map.h"
#include "formats/dwarf/units.h"
#include "artifacts/symcache/write/shard.h"

typedef struct {
    sym_dw_context_t *x;
    sym_shard_t *part;
    sym_dw_map_t entries; /* of the current unit: offset to string id */
    sym_dw_map_t texts;   /* position of a text to string id */
    sym_buffer_t scratch;
    bool is_passing;  /* sections are freed before the part is joined: texts are
                       copied */
    uint64_t missing; /* entries without a name */
    sym_str_t (*undecorate)(sym_str_t name); /* or NULL */
} sym_dw_names_t;

/* State of a search for a name. */
typedef struct {
    const sym_dw_info_t *info; /* position of the entry that was read last */
    uint64_t offset;
    uint16_t tag;  /* its DW_TAG_* */
    bool is_scope; /* linkage names are not used */
    sym_str_t linkage, plain;
} sym_dw_found_t;

void sym_dw_names_init(sym_dw_names_t *n, sym_dw_context_t *x);
void sym_dw_names_free(sym_dw_names_t *n);

/* Begins another part. */
void sym_dw_names_begin(sym_dw_names_t *n, sym_shard_t *part);

/* Forgets names of sections that are freed: other bytes may get the same
   addresses. */
void sym_dw_names_forget(sym_dw_names_t *n);

/* Begins another unit. */
void sym_dw_names_unit(sym_dw_names_t *n);

/*
 * The string id of the name of the entry at offset of *info; `u` is the current
 * unit.  SYM_NO_STRING if it has none.  Fails without memory.
 */
sym_status_t sym_dw_name_of(sym_dw_names_t *n, sym_dw_open_t *u,
                            const sym_dw_info_t *info, uint64_t offset,
                            uint32_t *id, sym_error_t *err);

/* The string id of a view into a section, or of other text; SYM_NO_STRING after
 * the budget is used up. */
sym_status_t sym_dw_name_text(sym_dw_names_t *n, sym_str_t text,
                              bool is_in_section, uint32_t *id,
                              sym_error_t *err);

/* Follows references from the entry in f to its declaration, or to the first
 * linkage name.  A broken reference ends the search; *err says why. */
void sym_dw_find(sym_dw_context_t *x, sym_dw_open_t *current, sym_dw_found_t *f,
                 sym_error_t *err);

/* The unit of the entry at offset of *info, which may be `current`; NULL: no
 * such unit, or a broken one.  Valid until the next call. */
sym_dw_open_t *sym_dw_unit_of(sym_dw_context_t *x, sym_dw_open_t *current,
                              const sym_dw_info_t *info, uint64_t offset,
                              sym_error_t *err);

/* --- scopes.c --- */

/* Whether names of the language (DW_LANG_*) are qualified. */
bool sym_dw_has_scopes(uint16_t language);

/* Writes "a::b::" for the entry that was found to *out.  SYM_OK also for broken
 * entries; fails only without memory. */
sym_status_t sym_dw_qualify(sym_dw_context_t *x, sym_dw_open_t *current,
                            sym_dw_found_t f, sym_buffer_t *out,
                            sym_error_t *err);

#endif
