/*
 * debug_files.h - other ELF files with debug information for a file: the debug
 * file of a stripped one, dwz's supplementary file, split units.
 *
 * They are requested by the names in the file (companion.h), and checked.  A
 * file of another build is not used, and a note reports it.
 */
#ifndef SYM_FORMATS_ELF_DEBUG_FILES_H
#define SYM_FORMATS_ELF_DEBUG_FILES_H

#include "formats/format.h"
#include "formats/elf/elf.h"
#include "formats/native/splits.h"

typedef struct {
    sym_companion_file_t file;
    sym_elf_t *elf;  /* NULL: not found */
    bool is_missing; /* the file needs it, but it was not found */
} sym_elf_companion_t;

/* Opens the debug file of a stripped ELF file by its name or build id.  Returns
 * SYM_OK even if there is no such file; then to->elf is NULL. */
sym_status_t sym_elf_debug_open(sym_elf_t *elf,
                                const sym_format_services_t *services,
                                sym_elf_companion_t *to, sym_error_t *err);

/* Does the same for dwz's supplementary file. */
sym_status_t sym_elf_alt_open(sym_elf_t *elf,
                              const sym_format_services_t *services,
                              sym_elf_companion_t *to, sym_error_t *err);

/* Puts the ids of dwz's supplementary file, with an artifact without extents.
 * SYM_NOT_FOUND, which does not set *err: it is no such file. */
sym_status_t sym_elf_alt_put(const sym_format_file_t *f, sym_error_t *err);

void sym_elf_companion_close(sym_elf_companion_t *c);

extern const sym_split_format_t sym_elf_split_format;

#endif
