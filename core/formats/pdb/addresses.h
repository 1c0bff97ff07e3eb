/*
 * addresses.h - translates a section number and an offset to an RVA.
 *
 * A PDB contains every location as an offset in a section of the linked image.
 * If a tool moved code after linking, OMAP tables translate the original RVAs
 * to those of the final image.  The original RVAs are called *linked* addresses
 * here (LLVM: docs/PDB/DbiStream.rst, "Optional Debug Header Stream";
 * Microsoft: OMAP_DATA).
 */
#ifndef SYM_FORMATS_PDB_ADDRESSES_H
#define SYM_FORMATS_PDB_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    sym_str_t sections; /* IMAGE_SECTION_HEADERs as the linker wrote them */
    sym_str_t omap;     /* OMAP_DATA rows (u32 from, u32 to), or empty */
} sym_pdb_addresses_t;

/* A range of linked addresses, and where it is in the final image. */
typedef struct {
    uint32_t linked; /* linked address of its start */
    uint32_t addr;
    uint32_t size;
} sym_pdb_stretch_t;

/* Section numbers count from 1.  False: the section or the offset does not
 * exist. */
bool sym_pdb_linked(const sym_pdb_addresses_t *a, uint32_t section,
                    uint32_t offset, uint32_t *linked);

bool sym_pdb_is_code(const sym_pdb_addresses_t *a, uint32_t section);

/*
 * Finds the first stretch in [*linked, end) that was not removed, and sets
 * *linked to its end.  False: there are no more stretches.  Without OMAP the
 * complete range is one stretch.
 */
bool sym_pdb_next_stretch(const sym_pdb_addresses_t *a, uint32_t *linked,
                          uint32_t end, sym_pdb_stretch_t *stretch);

#endif
