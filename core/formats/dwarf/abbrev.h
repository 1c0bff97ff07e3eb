/*
 * abbrev.h - a table of abbreviations, compiled to small programs.
 *
 * Each abbreviation is compiled to a tag and a list of steps: skip some bytes,
 * then read or skip one value.  Adjacent unused values of fixed size become one
 * skip, so most entries of .debug_info take one step.
 *
 * A table is for units of one shape; it owns its memory.
 */
#ifndef SYM_FORMATS_DWARF_ABBREV_H
#define SYM_FORMATS_DWARF_ABBREV_H

#include "formats/dwarf/form.h"

/* Attributes that the reader uses, as indexes in sym_dw_die_t. */
typedef enum {
    SYM_DW_LOW_PC,
    SYM_DW_HIGH_PC,
    SYM_DW_RANGES,
    SYM_DW_NAME,
    SYM_DW_LINKAGE_NAME,
    SYM_DW_ORIGIN,
    SYM_DW_SPECIFICATION,
    SYM_DW_CALL_FILE,
    SYM_DW_CALL_LINE,
    SYM_DW_SIBLING,
    SYM_DW_STMT_LIST,
    SYM_DW_COMP_DIR,
    SYM_DW_LANGUAGE,
    SYM_DW_STR_OFFSETS_BASE,
    SYM_DW_ADDR_BASE,
    SYM_DW_RNGLISTS_BASE,
    SYM_DW_RANGES_BASE, /* GNU's split DWARF 4 */
    SYM_DW_DWO_NAME,
    SYM_DW_DWO_ID, /* in an attribute before DWARF 5; now in the header */
    SYM_DW_SLOTS,
    SYM_DW_NO_SLOT = SYM_DW_SLOTS
} sym_dw_slot_t;

/* Handling of an entry by the walk. */
typedef enum {
    SYM_DW_PLAIN,      /* skips it, visits its children */
    SYM_DW_CHILDLESS,  /* no descendant has code: goes on with the sibling */
    SYM_DW_SUBPROGRAM, /* reads it */
    SYM_DW_INLINED,
    SYM_DW_CODELESS, /* a subprogram that cannot have addresses */
    SYM_DW_SCOPE,    /* keeps its position, to qualify names */
    SYM_DW_UNIT
} sym_dw_kind_t;

typedef struct {
    uint32_t skip; /* bytes before the value */
    uint8_t read;  /* SYM_DW_READ_END: there is no value, the entry ends */
    uint8_t class;
    uint8_t slot;
    uint32_t constant; /* for SYM_DW_READ_CONST: index in the table's
                          constants */
} sym_dw_step_t;

typedef struct {
    uint64_t code;
    uint32_t first_step;
    uint16_t tag;
    uint8_t kind;
    bool has_children;
    uint32_t bytes; /* size of all attributes, or SYM_DW_NOT_FIXED */
} sym_dw_abbrev_t;

#define SYM_DW_NOT_FIXED UINT32_MAX

typedef struct {
    sym_dw_abbrev_t *abbrevs;
    size_t n_abbrevs, abbrevs_size;
    size_t n_dense; /* below it, abbrevs[i].code is i + 1; the rest is sorted
                       by code */
    sym_dw_step_t *steps;
    size_t n_steps, steps_size;
    uint64_t *constants;
    size_t n_constants, constants_size;
    uint64_t bytes; /* bytes that were read to make the table */
} sym_dw_abbrevs_t;

/* The values of one entry.  A value is valid if its bit in `has` is set. */
typedef struct {
    uint32_t has;
    sym_dw_value_t values[SYM_DW_SLOTS];
} sym_dw_die_t;

static inline bool
sym_dw_has(const sym_dw_die_t *die, sym_dw_slot_t slot)
{
    return (die->has >> slot & 1) != 0;
}


/* Reads the table at offset of .debug_abbrev; free it also on failure. */
sym_status_t sym_dw_abbrevs_read(sym_dw_abbrevs_t *t, sym_str_t section,
                                 uint64_t offset, sym_dw_shape_t shape,
                                 sym_error_t *err);
void sym_dw_abbrevs_free(sym_dw_abbrevs_t *t);

const sym_dw_abbrev_t *sym_dw_abbrev_rare(const sym_dw_abbrevs_t *t,
                                          uint64_t code);

/* The abbreviation with this code, or NULL. */
static inline const sym_dw_abbrev_t *
sym_dw_abbrev(const sym_dw_abbrevs_t *t, uint64_t code)
{
    return code - 1 < t->n_dense ? &t->abbrevs[code - 1]
                                 : sym_dw_abbrev_rare(t, code);
}


void sym_dw_die_pass_steps(sym_dw_bytes_t *b, const sym_dw_abbrevs_t *t,
                           const sym_dw_abbrev_t *a, sym_dw_shape_t shape);

/* Skips the rest of an entry whose code was read. */
static inline void
sym_dw_die_pass(sym_dw_bytes_t *b, const sym_dw_abbrevs_t *t,
                const sym_dw_abbrev_t *a, sym_dw_shape_t shape)
{
    if (a->bytes <= sym_dw_left(b)) {
        b->c.pos += a->bytes;
    } else {
        sym_dw_die_pass_steps(b, t, a, shape);
    }
}


/* Reads the wanted values of an entry, and moves to its end. */
void sym_dw_die_read(sym_dw_bytes_t *b, const sym_dw_abbrevs_t *t,
                     const sym_dw_abbrev_t *a, sym_dw_shape_t shape,
                     sym_dw_die_t *die);

#endif
