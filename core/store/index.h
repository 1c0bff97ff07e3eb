/*
 * index.h - modules by their ids alone.
 *
 * The name of a debug file ("cdef0123.debug") does not identify it, but its ids
 * do.  So its module is also found by them: the index has an entry for the
 * debug id, one for the code id, and one for the code id in place of the debug
 * id, as clients of Mozilla's API send it.  A .sym file has an entry for its
 * code id, or for the part of the build id that its debug id contains.  An
 * entry's key contains the type of the id, the id, and the module's key in the
 * directory (docs/formats/store.md, section 2).  For the store's files only.
 */
#ifndef SYM_STORE_INDEX_H
#define SYM_STORE_INDEX_H

#include "object/object_id.h"
#include "store/env.h"

#define INDEX_ID_MAX (1 + SYM_CODE_ID_MAX)
#define INDEX_KEY_MAX (RECORD_KEY_MAX + INDEX_ID_MAX + 1)

_Static_assert(INDEX_KEY_MAX <= 511, "a key of LMDB");

#define INDEX_IDS_MAX 3

typedef struct {
    sym_str_t ids[INDEX_IDS_MAX];
    unsigned n;
    char text[INDEX_ID_MAX], reading[INDEX_ID_MAX];
} sym_index_ids_t;

/* The ids by which a module is found; no ids if only its name finds it. */
void sym_index_ids(const MDB_val *key, const sym_module_record_t *record,
                   sym_index_ids_t *ids);

/* The id under which a code id is listed; "" if it is invalid or too long. */
sym_str_t sym_index_code_id(sym_str_t code_id, char out[INDEX_ID_MAX]);

/* The id under which a .sym file without a code id is listed: the first 16
 * bytes of its build id at most; "" if the build id is shorter. */
sym_str_t sym_index_build_id(sym_str_t build_id, char out[INDEX_ID_MAX]);

/* The id under which a negative record is listed, the same for all
 * spellings. */
sym_str_t sym_index_negative(sym_str_t id, char out[INDEX_ID_MAX]);

/* The common prefix of all entries of an id. */
size_t sym_index_prefix(sym_str_t scope, sym_str_t id, char out[INDEX_KEY_MAX]);

/* The entry of a directory key under one of its ids. */
MDB_val sym_index_key(const MDB_val *key, sym_str_t id,
                      char out[INDEX_KEY_MAX]);

/* Number of the module's entries; 0 if it is found by its name only. */
unsigned sym_index_entries(const MDB_val *key,
                           const sym_module_record_t *record);

/* True if it has all of them. */
bool sym_index_has(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                   const sym_module_record_t *record);

/* False: nothing can be found under such an id (as the index has it). */
bool sym_index_can_have(sym_str_t scope, sym_str_t id);

/* --- entries of one id, in a snapshot (read/entries.c) --- */
typedef struct {
    sym_str_t scope, id;
    char prefix[INDEX_KEY_MAX];
    size_t prefix_len;
    size_t from_len; /* part of `prefix`: the first entry to read */
    MDB_cursor *cursor;
} sym_entries_t;

int sym_entries_begin(sym_snapshot_t *s, sym_str_t scope, sym_str_t id,
                      sym_entries_t *e);

/* The next module with the id, as named by its entry; MDB_NOTFOUND: no more. */
int sym_entries_next(sym_entries_t *e, bool is_first, sym_module_key_t *key,
                     sym_kind_t *kind);

/* True if the module's record confirms the entry: entries may be stale. */
bool sym_index_answers_to(sym_snapshot_t *s, const sym_module_key_t *key,
                          sym_kind_t kind, sym_str_t id,
                          sym_module_record_t *record);

#endif
