/*
 * parts.h - checks a parsed C++ name before it is printed.
 *
 * Parsing gives a tree whose branches are shared: a name of 200 bytes can stand
 * for more text than any disk has.  The writer bounds the text; this file
 * bounds the work that libiberty does without writing.
 */
#ifndef SYM_DEMANGLE_PARTS_H
#define SYM_DEMANGLE_PARTS_H

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct demangle_component sym_shard_t;

typedef struct {
    sym_shard_t **parts; /* each once, children before parents; to be freed */
    uint32_t n;
} sym_shards_t;

/* Most parts that a name of this many bytes can have. */
#define SYM_PARTS_OF(len) (2 * (len) + 1)

/*
 * Lists the parts under root in p->parts, up to `most`.  False: the name must
 * not be printed (too costly, no memory, or it has parts that are unknown
 * here).
 */
bool sym_shards_check(sym_shard_t *root, uint32_t most, sym_shards_t *p);

/* Makes libiberty fail when it prints any of them. */
void sym_shards_spoil(void *parts);

#endif
