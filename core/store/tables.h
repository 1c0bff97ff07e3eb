/*
 * tables.h - keys and values of the tables `paths`, `objects` and `names`, for
 * files in core/store only.
 */
#ifndef SYM_STORE_TABLES_H
#define SYM_STORE_TABLES_H

#include "store/env.h"
#include "store/object.h"

/* Maximum time in a record, in seconds since 1970; keeps sums from
   overflowing. */
#define TIME_MAX ((int64_t) 1 << 40)

/* --- paths (path.c) --- */

#define PATH_TEXT_MAX SYM_PATH_SHOWN_MAX /* a cut path ends with a digest */
#define PATH_KEY_MAX (SYM_SCOPE_MAX + 1 + PATH_TEXT_MAX + 1 + 16)
#define PATH_FIXED 54
#define PATH_BYTES_MAX                                                         \
    (PATH_FIXED + SYM_PATH_WORD_MAX + SYM_REASON_MAX + SYM_PATH_URL_MAX        \
     + SYM_PATH_IDS_MAX * SYM_STORE_ID_LEN)

_Static_assert(PATH_KEY_MAX <= 511, "a key of LMDB");

/* Returns 0 if the path cannot be stored. */
size_t sym_path_record_key(const sym_path_key_t *key, char out[PATH_KEY_MAX]);
bool sym_path_record_key_read(const MDB_val *key, sym_path_shown_t *shown);

/* Truncates texts that are too long. */
size_t sym_path_record_write(const MDB_val *key,
                             const sym_path_record_t *record,
                             uint8_t out[PATH_BYTES_MAX]);

/* SYM_NOT_FOUND: another version; SYM_DAMAGED.  Does not verify the
 * checksum. */
sym_status_t sym_path_record_read(const MDB_val *val,
                                  sym_path_record_t *record);
sym_status_t sym_path_record_check(const MDB_val *key, const MDB_val *val,
                                   sym_path_record_t *record);

/* Bytes that the record counts for; 0 if an artifact was made from its file,
 * because the artifact counts a page for the record. */
uint64_t sym_path_record_bytes(const MDB_val *key, const MDB_val *val,
                               const sym_path_record_t *record);

/* --- records of paths that concern an object (path_match.c) --- */

/* Ids as they appear in paths: digits in lower case. */
#define PATH_IDS_MAX 5

typedef struct {
    const sym_object_ref_t *ref;
    char digits[PATH_IDS_MAX][SYM_CODE_ID_MAX];
    sym_str_t texts[PATH_IDS_MAX];
    unsigned n;
} sym_path_match_t;

void sym_path_match_init(sym_path_match_t *match, const sym_object_ref_t *ref);

/* Whether the file has an object with an id of the reference, or the path contains
 * such an id, in any spelling. */
bool sym_path_matches(const sym_path_match_t *match, sym_str_t path,
                      const sym_path_record_t *record);

/* Reads the record of the file that an artifact was made from; false: there is
 * none, or it is unreadable. */
bool sym_object_file(sym_snapshot_t *s, sym_str_t scope,
                     const sym_object_record_t *record,
                     sym_path_record_t *file);

/* --- objects (object.c) --- */

#define OBJECT_ID_MAX (2 + SYM_CODE_ID_MAX)

/* scope 00 id name 00 kind.  An entry for another id ends with the first id and
 * has no value */
#define OBJECT_KEY_MAX                                                         \
    (SYM_SCOPE_MAX + 1 + OBJECT_ID_MAX + SYM_NAME_MAX + 2 + SYM_STORE_ID_LEN)
#define NAME_KEY_MAX (SYM_SCOPE_MAX + 1 + SYM_NAME_MAX + 1 + OBJECT_ID_MAX + 1)
#define OBJECT_FIXED 94
#define OBJECT_BYTES_MAX                                                       \
    (OBJECT_FIXED + SYM_NAME_MAX + SOURCE_MAX + SYM_REASON_MAX                 \
     + SYM_CODE_ID_MAX + 32)

_Static_assert(OBJECT_KEY_MAX <= 511 && NAME_KEY_MAX <= 511, "keys of LMDB");

