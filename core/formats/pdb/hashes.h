/*
 * hashes.h - records by the hash of a class's name.
 *
 * The hash stream contains a hash of each record, modulo a number of buckets.
 * For the definition of a class it is the hash of its name or, within a
 * function, of its unique name (LLVM: TpiHashing.cpp).  Hashes are not trusted:
 * the caller checks each record that is found, and searches elsewhere if none
 * matches.
 */
#ifndef SYM_FORMATS_PDB_HASHES_H
#define SYM_FORMATS_PDB_HASHES_H

#include "formats/pdb/records.h"

/* The hash of a name (microsoft-pdb: misc.h, HashPbCb). */
uint32_t sym_pdb_hash(sym_str_t name);

static inline bool
sym_pdb_has_hashes(const sym_pdb_records_t *records)
{
    return records->hashes.len != 0;
}


/* The stored hash of record number i. */
static inline uint32_t
sym_pdb_hash_at(const sym_pdb_records_t *records, uint32_t i)
{
    return sym_le32(records->hashes.data + (size_t) i * 4);
}


/* Finds the next record with that hash, from number *i on. */
bool sym_pdb_next_hashed(const sym_pdb_records_t *records,
                         const uint32_t hashes[2], uint32_t *i);

#endif
