/*
 * index.h - the files of a symstore, from its 000Admin folder.
 *
 * Each upload of symbols adds a numbered text there.  Its lines begin with
 * "NAME\ID" in quotes; lastid.txt contains the last number.  Only keyed hashes
 * of the paths (NAME/ID/NAME) are kept.
 */
#ifndef SYM_SOURCES_PATHS_INDEX_H
#define SYM_SOURCES_PATHS_INDEX_H

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"

#define SYM_INDEX_LAST_MAX 10000 /* maximum number of texts of a store */
#define SYM_INDEX_LINE_MAX 4096  /* bytes of a line that are used */

/* A text's name is its number in ten digits. */
#define SYM_INDEX_NAME_LEN 10

/* Each table has twice as many slots as the previous one.  Adding a table moves
 * no entry, so it takes constant time. */
#define SYM_INDEX_TABLES 24

/* Memory shared by several indexes.  Each may use three quarters of what the
 * others leave free. */
typedef struct {
    size_t max_bytes, bytes;
} sym_source_index_room_t;

/* All zeros: an empty index. */
typedef struct {
    uint64_t *tables[SYM_INDEX_TABLES]; /* slots; 0: free */
    size_t n_tables, n_last;            /* n_last: entries in the last table */
    size_t n, bytes, max_bytes;
    sym_source_index_room_t *room; /* NULL: not shared */
    sym_hash_key_t key;
    size_t line_len; /* length of the current line; the part beyond
                        SYM_INDEX_LINE_MAX is dropped */
    char line[SYM_INDEX_LINE_MAX];
} sym_source_index_t;

/* max_bytes: limit for its tables. */
void sym_source_index_begin(sym_source_index_t *index, size_t max_bytes,
                            sym_source_index_room_t *room);
void sym_source_index_free(sym_source_index_t *index);

/*
 * Adds a part of a text; lines that are not entries are skipped.  SYM_LIMIT:
 * more files than the tables can hold; SYM_FULL: other indexes use the memory;
 * SYM_NOMEM.  When there is room, pass the bytes after *taken again.
 */
sym_status_t sym_source_index_feed(sym_source_index_t *index, sym_str_t part,
                                   size_t *taken);

/* Ends the current text. */
sym_status_t sym_source_index_end(sym_source_index_t *index);

/* Whether the index has the path, which must not be encoded. */
bool sym_source_index_has(const sym_source_index_t *index, sym_str_t path);

/* Parses lastid.txt.  False: not a number, or too large. */
bool sym_source_index_last(sym_str_t text, unsigned *last);

#endif