/* An id in the form of keys: the id's form, then its bytes. */
typedef struct {
    size_t len; /* 0: none */
    char bytes[OBJECT_ID_MAX];
} sym_key_id_t;

/* Gets the ids of an object; the first one is that in its record's key. */
#define OBJECT_IDS_MAX 4
unsigned sym_object_ids(const sym_object_key_t *object,
                        sym_key_id_t ids[OBJECT_IDS_MAX]);
unsigned sym_object_file_ids(const sym_object_key_t *object,
                             sym_store_id_t ids[OBJECT_IDS_MAX]);

/* Gets the ids by which a reference is looked up. */
sym_key_id_t sym_key_id_debug(const sym_debug_id_t *id);
sym_key_id_t sym_key_id_code(const sym_code_id_t *id);
sym_key_id_t sym_key_id_bytes(char form, const uint8_t bytes[16]);

/* Writes a key with the id of index n. Returns 0 if no object of this kind can
 * be stored under it. */
size_t sym_object_key_write(sym_str_t scope, const sym_object_key_t *object,
                            sym_kind_t kind, unsigned n,
                            char out[OBJECT_KEY_MAX]);
size_t sym_object_prefix(sym_str_t scope, const sym_key_id_t *id,
                         char out[OBJECT_KEY_MAX]);
/* Writes the common prefix of the keys of objects with an id from a file's
 * record; a code id of more than 40 digits is cut. */
size_t sym_object_file_prefix(sym_str_t scope, const sym_store_id_t *id,
                              char out[OBJECT_KEY_MAX]);
size_t sym_name_key_write(sym_str_t scope, const sym_object_key_t *object,
                          sym_kind_t kind, char out[NAME_KEY_MAX]);

typedef struct {
    sym_str_t scope, id, name, first; /* first: "" in the key of a record */
    sym_kind_t kind;
} sym_object_entry_t;

bool sym_object_key_parse(const MDB_val *key, sym_object_entry_t *entry);

/* Makes the key of the record from an entry with another id, or from an entry
 * of the table of names. */
size_t sym_object_key_of_entry(const sym_object_entry_t *entry,
                               char out[OBJECT_KEY_MAX]);
size_t sym_object_key_of_name(const MDB_val *name, char out[OBJECT_KEY_MAX]);

size_t sym_object_write(const MDB_val *key, const sym_object_record_t *record,
                        uint8_t out[OBJECT_BYTES_MAX]);

/* SYM_NOT_FOUND: another version; SYM_DAMAGED.  Does not verify the
 * checksum. */
sym_status_t sym_object_read(const MDB_val *key, const MDB_val *val,
                             sym_object_record_t *record);
sym_status_t sym_object_check(const MDB_val *key, const MDB_val *val,
                              sym_object_record_t *record);

/* Makes the key of the record of the artifact's file; returns 0 if there is no
 * such file. */
size_t sym_object_path_key(sym_str_t scope, const sym_object_record_t *record,
                           char out[PATH_KEY_MAX]);

/* --- walks (read/table.c) --- */

typedef sym_status_t (*sym_entry_pt)(void *ctx, const MDB_val *k,
                                     const MDB_val *v);

/*
 * Calls fn for at most *records entries of one scope (NULL: of all) after
 * *mark, until fn returns anything but SYM_OK.  Subtracts the entries read from
 * *records.  SYM_AGAIN: there are more.
 */
sym_status_t sym_table_part(MDB_txn *txn, MDB_dbi table, const sym_str_t *scope,
                            sym_store_mark_t *mark, uint64_t *records,
                            sym_entry_pt fn, void *ctx, sym_error_t *err);

/* Advances a mark to a key.  Returns false if the key is not after the mark: a
 * damaged tree could lead a walk in circles. */
bool sym_mark_move(sym_store_mark_t *mark, const MDB_val *k);

/* Same for all entries. */
sym_status_t sym_table_walk(MDB_txn *txn, MDB_dbi table, sym_entry_pt fn,
                            void *ctx, sym_error_t *err);

#endif
