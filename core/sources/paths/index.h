/*
 * index.h - the files of a symstore, from its 000Admin folder.
 *
 * Each upload of symbols adds a numbered text there, whose lines begin with
 * "NAME\ID" in quotes; lastid.txt has the last number.  Only hashes of the
 * paths (NAME/ID/NAME) are kept, under a key of the process.
 */
#ifndef SYM_SOURCES_PATHS_INDEX_H
#define SYM_SOURCES_PATHS_INDEX_H

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"

#define SYM_INDEX_LAST_MAX 10000 /* texts of one store */
#define SYM_INDEX_LINE_MAX 4096  /* bytes of a line that are read */

/* The number of a text in its name: ten digits. */
#define SYM_INDEX_NAME_LEN 10

/* Each table has twice the slots of the previous one: adding a table moves no
 * entry, so it takes constant time. */
#define SYM_INDEX_TABLES 24

/* Memory shared by several indexes.  Each may use three quarters of what the
 * others leave. */
typedef struct {
    size_t max_bytes, bytes;
} sym_source_index_room_t;

/* All zero: an empty one. */
typedef struct {
    uint64_t *tables[SYM_INDEX_TABLES]; /* slots; 0: a free one */
    size_t n_tables, n_last;            /* n_last: entries in the last table */
    size_t n, bytes, max_bytes;
    sym_source_index_room_t *room; /* NULL: it is not shared */
    sym_hash_key_t key;
    size_t line_len; /* of the current line; its rest is dropped */
    char line[SYM_INDEX_LINE_MAX];
} sym_source_index_t;

/* max_bytes: of its tables. */
void sym_source_index_begin(sym_source_index_t *index, size_t max_bytes,
                            sym_source_index_room_t *room);
void sym_source_index_free(sym_source_index_t *index);

/*
 * Takes a part of a text; lines that are not entries are skipped.  SYM_LIMIT:
 * more files than its tables can hold; SYM_FULL: other indexes use the memory;
 * SYM_NOMEM.  Pass the bytes after *taken again when there is room.
 */
sym_status_t sym_source_index_feed(sym_source_index_t *index, sym_str_t part,
                                   size_t *taken);

/* Ends a text. */
sym_status_t sym_source_index_end(sym_source_index_t *index);

/* Whether it has the path, which is not encoded. */
bool sym_source_index_has(const sym_source_index_t *index, sym_str_t path);

/* The last number, of lastid.txt.  False: not a number, or too large. */
bool sym_source_index_last(sym_str_t text, unsigned *last);

#endif
