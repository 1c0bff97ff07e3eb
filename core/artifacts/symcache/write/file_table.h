/*
 * file_table.h - numbers for the strings that are names of files.
 *
 * Segments and calls refer to few files repeatedly.  Numbers are small, and are
 * indexes for all other data about a file.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_FILE_TABLE_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_FILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t *numbers; /* indexed by string id; 0: not in the table */
    size_t numbers_size;
    uint32_t *ids; /* string ids, indexed by number - 1 */
    size_t n, ids_size;
    bool failed; /* there was no memory to add a file, which counts as
                    unknown */
} sym_file_table_t;

void sym_file_table_free(sym_file_table_t *t);

/* Frees the memory that only adding needs; nothing can be added afterwards. */
void sym_file_table_end(sym_file_table_t *t);

/* Adds a string that is not in the table and returns its number.  0: its id is
 * not below n_ids. */
uint32_t sym_file_table_add(sym_file_table_t *t, uint32_t id, size_t n_ids);

/* The number of a string, from 1; 0: it is no file. */
static inline uint32_t
sym_file_table_number(sym_file_table_t *t, uint32_t id, size_t n_ids)
{
    uint32_t number = id < t->numbers_size ? t->numbers[id] : 0;

    return number != 0 ? number : sym_file_table_add(t, id, n_ids);
}

#endif
