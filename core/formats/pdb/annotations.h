/*
 * annotations.h - the line program of one inlined call (cvinfo.h,
 * BinaryAnnotationOpcode; LLVM: SourceLevelDebugging.rst, S_INLINESITE).
 *
 * Returns ranges of code, not always in ascending order.
 */
#ifndef SYM_FORMATS_PDB_ANNOTATIONS_H
#define SYM_FORMATS_PDB_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    uint32_t chunk; /* part of the procedure: 0 the main code, n cold part n */
    uint32_t file;  /* a file number of lines.h */
} sym_pdb_place_t;

typedef struct {
    sym_pdb_place_t place;
    uint32_t offset; /* offset from the start of the chunk */
    uint32_t line;
    uint32_t size; /* SYM_PDB_UNSIZED: see sym_pdb_range_size() */
} sym_pdb_range_t;

/* No real size: the largest operand has 29 bits. */
#define SYM_PDB_UNSIZED UINT32_MAX
#define SYM_PDB_NO_CHUNK UINT32_MAX

/* Number of array items for annotations of this many bytes.  A range takes
 * an operation and an operand.  The items before and after the ranges are
 * scratch. */
#define SYM_PDB_RANGES_ROOM(bytes) ((bytes) / 2 + 2)

/* Reads all ranges, up to the end or to an error, into ranges[1] and the
 * following items, and returns their number.  The range after the last one has
 * no chunk. file, line: where the inlined function is declared. */
size_t sym_pdb_annotations_read(sym_str_t bytes, uint32_t file, uint32_t line,
                                sym_pdb_range_t *ranges);

static inline uint32_t
sym_pdb_size_or(uint32_t size, uint32_t other)
{
    return size == SYM_PDB_UNSIZED ? other : size;
}


/* A range without a size extends to the next range of its chunk. */
static inline uint32_t
sym_pdb_range_size(const sym_pdb_range_t *range)
{
    const sym_pdb_range_t *next = range + 1;
    const uint32_t left =
        next->offset > range->offset ? next->offset - range->offset : 0;

    return sym_pdb_size_or(range->size,
                           next->place.chunk == range->place.chunk ? left : 1);
}


#endif
