/*
 * file_table.h - numbers for the strings that are names of files.
 *
 * Segments and calls refer to few files repeatedly: numbers are small, and lead
 * to everything else about a file.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_FILE_TABLE_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_FILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t *numbers; /* by string id; 0: not in the table */
    size_t numbers_size;
    uint32_t *ids; /* string ids, by number - 1 */
    size_t n, ids_size;
    bool failed; /* no memory for a file, which then counts as unknown */
} sym_file_table_t;

void sym_file_table_free(sym_file_table_t *t);

/* Ends adding, and frees the memory that only adding needs. */
void sym_file_table_end(sym_file_table_t *t);

/* Adds a string that is not in the table and returns its number; 0: its id is
 * not less than n_ids. */
uint32_t sym_file_table_add(sym_file_table_t *t, uint32_t id, size_t n_ids);

/* From 1; 0: no file. */
static inline uint32_t
sym_file_table_number(sym_file_table_t *t, uint32_t id, size_t n_ids)
{
    uint32_t number = id < t->numbers_size ? t->numbers[id] : 0;

    return number != 0 ? number : sym_file_table_add(t, id, n_ids);
}

#endif
