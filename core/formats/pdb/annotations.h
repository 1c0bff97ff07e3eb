/*
 * annotations.h - the line program of one inlined call (cvinfo.h,
 * BinaryAnnotationOpcode; LLVM: SourceLevelDebugging.rst, S_INLINESITE).
 *
 * An iterator over ranges of code, which are not always in ascending order.
 */
#ifndef SYM_FORMATS_PDB_ANNOTATIONS_H
#define SYM_FORMATS_PDB_ANNOTATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    uint32_t chunk;  /* of the procedure: 0 its main code, n cold part n */
    uint32_t offset; /* from the beginning of the chunk */
    uint32_t size;
    uint32_t file; /* as lines.h names files */
    uint32_t line;
} sym_pdb_range_t;

typedef struct {
    const uint8_t *pos, *end;
    uint32_t chunk, offset;
    uint32_t file, line;
    bool has_pending; /* a range whose size is not known yet */
    bool is_sized;    /* the size of `pending` is known */
    sym_pdb_range_t pending;
} sym_pdb_annotations_t;

/* file, line: the declaration of the inlined function. */
void sym_pdb_annotations_begin(sym_pdb_annotations_t *a, sym_str_t bytes,
                               uint32_t file, uint32_t line);

/* False: there are no more, or what follows cannot be read. */
bool sym_pdb_annotations_next(sym_pdb_annotations_t *a, sym_pdb_range_t *range);

#endif
