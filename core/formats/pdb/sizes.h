/*
 * sizes.h - sizes of types.  The number of an array's elements is computed from
 * them, because LF_ARRAY contains only the size of the complete array
 * (cvinfo.h, lfArray).
 *
 * A class may be declared in one record and defined in another one of the same
 * name.  The first few searches use hashes of names.  Failed searches, and all
 * later ones, use a list of all definitions.  Both find the same one of several
 * definitions: the first with the right hash, or else the first.
 */
#ifndef SYM_FORMATS_PDB_SIZES_H
#define SYM_FORMATS_PDB_SIZES_H

#include "base/hash.h"
#include "base/sort.h"
#include "formats/pdb/records.h"

typedef struct {
    const sym_pdb_records_t *types;
    sym_hash_key_t key;
    sym_sort_item_t *classes; /* sorted by hash of name; the caller frees it */
    size_t n_classes;
    unsigned searches;     /* number of searches by hash */
    bool is_out_of_memory; /* the index could not be built */
} sym_pdb_sizes_t;

/* The size of a type that is not an array; 0: unknown. */
uint64_t sym_pdb_size_of(sym_pdb_sizes_t *s, uint32_t index);

#endif
