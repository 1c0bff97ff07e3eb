/*
 * mini.h - MiniDebugInfo: an ELF file with a symbol table, packed with xz into
 * .gnu_debugdata of a stripped one (GDB manual, "MiniDebugInfo").
 */
#ifndef SYM_FORMATS_ELF_MINI_H
#define SYM_FORMATS_ELF_MINI_H

#include "formats/elf/elf.h"

/* Unpacks and opens it on the first call; it lives as long as e.
 * SYM_NOT_FOUND: e has none. */
sym_status_t sym_elf_mini(sym_elf_t *e, sym_elf_t **mini, sym_error_t *err);

void sym_elf_close_mini(sym_elf_t *e);

#endif
