#include "common/table.h"

#include <stdlib.h>

#define HEADS_MIN 256

static table_node_t **
head_of(const table_t *t, uint64_t hash)
{
    return &t->heads[hash & (t->n_heads - 1)];
}


bool
table_create(table_t *t)
{
    t->heads = calloc(HEADS_MIN, sizeof(table_node_t *));
    t->n_heads = HEADS_MIN;
    t->n = 0;
    return t->heads != NULL;
}


void
table_free(table_t *t)
{
    free(t->heads);
    t->heads = NULL;
}


static void
link_node(table_node_t **at, table_node_t *node)
{
    node->next = *at;
    node->at = at;
    if (node->next != NULL) {
        node->next->at = &node->next;
    }
    *at = node;
}


/* If there is no memory for more heads, the chains become longer. */
static void
grow(table_t *t)
{
    table_t wider = { calloc(t->n_heads * 2, sizeof(table_node_t *)),
                      t->n_heads * 2, 0 };
    size_t i;

    if (wider.heads == NULL) {
        return;
    }

    for (i = 0; i < t->n_heads; i++) {
        table_node_t *node = t->heads[i];

        while (node != NULL) {
            table_node_t *next = node->next;

            link_node(head_of(&wider, node->hash), node);
            wider.n++;
            node = next;
        }
    }

    free(t->heads);
    *t = wider;
}


void
table_add(table_t *t, table_node_t *node, uint64_t hash)
{
    if (t->n >= t->n_heads) {
        grow(t);
    }

    node->hash = hash;
    link_node(head_of(t, hash), node);
    t->n++;
}


void
table_remove(table_t *t, table_node_t *node)
{
    *node->at = node->next;
    if (node->next != NULL) {
        node->next->at = node->at;
    }
    t->n--;
}


static table_node_t *
skip_others(table_node_t *node, uint64_t hash)
{
    while (node != NULL && node->hash != hash) {
        node = node->next;
    }

    return node;
}


table_node_t *
table_first(const table_t *t, uint64_t hash)
{
    return skip_others(*head_of(t, hash), hash);
}


table_node_t *
table_next(const table_node_t *node)
{
    return skip_others(node->next, node->hash);
}


table_node_t *
table_any(const table_t *t)
{
    size_t i;

    for (i = 0; i < t->n_heads; i++) {
        if (t->heads[i] != NULL) {
            return t->heads[i];
        }
    }

    return NULL;
}


void
table_each(const table_t *t, void (*fn)(void *ctx, table_node_t *node),
           void *ctx)
{
    for (size_t i = 0; i < t->n_heads; i++) {
        for (table_node_t *n = t->heads[i]; n != NULL; n = n->next) {
            fn(ctx, n);
        }
    }
}
