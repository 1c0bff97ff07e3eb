/*
 * addresses.h - from a section's number and an offset to an address.
 *
 * A PDB places everything in sections as the linker laid them out.  If a tool
 * moved code later, OMAP tables say where each stretch went; addresses before
 * that step are *linked* addresses here.
 */
#ifndef SYM_FORMATS_PDB_ADDRESSES_H
#define SYM_FORMATS_PDB_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    sym_str_t sections; /* IMAGE_SECTION_HEADERs as the linker wrote them */
    sym_str_t omap;     /* linked address, address: 4 bytes each; or empty */
} sym_pdb_addresses_t;

/* Where a stretch of linked addresses went. */
typedef struct {
    uint32_t linked; /* where it begins */
    uint32_t addr;
    uint32_t size;
} sym_pdb_stretch_t;

/* Sections count from 1.  False: there is no such section or offset. */
bool sym_pdb_linked(const sym_pdb_addresses_t *a, uint32_t section,
                    uint32_t offset, uint32_t *linked);

bool sym_pdb_is_code(const sym_pdb_addresses_t *a, uint32_t section);

/*
 * The first stretch at or after *linked and before end that is still there;
 * *linked moves to its end.  False: there are no more.  Without OMAP all is one
 * stretch.
 */
bool sym_pdb_next_stretch(const sym_pdb_addresses_t *a, uint32_t *linked,
                          uint32_t end, sym_pdb_stretch_t *stretch);

#endif
