/*
 * macho.h - reads Mach-O files: executables, libraries, dSYM companions.
 *
 * The loader's converter calls it.  It borrows its bytes (usually a mapping of
 * the file), which must live until sym_macho_close().  Views point into those
 * bytes, or into memory of the sym_macho_t, and end with them.  32 and 64 bits,
 * both byte orders.  A fat file is a list of slices, each a module with its own
 * id.
 *
 * Addresses are returned relative to the image base, the address of __TEXT.
 * Errors name the part and the byte in the file, also for fat files.  One
 * sym_macho_t is used by one thread at a time; its views may be read by any.
 * docs/formats/macho.md lists what is read.
 */
#ifndef SYM_FORMATS_MACHO_MACHO_H
#define SYM_FORMATS_MACHO_MACHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/module_key.h"
#include "base/str.h"

/* With a count of 43 or more the file is a Java class file, which begins with
 * the same four bytes; the count is then its version. */
#define SYM_MACHO_SLICES_MAX 42

typedef struct {
    uint64_t offset, size;     /* file offset and size */
    uint32_t cpu, cpu_subtype; /* from the fat header; 0 in a thin file */
    const char *arch;          /* Breakpad's name; "" in a thin file */
} sym_macho_slice_t;

/* True if the bytes begin like a thin or fat Mach-O file. */
bool sym_macho_is(const uint8_t *data, size_t len);

/*
 * The slices of a fat file; a thin file is its own slice.  Only
 * sym_macho_open() checks the contents of a slice, and whether it is in the
 * file.
 */
sym_status_t sym_macho_slices(const uint8_t *data, size_t len,
                              sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX],
                              size_t *n, sym_error_t *err);

typedef struct sym_macho_s sym_macho_t;

typedef struct {
    /* limit on the bytes of all unpacked sections together */
    uint64_t unpacked_max;
} sym_macho_options_t;

typedef struct {
    const char *arch;    /* Breakpad's name: "arm64"; or "unknown" */
    uint64_t image_base; /* vmaddr of __TEXT, subtracted from every address */
    uint64_t image_size; /* vmsize of __TEXT */
    uint32_t type;       /* filetype */
    uint32_t cpu, cpu_subtype;
    bool is_64bit, is_big_endian;
    bool has_uuid;
    uint8_t uuid[16];
    bool is_dsym;
    bool is_encrypted;    /* encrypted contents count as absent */
    bool has_code;        /* __text has contents */
    bool has_debug_info;  /* __debug_info */
    bool has_symbols;     /* a symbol table that is not empty */
    bool has_unwind_info; /* __unwind_info, __eh_frame or __debug_frame */
} sym_macho_info_t;

/*
 * Reads the headers of a slice of the file data[len].  NULL: *err contains the
 * reason.  SYM_UNSUPPORTED: the file is valid, but has no final addresses
 * (object files, bitcode, core dumps, ...).
 */
sym_macho_t *sym_macho_open(const uint8_t *data, size_t len,
                            const sym_macho_slice_t *slice,
                            const sym_macho_options_t *options,
                            sym_error_t *err);
void sym_macho_close(sym_macho_t *m);

const sym_macho_info_t *sym_macho_info(const sym_macho_t *m);

/* The UUID as Breakpad's debug id: upper case, then age 0.  Returns the length.
 * 0: the file has no UUID, so no client can request it. */
size_t sym_macho_debug_id(const sym_macho_t *m, char out[SYM_ID_MAX]);

/* The UUID as Sentry's code id: 32 lower-case digits; 0: none. */
size_t sym_macho_code_id(const sym_macho_t *m, char out[SYM_ID_MAX]);

/*
 * The plain bytes of a section in any segment, which the first call unpacks.
 * name is static text, written as in Mach-O ("__debug_info") or as in ELF
 * (".debug_info").  The latter also finds a compressed "__zdebug_info".  Names
 * are cut at 16 bytes, as in the file.  SYM_NOT_FOUND, which does not set *err:
 * there is no such section, or another file has its contents.
 */
sym_status_t sym_macho_section(sym_macho_t *m, const char *name,
                               sym_str_t *bytes, sym_error_t *err);

/* The linked address of a section; 0: there is no such section. */
uint64_t sym_macho_section_address(const sym_macho_t *m, const char *name);

/* A symbol of code. */
typedef struct {
    uint64_t addr;  /* relative to the image base */
    uint64_t size;  /* up to the next symbol, the next function (named or
                       not), or the end of its section */
    sym_str_t name; /* mangled, without the underscore that C compilers add */
    bool is_external;
} sym_macho_symbol_t;

typedef struct {
    const sym_macho_symbol_t *symbols; /* sorted by address, each address
                                          once */
    size_t n;
    uint64_t n_skipped; /* entries whose names or sections are not in the
                           file */
} sym_macho_symbols_t;

/* The symbols of functions, valid until sym_macho_close().  n is 0 if there are
 * none. */
sym_status_t sym_macho_symbols(sym_macho_t *m, sym_macho_symbols_t *out,
                               sym_error_t *err);

#endif
