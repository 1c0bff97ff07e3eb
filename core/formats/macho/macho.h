/*
 * macho.h - reads Mach-O files: executables, libraries, dSYM companions.
 *
 * Called by the loader's converter.  Works on borrowed bytes (usually a mapping
 * of the whole file), which must live until sym_macho_close(); views point into
 * those bytes, or into memory that the sym_macho_t owns, and end with them.  32
 * and 64 bits, both byte orders.  A fat file is a list of slices, each a module
 * with its own id.
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

/* A count of 43 and more is the version of a Java class file, which begins
 * with the same four bytes. */
#define SYM_MACHO_SLICES_MAX 42

typedef struct {
    uint64_t offset, size;     /* in the file */
    uint32_t cpu, cpu_subtype; /* from the fat header; 0 in a thin file */
    const char *arch;          /* as Breakpad calls it; "" in a thin file */
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
    /* most bytes of all unpacked sections together */
    uint64_t unpacked_max;
} sym_macho_options_t;

typedef struct {
    const char *arch;    /* as Breakpad calls it: "arm64"; or "unknown" */
    uint64_t image_base; /* vmaddr of __TEXT, subtracted from every address */
    uint64_t image_size; /* its vmsize */
    uint32_t type;       /* filetype */
    uint32_t cpu, cpu_subtype;
    bool is_64bit, is_big_endian;
    bool has_uuid;
    uint8_t uuid[16];
    bool is_dsym;
    bool is_encrypted;    /* encrypted contents count as absent */
    bool has_code;        /* the contents of __text */
    bool has_debug_info;  /* __debug_info */
    bool has_symbols;     /* a symbol table that is not empty */
    bool has_unwind_info; /* __unwind_info, __eh_frame or __debug_frame */
} sym_macho_info_t;

/*
 * Reads the headers of a slice of the file data[len].  NULL: *err has the
 * reason; SYM_UNSUPPORTED for a sound file without final addresses (object
 * files, bitcode, core dumps, ...).
 */
sym_macho_t *sym_macho_open(const uint8_t *data, size_t len,
                            const sym_macho_slice_t *slice,
                            const sym_macho_options_t *options,
                            sym_error_t *err);
void sym_macho_close(sym_macho_t *m);

const sym_macho_info_t *sym_macho_info(const sym_macho_t *m);

/* The UUID as Breakpad's debug id: upper case, then age 0.  Returns the length;
 * 0: the file has no UUID, and no client can request it. */
size_t sym_macho_debug_id(const sym_macho_t *m, char out[SYM_ID_MAX]);

/* The UUID as Sentry's code id: 32 lower-case digits; 0: none. */
size_t sym_macho_code_id(const sym_macho_t *m, char out[SYM_ID_MAX]);

/*
 * The plain bytes of a section in any segment; they are unpacked at the first
 * call.  name is static text, as Mach-O writes it ("__debug_info") or as ELF
 * does (".debug_info"), which also finds a compressed "__zdebug_info".  Names
 * are cut at 16 bytes, as they are in the file.  SYM_NOT_FOUND leaves *err
 * alone: there is no such section, or its contents are not in this file.
 */
sym_status_t sym_macho_section(sym_macho_t *m, const char *name,
                               sym_str_t *bytes, sym_error_t *err);

/* The address of a section as linked; 0: there is no such section. */
uint64_t sym_macho_section_address(const sym_macho_t *m, const char *name);

/* A symbol of code. */
typedef struct {
    uint64_t addr;  /* relative to the image base */
    uint64_t size;  /* it ends at the next one, the next function (named or
                       not), or the end of its section */
    sym_str_t name; /* mangled, without the underscore that C compilers add */
    bool is_external;
} sym_macho_symbol_t;

typedef struct {
    const sym_macho_symbol_t *symbols; /* by address, each address once */
    size_t n;
    uint64_t n_skipped; /* entries whose names or sections are not in the
                           file */
} sym_macho_symbols_t;

/* The function symbols; they live until sym_macho_close().  n is 0 if there are
 * none. */
sym_status_t sym_macho_symbols(sym_macho_t *m, sym_macho_symbols_t *out,
                               sym_error_t *err);

#endif
