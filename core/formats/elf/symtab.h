/*
 * symtab.h - one symbol table, entry by entry.
 */
#ifndef SYM_FORMATS_ELF_SYMTAB_H
#define SYM_FORMATS_ELF_SYMTAB_H

#include "formats/elf/file.h"

/* A symbol of code.  A symbol of data in code only ends the symbol before
 * it. */
typedef struct {
    uint64_t addr;    /* an address of the file */
    uint64_t end;     /* end of the section if the symbol has no size */
    const char *name; /* ends in NUL */
    uint32_t order;
    bool has_size, is_code;
    bool is_label; /* has neither type nor size */
} sym_elf_candidate_t;

/* Filled by sym_elf_read_symtab(); the caller frees items. */
typedef struct {
    sym_elf_candidate_t *items;
    size_t n, room;
} sym_elf_candidates_t;

/*
 * Adds the candidates of a section of type SHT_SYMTAB or SHT_DYNSYM; name is
 * its static name.  *bad counts entries with invalid references.
 */
sym_status_t sym_elf_read_symtab(sym_elf_t *e, sym_elf_section_t *table,
                                 const char *name, sym_elf_candidates_t *list,
                                 uint64_t *bad, sym_error_t *err);

#endif
