/*
 * file.h - the internals of an open Mach-O slice; private to
 * core/formats/macho.
 *
 * Names and numbers are those of Apple's <mach-o/loader.h> and
 * <mach-o/nlist.h>.
 */
#ifndef SYM_FORMATS_MACHO_FILE_H
#define SYM_FORMATS_MACHO_FILE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "formats/macho/macho.h"

#define SYM_MH_MAGIC 0xfeedfaceu
#define SYM_MH_MAGIC_64 0xfeedfacfu

#define SYM_CPU_ARM 12u

#define SYM_MACHO_NAME_BYTES 16

typedef struct {
    sym_str_t segment, name;
    uint64_t addr, size, offset; /* addr: linked address; offset: in the file */
    uint64_t at;                 /* file offset of its header */
    bool is_code, has_bytes;
    sym_str_t plain; /* data NULL: not requested yet */
} sym_macho_section_t;

/* A run of bytes that a load command refers to. */
typedef struct {
    uint64_t offset, size; /* offset in the slice */
} sym_macho_run_t;

struct sym_macho_s {
    const uint8_t *data; /* the complete file */
    uint64_t start, end; /* file offsets of the slice */
    sym_macho_info_t info;
    sym_arena_t arena;
    uint64_t unpacked_left;

    sym_macho_section_t *sections;
    size_t n_sections;

    uint32_t n_symbols;
    uint64_t symbols_at, strings_at; /* offsets in the slice */
    uint64_t strings_size;
    sym_macho_run_t starts;    /* LC_FUNCTION_STARTS */
    sym_macho_run_t encrypted; /* size 0: nothing is encrypted */
};

/* Fails with a file offset. */
sym_status_t sym_macho_fail(sym_error_t *err, sym_status_t status,
                            const char *part, uint64_t offset,
                            const char *what);

/* A cursor over bytes of the slice, with the file's byte order.  Its offsets
 * are file offsets. */
sym_cursor_t sym_macho_cursor(const sym_macho_t *m, uint64_t offset,
                              uint64_t size, const char *part,
                              sym_error_t *err);

/* The section of that name, cut at 16 bytes; or NULL. */
sym_macho_section_t *sym_macho_find(const sym_macho_t *m, sym_str_t name);

#endif
