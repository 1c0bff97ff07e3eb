/*
 * companions.h - the other ELF files that one needs: the debug
 * information of a stripped one, what dwz took out, split units.
 *
 * All are asked for by what the file says (companion.h), and checked: a file of
 * another build is not used, and a note says so.
 */
#ifndef SYM_FORMATS_ELF_COMPANIONS_H
#define SYM_FORMATS_ELF_COMPANIONS_H

#include "formats/format.h"
#include "formats/dwarf/dwarf.h"
#include "formats/elf/elf.h"

typedef struct {
    sym_companion_file_t file;
    sym_elf_t *elf;  /* NULL: not there */
    bool is_missing; /* ... but the file needs it */
} sym_elf_companion_t;

typedef struct {
    const sym_format_means_t *means;
    bool is_big_endian;
    sym_elf_companion_t package;
    sym_dwarf_sections_t sections; /* the package's */
    sym_str_t index;
} sym_elf_splits_t;

/* Of an ELF file without debug information that says where it is, or may be
 * found by its build id.  SYM_OK also without one: see to->elf. */
sym_status_t sym_elf_debug_open(sym_elf_t *elf, const sym_format_means_t *means,
                                sym_elf_companion_t *to, sym_error_t *err);

/* dwz's supplementary file, likewise. */
sym_status_t sym_elf_alt_open(sym_elf_t *elf, const sym_format_means_t *means,
                              sym_elf_companion_t *to, sym_error_t *err);

void sym_elf_companion_close(sym_elf_companion_t *c);

/* Lets `in` open the split units of its skeletons. */
sym_status_t sym_elf_splits_open(sym_elf_splits_t *s, sym_dwarf_input_t *in,
                                 const sym_format_means_t *means,
                                 sym_error_t *err);
void sym_elf_splits_close(sym_elf_splits_t *s);

#endif
