/*
 * units.h - the units of .debug_info: their list, and those that are open.
 *
 * The list of units is made once, as its bytes arrive, and then only read;
 * several walkers share it.  A context belongs to one walker.  It caches
 * recently used units and abbreviation tables, and contains the budget for
 * repeated reads.
 */
#ifndef SYM_FORMATS_DWARF_UNITS_H
#define SYM_FORMATS_DWARF_UNITS_H

#include "formats/dwarf/abbrev.h"
#include "formats/dwarf/dwarf.h"
#include "formats/dwarf/scopes.h"

typedef struct {
    uint64_t offset, end; /* offsets in .debug_info */
    uint64_t first;       /* offset of its first entry */
    uint64_t abbrev_offset;
    uint64_t dwo_id; /* 0: the header does not contain it */
    size_t number;   /* in its file */
    sym_dw_shape_t shape;
    uint8_t kind; /* DW_UT_*; 0: the header is unusable */
} sym_dw_unit_t;

/* A run of adjacent units. */
typedef struct {
    uint64_t offset, end; /* offsets in .debug_info */
    sym_dw_unit_t *units; /* by offset */
    size_t n_units, units_size;
    sym_error_t bad; /* error of the first unit whose kind is 0 */
} sym_dw_chunk_t;

typedef struct sym_dw_list_s sym_dw_list_t;

/* The .debug_info of one file: the main or the supplementary file. */
typedef struct {
    const sym_dwarf_sections_t *sections;
    bool is_swapped;
    sym_dw_list_t *list;
} sym_dw_info_t;

/* Makes room for a list of units.  supply NULL: all bytes are present.
 * SYM_NOMEM or SYM_OK. */
sym_status_t sym_dw_info_init(sym_dw_info_t *info,
                              const sym_dwarf_sections_t *sections,
                              const sym_dwarf_supply_t *supply,
                              bool is_big_endian);
void sym_dw_info_free(sym_dw_info_t *info);

/* Upper bound for the number of chunks.  Their bounds depend only on the
 * file. */
size_t sym_dw_info_chunks_max(const sym_dw_info_t *info);

/*
 * Chunk number i, which never changes.  Lists units up to that chunk, and waits
 * for their bytes.  NULL: there is no such chunk, or no memory (*err).  Any
 * thread may call this.
 */
const sym_dw_chunk_t *sym_dw_info_chunk(const sym_dw_info_t *info, size_t i,
                                        sym_error_t *err);

/* The unit that contains the entry at offset, or NULL.  Waits for its bytes. */
const sym_dw_unit_t *sym_dw_info_find(const sym_dw_info_t *info,
                                      uint64_t offset);

typedef struct sym_dw_table_s sym_dw_table_t;

/* A unit whose first entry was read. */
typedef struct {
    const sym_dw_info_t *info;
    const sym_dw_unit_t *unit;
    sym_dw_table_t *table;
    const sym_dw_abbrevs_t *abbrevs; /* the table's */

    uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
    uint64_t low_pc; /* base of range lists; 0: none */
    uint64_t stmt_list;
    uint64_t dwo_id;
    sym_str_t comp_dir;
    uint16_t language; /* DW_LANG_* */
    bool has_lines;
    bool is_partial;  /* dwz makes such units, for import by others */
    bool is_skeleton; /* the entries are in another file */

    sym_dw_die_t root;      /* first entry */
    sym_dw_scopes_t scopes; /* made at its first use */
} sym_dw_open_t;

#define SYM_DW_OPEN_UNITS 64
#define SYM_DW_TABLES 64

typedef struct {
    const sym_dwarf_input_t *in;
    const sym_dw_info_t *main, *alt; /* alt: NULL if absent */
    sym_dw_open_t *open[SYM_DW_OPEN_UNITS];
    sym_dw_table_t *tables[SYM_DW_TABLES];
    double price;    /* budget per byte of the units to be read */
    uint64_t budget; /* bytes that may still be read; stays 0 once it is 0 */
} sym_dw_context_t;

void sym_dw_context_init(sym_dw_context_t *x, const sym_dwarf_input_t *in,
                         const sym_dw_info_t *main, const sym_dw_info_t *alt);

/* Begins units of this many bytes in total, with the budget of a file. */
void sym_dw_context_begin(sym_dw_context_t *x, uint64_t bytes);
void sym_dw_context_free(sym_dw_context_t *x);

/* Drops everything cached for a file's units, because its bytes are freed. */
void sym_dw_context_forget(sym_dw_context_t *x, const sym_dw_info_t *info);

/* Takes n bytes from the budget.  SYM_LIMIT: it is spent; all later calls fail,
 * too.  Callers that learn a size only by reading first ask for 0 bytes. */
sym_status_t sym_dw_spend(sym_dw_context_t *x, uint64_t n, sym_error_t *err);

/* Opens a unit; close it with _close(). */
sym_status_t sym_dw_open(sym_dw_context_t *x, sym_dw_open_t *u,
                         const sym_dw_info_t *info, const sym_dw_unit_t *unit,
                         sym_error_t *err);
void sym_dw_close(sym_dw_open_t *u);

/* A unit opened for a reference from another unit; valid until the next call.
 * NULL on failure. */
sym_dw_open_t *sym_dw_visit(sym_dw_context_t *x, const sym_dw_info_t *info,
                            const sym_dw_unit_t *unit, sym_error_t *err);

/* The unit's bytes from this offset of .debug_info on. */
sym_dw_bytes_t sym_dw_unit_at(const sym_dw_open_t *u, uint64_t offset,
                              sym_error_t *err);

/* A string; data NULL: the entry has none. */
sym_str_t sym_dw_text(const sym_dw_context_t *x, const sym_dw_open_t *u,
                      sym_dw_value_t v);

/* An address.  False: the entry has none. */
bool sym_dw_address(const sym_dw_open_t *u, sym_dw_value_t v, uint64_t *addr);

/* The target of a reference, as an offset in *info.  False: the reference is
 * invalid. */
bool sym_dw_target(const sym_dw_context_t *x, const sym_dw_open_t *u,
                   sym_dw_value_t v, const sym_dw_info_t **info,
                   uint64_t *offset);

#endif
