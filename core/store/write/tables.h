/*
 * tables.h - writing objects and paths in a batch; for core/store/write only.
 * Functions without a sym_error_t return LMDB's error codes.
 */
#ifndef SYM_STORE_WRITE_TABLES_H
#define SYM_STORE_WRITE_TABLES_H

#include "store/tables.h"
#include "store/write/writer.h"
#include "store/write_object.h"

/* --- paths (path.c) --- */

/* Stores a record.  It keeps its number of artifacts, plus one if ids of an
 * object are passed. */
int sym_path_record_put(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                        const sym_path_record_t *record,
                        const sym_store_id_t *ids, unsigned n_ids);

/* Adds one to the number of artifacts made from the file. */
int sym_path_record_hold(sym_store_t *store, MDB_txn *txn, const MDB_val *key);

/* Subtracts one from the number of artifacts of the file.  At 0 the record is
 * deleted, unless a better artifact has replaced the last one. */
int sym_path_record_release(sym_store_t *store, MDB_txn *txn,
                            const MDB_val *key, bool is_replaced);
int sym_path_record_drop(sym_store_t *store, MDB_txn *txn, const MDB_val *key);

/* Returns the batch with room for the record; evicts older records. */
sym_status_t sym_paths_make_room(sym_store_t *store, const MDB_val *key,
                                 const sym_path_record_t *record, MDB_txn **txn,
                                 sym_error_t *err);

/* --- objects (object.c) --- */

/* Removes the record, its entries and extents, and its count at the file. */
int sym_object_remove(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                      const sym_object_record_t *record, bool is_replaced);

/* Copies the name, because writing entries changes the pages that the view
 * points to. */
void sym_object_own_name(sym_object_record_t *record, char name[SYM_NAME_MAX]);

/* Stores the entries of a record for its other ids, and for its name. */
int sym_object_put_entries(sym_store_t *store, MDB_txn *txn, sym_str_t scope,
                           const sym_object_record_t *record);

/* Number of entries of a record in the table of objects, including its own;
 * *has_all: these exist, and so does that in the table of names. */
unsigned sym_object_entries(sym_store_t *store, MDB_txn *txn, sym_str_t scope,
                            const sym_object_record_t *record, bool *has_all);

/* The scope in a key of any table. */
static inline sym_str_t
sym_scope_in(const MDB_val *key)
{
    return sym_str(key->mv_data, strnlen(key->mv_data, key->mv_size));
}


sym_victim_t sym_victim_of_object(const sym_object_record_t *record);
sym_victim_t sym_victim_of_path(const MDB_val *key, const MDB_val *val,
                                const sym_path_record_t *record);

/* --- both tables (check.c) --- */

/* Adds the tables' entries to the store's counts; *is_whole: nothing is damaged
 * or missing; *extents: number of extents in their records. */
sym_status_t sym_tables_count(sym_store_t *store, MDB_txn *txn,
                              uint64_t *extents, bool *is_whole,
                              sym_error_t *err);

/* Drops damaged records, and rebuilds entries and counts of artifacts; collects
 * the ids of the remaining artifacts. */
int sym_tables_repair(sym_store_t *store, MDB_txn *txn, sym_ids_t *kept);

#endif
