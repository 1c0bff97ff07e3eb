/*
 * table.h - an intrusive, chained hash table.
 *
 * A node is a member of its item, so once the table exists, adding an item
 * cannot fail.  The table compares only hashes; the caller of a lookup must
 * compare the names.
 */
#ifndef SYMLOADER_COMMON_TABLE_H
#define SYMLOADER_COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct table_node_s table_node_t;

struct table_node_s {
    table_node_t *next;
    table_node_t **at; /* the pointer to this node, so that removal need not
                          search a chain */
    uint64_t hash;
};

typedef struct {
    table_node_t **heads;
    size_t n_heads; /* a power of two */
    size_t n;
} table_t;

/* False: out of memory. */
bool table_create(table_t *t);
void table_free(table_t *t);

void table_add(table_t *t, table_node_t *node, uint64_t hash);
void table_remove(table_t *t, table_node_t *node);

/* Iterates over nodes with this hash; NULL: no more. */
table_node_t *table_first(const table_t *t, uint64_t hash);
table_node_t *table_next(const table_node_t *node);

/* Calls fn for every node; fn must not change the table. */
void table_each(const table_t *t, void (*fn)(void *ctx, table_node_t *node),
                void *ctx);

/* Returns any node; NULL: the table is empty. */
table_node_t *table_any(const table_t *t);

#endif
