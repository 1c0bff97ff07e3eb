/*
 * parts.h - checks a parsed C++ name before it is printed.
 *
 * Parsing returns a tree with shared branches.  A name of 200 bytes can expand
 * to more text than fits on any disk.  The writer limits the text.  This file
 * limits the work that libiberty does without writing.
 */
#ifndef SYM_DEMANGLE_PARTS_H
#define SYM_DEMANGLE_PARTS_H

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct demangle_component sym_shard_t;

typedef struct {
    sym_shard_t **parts; /* each part once, children before parents; the
                            caller frees it */
    uint32_t n;
} sym_shards_t;

/* Upper bound for the number of parts of a name of this many bytes. */
#define SYM_PARTS_OF(len) (2 * (len) + 1)

/*
 * Lists the parts under root in p->parts, at most `most`.  False: do not print
 * the name (it is too costly, memory ran out, or it has parts that are unknown
 * here).
 */
bool sym_shards_check(sym_shard_t *root, uint32_t most, sym_shards_t *p);

/* Makes libiberty fail when it prints any of these parts. */
void sym_shards_spoil(void *parts);

#endif
