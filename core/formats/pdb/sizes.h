/*
 * sizes.h - how many bytes values of a type have, for the number of an array's
 * elements.
 *
 * A class may be declared in one record and defined in another one of the same
 * name.  Those that are defined are listed when the first is asked for.
 */
#ifndef SYM_FORMATS_PDB_SIZES_H
#define SYM_FORMATS_PDB_SIZES_H

#include "base/hash.h"
#include "base/sort.h"
#include "formats/pdb/records.h"

typedef struct {
    const sym_pdb_records_t *types;
    sym_hash_key_t key;
    sym_sort_item_t *classes; /* by the hash of their name; to be freed */
    size_t n_classes;
    bool is_out_of_memory; /* a class could not be looked for */
} sym_pdb_sizes_t;

/* Of a type that is no array; 0: nothing tells. */
uint64_t sym_pdb_size_of(sym_pdb_sizes_t *s, uint32_t index);

#endif
