/*
 * metadata.h - .NET metadata of a portable PDB: streams, heaps and tables.
 *
 * ECMA-335, II.24, and the Portable PDB format (dotnet/runtime,
 * docs/design/specs/PortablePdb-Metadata.md), which adds the stream #Pdb and
 * the tables 0x30 to 0x37.  All of it is untrusted.  The reader checks that
 * tables are inside the file, and checks each row, heap offset and index
 * against the size of its target.  Views live as long as the file.
 */
#ifndef SYM_FORMATS_PPDB_METADATA_H
#define SYM_FORMATS_PPDB_METADATA_H

#include "base/cursor.h"

/* Tables of the Portable PDB format, and the tables of ECMA-335 to which they
 * refer, whose rows are in the assembly. */
#define SYM_PPDB_MD_METHOD_DEF 0x06
#define SYM_PPDB_MD_DOCUMENT 0x30
#define SYM_PPDB_MD_METHOD_DEBUG 0x31
#define SYM_PPDB_MD_LOCAL_SCOPE 0x32
#define SYM_PPDB_MD_LOCAL_VARIABLE 0x33
#define SYM_PPDB_MD_LOCAL_CONSTANT 0x34
#define SYM_PPDB_MD_IMPORT_SCOPE 0x35
#define SYM_PPDB_MD_STATE_MACHINE 0x36
#define SYM_PPDB_MD_CUSTOM_DEBUG 0x37
#define SYM_PPDB_MD_TABLES 64

/* HasCustomDebugInformation: tags of the parent of a CustomDebugInformation
 * row. */
#define SYM_PPDB_MD_PARENT_MODULE 7
#define SYM_PPDB_MD_PARENT_DOCUMENT 22

#define SYM_PPDB_MD_BLOBS                                                      \
    "#Blob" /* section in errors: offsets count from the start of the
               metadata */

#define SYM_PPDB_MD_ID_BYTES 20 /* GUID, stamp */
#define SYM_PPDB_MD_GUID_BYTES 16

typedef struct {
    const uint8_t *rows;
    uint32_t n, row_bytes;
} sym_ppdb_table_t;

typedef struct {
    const uint8_t *id; /* SYM_PPDB_MD_ID_BYTES */
    sym_str_t blobs, guids;
    sym_ppdb_table_t documents, methods, custom;
    uint8_t blob_bytes, guid_bytes, string_bytes; /* sizes of indexes */
    uint8_t document_bytes, parent_bytes;
} sym_ppdb_metadata_t;

typedef struct {
    uint32_t name;     /* blob */
    uint32_t language; /* GUID */
} sym_ppdb_document_row_t;

typedef struct {
    uint32_t document; /* row; 0: the method's sequence points name the
                          documents */
    uint32_t points;   /* blob; 0: the method has no points */
} sym_ppdb_method_row_t;

typedef struct {
    uint32_t tag, row; /* the parent */
    uint32_t kind;     /* GUID */
    uint32_t value;    /* blob */
} sym_ppdb_custom_row_t;

/* SYM_UNSUPPORTED: the metadata are valid, but not those of a portable PDB. */
sym_status_t sym_ppdb_metadata_open(sym_ppdb_metadata_t *m, sym_str_t file,
                                    sym_error_t *err);

/* Rows are numbered from 1 to the table's n (ECMA-335, II.22). */
sym_ppdb_document_row_t sym_ppdb_metadata_document(const sym_ppdb_metadata_t *m,
                                                   uint32_t row);
sym_ppdb_method_row_t sym_ppdb_metadata_method(const sym_ppdb_metadata_t *m,
                                               uint32_t row);
sym_ppdb_custom_row_t sym_ppdb_metadata_custom(const sym_ppdb_metadata_t *m,
                                               uint32_t row);

sym_status_t sym_ppdb_metadata_blob(const sym_ppdb_metadata_t *m,
                                    uint32_t offset, sym_str_t *blob,
                                    sym_error_t *err);

/* SYM_PPDB_MD_GUID_BYTES bytes; NULL: the index is 0 or beyond the heap. */
const uint8_t *sym_ppdb_metadata_guid(const sym_ppdb_metadata_t *m,
                                      uint32_t index);

/* Reads a compressed integer (ECMA-335, II.23.2) of more than one byte, and
 * returns its number of bits.  0: it is malformed, and *pos does not move. */
unsigned sym_ppdb_metadata_long(const uint8_t **pos, const uint8_t *end,
                                uint32_t *value);

/* Reads a compressed integer of at most 29 bits; most have one byte.  False: it
 * is malformed, and *pos does not move. */
static inline bool
sym_ppdb_metadata_unsigned(const uint8_t **pos, const uint8_t *end,
                           uint32_t *value)
{
    if (*pos < end && **pos < 0x80) {
        *value = *(*pos)++;
        return true;
    }

    return sym_ppdb_metadata_long(pos, end, value) != 0;
}


/* Undoes the encoding, which rotates the number left by one bit within its
 * width. */
static inline bool
sym_ppdb_metadata_signed(const uint8_t **pos, const uint8_t *end,
                         int32_t *value)
{
    uint32_t number;
    unsigned bits = 7;

    if (*pos < end && **pos < 0x80) {
        number = *(*pos)++;
    } else {
        bits = sym_ppdb_metadata_long(pos, end, &number);
    }

    if (bits == 0) {
        return false;
    }

    *value = (int32_t) (number >> 1)
             - ((number & 1) != 0 ? (int32_t) (UINT32_C(1) << (bits - 1)) : 0);
    return true;
}

#endif
