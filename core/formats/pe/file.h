/*
 * file.h - the internals of an open PE file; private to core/formats/pe.
 *
 * Names and numbers are those of Microsoft's "PE Format".
 */
#ifndef SYM_FORMATS_PE_FILE_H
#define SYM_FORMATS_PE_FILE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/sort.h"
#include "formats/pe/functions.h"
#include "formats/pe/pe.h"

#define SYM_PE_SECTION_CODE 0x20000020u /* CNT_CODE, MEM_EXECUTE */

/* Indexes of data directories ("PE Format", Optional Header Data
 * Directories) */
#define SYM_PE_EXPORTS 0
#define SYM_PE_EXCEPTIONS 3
#define SYM_PE_DEBUG 6
#define SYM_PE_CLR 14
#define SYM_PE_DIRECTORIES 16

typedef struct {
    sym_str_t name;
    uint32_t rva, size; /* in memory */
    uint32_t offset, file_size;
    uint32_t flags;
    sym_str_t plain; /* unpacked contents; data NULL: not unpacked yet */
} sym_pe_section_t;

typedef struct {
    uint32_t rva, size;
} sym_pe_directory_t;

struct sym_pe_s {
    const uint8_t *data;
    size_t len;
    sym_pe_info_t info;
    sym_arena_t arena; /* the section table, and unpacked contents */
    uint64_t unpacked_left;

    uint32_t size_of_headers;
    uint32_t symbols_at,
        n_symbols;     /* position and length of the COFF symbol table */
    sym_str_t strings; /* string table; offsets in it count from
                                       its length field */
    sym_pe_section_t *sections;
    size_t n_sections;
    sym_sort_item_t *by_rva; /* the sections sorted by RVA */
    sym_pe_directory_t directories[SYM_PE_DIRECTORIES];

    const sym_pe_function_t *functions; /* NULL: not read yet */
    size_t n_functions;
    sym_str_t embedded; /* portable PDB; data NULL: not unpacked yet */
};

/* Fails with a file offset; returns status. */
sym_status_t sym_pe_fail(sym_error_t *err, sym_status_t status,
                         const char *part, uint64_t offset, const char *what);

/* Up to `size` bytes of the file; fewer at its end. */
sym_str_t sym_pe_raw(const sym_pe_t *pe, uint64_t offset, uint64_t size);

/* The bytes from an RVA to the end of its section, cut at the end of the file;
 * may be "". */
sym_str_t sym_pe_at(const sym_pe_t *pe, uint32_t rva);

/* The contents of a data directory, cut at the end of the file. */
sym_str_t sym_pe_directory(const sym_pe_t *pe, unsigned which);

/* The section that contains the RVA, or NULL. */
const sym_pe_section_t *sym_pe_section_at(const sym_pe_t *pe, uint32_t rva);

static inline bool
sym_pe_is_code(const sym_pe_section_t *s)
{
    return (s->flags & SYM_PE_SECTION_CODE) != 0;
}

#endif
