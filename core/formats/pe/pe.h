/*
 * pe.h - reads PE files: Windows programs, libraries and drivers, the debug
 * files that objcopy makes of them, and .NET assemblies.
 *
 * The loader's converter calls it.  It borrows its bytes (usually a mapping of
 * the file), which must live until sym_pe_close().  Views point into those
 * bytes or into memory of the sym_pe_t, and end with it.  32 and 64 bits, any
 * processor; always little endian.
 *
 * Addresses are returned relative to the image base (RVAs).  Errors name the
 * part and the byte in the file.  One sym_pe_t is used by one thread at a time;
 * its views may be read by any.  docs/formats/pe.md lists what is read.
 */
#ifndef SYM_FORMATS_PE_PE_H
#define SYM_FORMATS_PE_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "object/object_id.h"

typedef struct sym_pe_s sym_pe_t;

typedef struct {
    /* limit on the bytes of all unpacked parts together */
    uint64_t unpacked_max;
} sym_pe_options_t;

/* IMAGE_FILE_MACHINE_* */
#define SYM_PE_I386 0x014c
#define SYM_PE_AMD64 0x8664
#define SYM_PE_ARMNT 0x01c4
#define SYM_PE_ARM64 0xaa64

typedef struct {
    const char *arch;       /* Breakpad's name: "x86_64"; or "unknown" */
    uint16_t machine;       /* from the file header; an ARM64EC image says
                               AMD64 */
    uint64_t image_base;    /* address for which the file was linked */
    uint32_t size_of_image; /* the code id consists of time_stamp and this */
    uint32_t time_stamp;
    bool is_64bit;
    bool is_dotnet;      /* SYM_OBJECT_PE_DOTNET: it has a CLR header */
    bool has_code;       /* false: a debug file without the bytes of code */
    bool has_debug_info; /* .debug_info is present */
    bool has_exports;
    bool has_unwind_info; /* an exception table is present */
} sym_pe_info_t;

/* True if the bytes begin with "MZ" and, if they reach that far, have the "PE"
 * signature. */
bool sym_pe_is(const uint8_t *data, size_t len);

/* Reads the headers.  NULL: *err contains the reason. */
sym_pe_t *sym_pe_open(const uint8_t *data, size_t len,
                      const sym_pe_options_t *options, sym_error_t *err);
void sym_pe_close(sym_pe_t *pe);

const sym_pe_info_t *sym_pe_info(const sym_pe_t *pe);

/* --- the debug directory --- */

/* IMAGE_DEBUG_TYPE_* */
#define SYM_PE_DEBUG_CODEVIEW 2
#define SYM_PE_DEBUG_EMBEDDED_PDB 17
#define SYM_PE_DEBUG_PDB_CHECKSUM 19

typedef struct {
    uint32_t type; /* SYM_PE_DEBUG_*, or another type */
    uint32_t time_stamp;
    uint16_t major, minor; /* version */
    sym_str_t bytes;       /* empty: the file does not contain it */
} sym_pe_debug_t;

/* Gets entry i.  False: there are no more entries, or the file ends before
 * it. */
bool sym_pe_debug(const sym_pe_t *pe, size_t i, sym_pe_debug_t *entry);

/* The contents of the first CodeView entry of a known form (RSDS or NB10). */
typedef struct {
    sym_debug_id_t id;   /* GUID and age */
    sym_str_t pdb_file;  /* path as written by the linker; or "" */
    uint32_t time_stamp; /* time stamp of the entry; in a portable PDB the
                            last 4 bytes of the id */
    bool is_portable;    /* the PDB is a portable one */
} sym_pe_codeview_t;

/* False: the file has no such entry. */
bool sym_pe_codeview(const sym_pe_t *pe, sym_pe_codeview_t *cv);

/*
 * The debug id that symbol servers and Sentry use: GUID and age of the CodeView
 * entry.  For a portable PDB the time stamp takes the place of the age
 * (dotnet/runtime, PE-COFF.md).  Form NONE: the file has no CodeView entry.
 */
void sym_pe_debug_id(const sym_pe_t *pe, sym_debug_id_t *id);

/* Writes the time stamp and the size of the image as sym_code_id_write_pe()
 * does; returns the length. */
size_t sym_pe_code_id(const sym_pe_t *pe, char out[SYM_ID_TEXT_MAX]);

/*
 * The embedded portable PDB, which the first call unpacks.  SYM_NOT_FOUND,
 * which does not set *err: the file has none.
 */
sym_status_t sym_pe_embedded(sym_pe_t *pe, sym_str_t *pdb, sym_error_t *err);

/* --- sections and symbols --- */

/*
 * The contents of a section, which the first call unpacks.  name is static
 * text; ".debug_x" also finds ".zdebug_x".  SYM_NOT_FOUND, which does not set
 * *err: the file has no such section, or another file has its contents.
 */
sym_status_t sym_pe_section(sym_pe_t *pe, const char *name, sym_str_t *bytes,
                            sym_error_t *err);

/* The RVA of a section; 0: the file has no such section. */
uint32_t sym_pe_section_rva(const sym_pe_t *pe, const char *name);

typedef struct {
    uint32_t rva;
    uint32_t size;  /* not 0; ends at the next symbol at the latest */
    bool is_open;   /* its end is unknown: it extends to the next symbol */
    sym_str_t name; /* as in the file */
} sym_pe_symbol_t;

/* Any result but SYM_OK ends sym_pe_symbols(), which then returns it. */
typedef sym_status_t (*sym_pe_symbol_pt)(void *ctx,
                                         const sym_pe_symbol_t *symbol,
                                         sym_error_t *err);

/*
 * Calls `each` for the symbols of the COFF symbol table and the export table,
 * sorted by address, each address once.  debug: a debug file of the same image,
 * whose symbol table is read instead; or NULL.
 */
sym_status_t sym_pe_symbols(sym_pe_t *pe, const sym_pe_t *debug,
                            sym_pe_symbol_pt each, void *ctx, sym_error_t *err);

#endif
