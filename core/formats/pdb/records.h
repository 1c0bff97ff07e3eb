/*
 * records.h - the records of the TPI and IPI streams, by index.
 */
#ifndef SYM_FORMATS_PDB_RECORDS_H
#define SYM_FORMATS_PDB_RECORDS_H

#include "base/cursor.h"
#include "formats/pdb/le.h"
#include "formats/pdb/types.h"

/* Lower indexes denote simple types, which have no record (LLVM: TpiStream.rst,
 * "Type Indices"; simple.h). */
#define SYM_PDB_FIRST_RECORD 0x1000u

/* Leaf kinds (cvinfo.h, LEAF_ENUM_e).  The name in an _ST record begins with
 * its length.  Other names end with a NUL. */
typedef enum {
    SYM_LF_MODIFIER = 0x1001,
    SYM_LF_POINTER = 0x1002,
    SYM_LF_ARRAY_ST = 0x1003,
    SYM_LF_CLASS_ST = 0x1004,
    SYM_LF_STRUCTURE_ST = 0x1005,
    SYM_LF_UNION_ST = 0x1006,
    SYM_LF_ENUM_ST = 0x1007,
    SYM_LF_PROCEDURE = 0x1008,
    SYM_LF_MFUNCTION = 0x1009,
    SYM_LF_ARGLIST = 0x1201,
    SYM_LF_ST_MAX = 0x1500,
    SYM_LF_ARRAY = 0x1503,
    SYM_LF_CLASS = 0x1504,
    SYM_LF_STRUCTURE = 0x1505,
    SYM_LF_UNION = 0x1506,
    SYM_LF_ENUM = 0x1507,
    SYM_LF_STRIDED_ARRAY = 0x1516,
    SYM_LF_INTERFACE = 0x1519,
    SYM_LF_FUNC_ID = 0x1601,
    SYM_LF_MFUNC_ID = 0x1602,
    SYM_LF_STRING_ID = 0x1605,
    SYM_LF_CLASS2 = 0x1608, /* since Visual C++ 2019 */
    SYM_LF_STRUCTURE2 = 0x1609,
    SYM_LF_UNION2 = 0x160a,
    SYM_LF_INTERFACE2 = 0x160b
} sym_pdb_leaf_t;

/* A record, read through `fields`.  Do not copy it, because `fields` points to
 * `err`. */
typedef struct {
    uint32_t index;
    uint16_t kind; /* 0: a type that has no record */
    sym_cursor_t fields;
    sym_error_t err;
} sym_pdb_record_t;

/* Checks the stream's header and finds the start of each record.  hashes: its
 * hash stream, or "". */
sym_status_t sym_pdb_records_open(sym_pdb_records_t *records, sym_str_t stream,
                                  sym_str_t hashes, const char *section,
                                  sym_error_t *err);

/* The kind of a record by its number, from 0. */
static inline uint16_t
sym_pdb_records_kind(const sym_pdb_records_t *records, uint32_t i)
{
    return sym_le16(records->stream.data + records->offsets[i] + 2);
}


/* False: there is no record with that index. */
static inline bool
sym_pdb_records_get(const sym_pdb_records_t *records, uint32_t index,
                    sym_pdb_record_t *record)
{
    const uint32_t i = index - records->first; /* wraps if the index is lower */
    const char *at;

    record->index = index;
    if (i >= records->n) {
        return false;
    }

    at = records->stream.data + records->offsets[i];
    record->kind = sym_le16(at + 2);
    record->err.status = SYM_OK; /* the rest is set only on failure */
    record->fields =
        sym_cursor(at + 2, sym_le16(at), "type record", &record->err);
    record->fields.pos += 2;
    return true;
}


/* Both read a field: an unsigned number (cvinfo.h, LF_NUMERIC), or a string. */
uint64_t sym_pdb_read_number(sym_pdb_record_t *record);
sym_str_t sym_pdb_read_text(sym_pdb_record_t *record);

/* The record of a class, structure, interface or union. */
typedef struct {
    sym_str_t name, unique_name; /* unique_name may be empty */
    uint64_t size;
    bool is_forward; /* a declaration, which another record may define */
} sym_pdb_class_t;

static inline bool
sym_pdb_is_class(uint16_t kind)
{
    switch (kind) {
    case SYM_LF_CLASS_ST:
    case SYM_LF_STRUCTURE_ST:
    case SYM_LF_UNION_ST:
    case SYM_LF_CLASS:
    case SYM_LF_STRUCTURE:
    case SYM_LF_UNION:
    case SYM_LF_INTERFACE:
    case SYM_LF_CLASS2:
    case SYM_LF_STRUCTURE2:
    case SYM_LF_UNION2:
    case SYM_LF_INTERFACE2:
        return true;
    default:
        return false;
    }
}


/* False: the record is truncated. */
bool sym_pdb_read_class(sym_pdb_record_t *record, sym_pdb_class_t *c);

/* Whether a class's record, of which no field was read yet, is a definition. */
bool sym_pdb_is_definition(const sym_pdb_record_t *record);

#endif
