/*
 * native_companions.h - the other ELF files that one needs: the debug
 * information of a stripped one, what dwz took out, split units.
 *
 * All are asked for by what the file says (ask.h), and checked: a file of
 * another build is not used, and a note says so.
 */
#ifndef SYMLOADER_CONVERTER_NATIVE_COMPANIONS_H
#define SYMLOADER_CONVERTER_NATIVE_COMPANIONS_H

#include "converter/requests.h"
#include "formats/dwarf/dwarf.h"
#include "formats/elf/elf.h"

typedef struct {
    ask_file_t file;
    sym_elf_t *elf;  /* NULL: not there */
    bool is_missing; /* ... but the file needs it */
} native_companion_t;

typedef struct {
    uint64_t unpacked_max; /* of each file's sections together */
    bool is_big_endian;
    native_companion_t package;
    sym_dwarf_sections_t sections; /* the package's */
    sym_str_t index;
} native_splits_t;

/* Of an ELF file without debug information that says where it is, or may be
 * found by its build id.  SYM_OK also without one: see to->elf. */
sym_status_t native_debug_open(sym_elf_t *elf, uint64_t unpacked_max,
                               native_companion_t *to, sym_error_t *err);

/* dwz's supplementary file, likewise. */
sym_status_t native_alt_open(sym_elf_t *elf, uint64_t unpacked_max,
                             native_companion_t *to, sym_error_t *err);

void native_companion_close(native_companion_t *c);

/* Lets `in` open the split units of its skeletons. */
sym_status_t native_splits_open(native_splits_t *s, sym_dwarf_input_t *in,
                                uint64_t unpacked_max, sym_error_t *err);
void native_splits_close(native_splits_t *s);

#endif
