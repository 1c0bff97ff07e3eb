/*
 * form.h - the encoding of an attribute's value, and its meaning.
 *
 * Each form has two properties: how it is read (which decides where the value
 * ends) and its class (the meaning).  Both follow from the form and the shape
 * of the unit.
 */
#ifndef SYM_FORMATS_DWARF_FORM_H
#define SYM_FORMATS_DWARF_FORM_H

#include "formats/dwarf/bytes.h"

/* The properties of a unit that determine sizes. */
typedef struct {
    uint8_t version;
    uint8_t offset_size; /* 4 or 8 */
    uint8_t addr_size;   /* 2, 4 or 8 */
} sym_dw_shape_t;

typedef enum {
    SYM_DW_READ_0, /* no bytes: the value is 1 */
    SYM_DW_READ_1,
    SYM_DW_READ_2,
    SYM_DW_READ_3,
    SYM_DW_READ_4,
    SYM_DW_READ_8,
    SYM_DW_READ_16,
    SYM_DW_READ_CONST, /* no bytes: the value is in the abbreviation */
    SYM_DW_READ_ULEB,
    SYM_DW_READ_SLEB,
    SYM_DW_READ_STRING,
    SYM_DW_READ_BLOCK1,
    SYM_DW_READ_BLOCK2,
    SYM_DW_READ_BLOCK4,
    SYM_DW_READ_BLOCK,
    SYM_DW_READ_INDIRECT,
    SYM_DW_READ_END /* the end of a program of steps (abbrev.h) */
} sym_dw_read_t;

typedef enum {
    SYM_DW_OTHER,
    SYM_DW_CONSTANT,
    SYM_DW_ADDRESS,
    SYM_DW_ADDRESS_INDEX,
    SYM_DW_TEXT, /* a string in place: the value is its position in the
                    section */
    SYM_DW_STR,
    SYM_DW_LINE_STR,
    SYM_DW_STR_INDEX,
    SYM_DW_ALT_STR,
    SYM_DW_REF, /* an offset from the start of the unit */
    SYM_DW_REF_INFO,
    SYM_DW_REF_ALT,
    SYM_DW_SECTION_OFFSET,
    SYM_DW_RANGE_INDEX
} sym_dw_class_t;

typedef struct {
    uint8_t read;  /* sym_dw_read_t */
    uint8_t class; /* sym_dw_class_t */
} sym_dw_form_t;

typedef struct {
    uint64_t u;
    uint8_t class;
} sym_dw_value_t;

/* False: the form is unknown. */
bool sym_dw_form(uint64_t form, sym_dw_shape_t shape, sym_dw_form_t *out);

/* Number of bytes of a read of fixed size; -1: the size varies. */
int sym_dw_fixed(uint8_t read);

/* Skips a value. */
void sym_dw_pass(sym_dw_bytes_t *b, uint8_t read, sym_dw_shape_t shape);

/* Reads a value; blocks are only skipped. */
sym_dw_value_t sym_dw_value(sym_dw_bytes_t *b, sym_dw_form_t form,
                            sym_dw_shape_t shape);

#endif
