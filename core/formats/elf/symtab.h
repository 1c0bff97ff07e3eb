/*
 * symtab.h - one symbol table, entry by entry.
 */
#ifndef SYM_FORMATS_ELF_SYMTAB_H
#define SYM_FORMATS_ELF_SYMTAB_H

#include "formats/elf/file.h"

/* A symbol of code, or of data in code, which only ends the symbol before
 * it. */
typedef struct {
    uint64_t addr;    /* as in the file */
    uint64_t end;     /* without a size: end of the section */
    const char *name; /* ends in NUL */
    uint32_t order;
    bool has_size, is_code;
    bool is_label; /* without type and size */
} sym_elf_candidate_t;

/* Filled by sym_elf_read_symtab(); the caller frees items. */
typedef struct {
    sym_elf_candidate_t *items;
    size_t n, room;
} sym_elf_candidates_t;

/*
 * Adds the candidates of a section of type SHT_SYMTAB or SHT_DYNSYM; name is
 * its static name.  *bad counts entries that refer to nothing.
 */
sym_status_t sym_elf_read_symtab(sym_elf_t *e, sym_elf_section_t *table,
                                 const char *name, sym_elf_candidates_t *list,
                                 uint64_t *bad, sym_error_t *err);

#endif
