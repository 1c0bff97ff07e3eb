/*
 * addresses.h - translates a section number and an offset to an RVA.
 *
 * A PDB gives every location as an offset in a section of the linked image.  If
 * a tool moved code after linking, OMAP tables translate the original RVAs,
 * here called *linked* addresses, to those of the final image (LLVM:
 * docs/PDB/DbiStream.rst, "Optional Debug Header Stream"; Microsoft:
 * OMAP_DATA).
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

/* A range of linked addresses, and its position in the final image. */
typedef struct {
    uint32_t linked; /* its first address */
    uint32_t addr;
    uint32_t size;
} sym_pdb_stretch_t;

/* Sections count from 1.  False: the section or offset does not exist. */
bool sym_pdb_linked(const sym_pdb_addresses_t *a, uint32_t section,
                    uint32_t offset, uint32_t *linked);

bool sym_pdb_is_code(const sym_pdb_addresses_t *a, uint32_t section);

/*
 * Finds the first stretch in [*linked, end) that was not removed, and sets
 * *linked to its end.  False: there are no more.  Without OMAP the whole range
 * is one stretch.
 */
bool sym_pdb_next_stretch(const sym_pdb_addresses_t *a, uint32_t *linked,
                          uint32_t end, sym_pdb_stretch_t *stretch);

#endif
