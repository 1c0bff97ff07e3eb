/*
 * elf.h - reads ELF files: executables, shared libraries, separate debug
 * files.
 *
 * The loader's converter calls it.  It borrows its bytes (usually a mapping of
 * the file), which must live until sym_elf_close().  Views point into those
 * bytes, or into memory of the sym_elf_t (unpacked sections), and end with
 * them.  32 and 64 bits, both byte orders.
 *
 * Addresses are returned relative to the image base.  Errors name the section
 * and the byte in it, or for headers the byte in the file.  One sym_elf_t is
 * used by one thread at a time; its views may be read by any.
 * docs/formats/elf.md lists what is read.
 */
#ifndef SYM_FORMATS_ELF_ELF_H
#define SYM_FORMATS_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_pool.h"
#include "base/error.h"
#include "base/str.h"
#include "artifacts/symcache/format.h"
#include "formats/native/debuglink.h"
#include "object/object_id.h"

typedef struct sym_elf_s sym_elf_t;

typedef struct {
    /* limit on the bytes of all unpacked sections together */
    uint64_t unpacked_max;
    /* true for a .dwo, a .dwp or dwz's supplementary file: only sections are
       read, so relocatable files are accepted */
    bool is_part;
} sym_elf_options_t;

typedef struct {
    const char *arch;       /* Breakpad's name: "x86_64"; or "unknown" */
    uint64_t image_base;    /* subtracted from every address */
    uint16_t type, machine; /* e_type, e_machine */
    bool is_64bit, is_big_endian;
    bool has_code;        /* false: .text has no contents in this file */
    bool has_debug_info;  /* .debug_info */
    bool has_symbols;     /* .symtab or .dynsym */
    bool has_unwind_info; /* .eh_frame or .debug_frame */
} sym_elf_info_t;

/* True if the bytes begin like an ELF file. */
bool sym_elf_is(const uint8_t *data, size_t len);

/*
 * Reads the headers.  NULL: *err contains the reason.  SYM_UNSUPPORTED: the
 * file is valid, but has no final addresses (kernel modules, core dumps).
 */
sym_elf_t *sym_elf_open(const uint8_t *data, size_t len,
                        const sym_elf_options_t *options, sym_error_t *err);
void sym_elf_close(sym_elf_t *e);

const sym_elf_info_t *sym_elf_info(const sym_elf_t *e);

/*
 * The plain bytes of a section, which the first call unpacks. name is static
 * text, because errors keep it.  ".debug_x" also finds an old ".zdebug_x".
 * SYM_NOT_FOUND, which does not set *err: there is no such section, or another
 * file has its contents.
 */
sym_status_t sym_elf_section(sym_elf_t *e, const char *name, sym_str_t *bytes,
                             sym_error_t *err);

/* The bytes in the file of the first section of that name that has contents. */
sym_status_t sym_elf_section_raw(const sym_elf_t *e, sym_str_t name,
                                 sym_str_t *bytes, sym_error_t *err);

/* The linked address of a section; 0: there is no such section. */
uint64_t sym_elf_section_address(const sym_elf_t *e, const char *name);

/* Like sym_elf_section(), for the last section of that name.  In gcc's .dwo
 * files sections of types precede the unit's section. */
sym_status_t sym_elf_section_last(sym_elf_t *e, const char *name,
                                  sym_str_t *bytes, sym_error_t *err);

/*
 * Unpacks the packed ones of n sections, each on a thread of the pool (NULL:
 * one after the other).  sym_elf_section() then returns their bytes.  It also
 * unpacks those beyond SYM_ELF_UNPACK_MAX.
 */
#define SYM_ELF_UNPACK_MAX 16
sym_status_t sym_elf_unpack(sym_elf_t *e, const char *const *names, size_t n,
                            const sym_thread_pool_t *pool, sym_error_t *err);

/*
 * Does the same in steps, for a reader that does not wait for all sections.
 * After begin, sym_elf_section() returns the address of the bytes, which may be
 * read only after sym_elf_unpack_wait() has returned.  NULL: see *err.
 */
typedef struct sym_elf_unpacking_s sym_elf_unpacking_t;
sym_elf_unpacking_t *sym_elf_unpack_begin(sym_elf_t *e,
                                          const char *const *names, size_t n,
                                          sym_error_t *err);

/* Runs on one or more threads.  Unpacks sections until none is left to begin;
 * other threads may still be unpacking. */
void sym_elf_unpack_some(void *unpacking);

/* Returns when n bytes of the first section, and all bytes of the others, are
 * unpacked.  False: a section cannot be unpacked. */
bool sym_elf_unpack_wait(void *unpacking, uint64_t n);

/* Frees it (NULL: does nothing) when no other thread uses it.  Fails like
 * sym_elf_unpack(). */
sym_status_t sym_elf_unpack_end(sym_elf_unpacking_t *u, sym_error_t *err);

/*
 * Where the file's code is in memory: at most SYM_LOADS_MAX segments, whose number
 * is returned.  objcopy's debug files lack the offsets of their program, which are
 * then derived from its layout.
 */
size_t sym_elf_loads(const sym_elf_t *e, sym_load_t loads[SYM_LOADS_MAX]);

/* --- ids --- */

#define SYM_ELF_DEBUG_ID_LEN 33 /* 32 digits and the age, always 0 */

/* The bytes of NT_GNU_BUILD_ID.  SYM_NOT_FOUND: the file has none. */
sym_status_t sym_elf_build_id(const sym_elf_t *e, sym_str_t *id);

/*
 * The canonical debug id, made from the build id.  Without a build id it is
 * made from the first 4,096 bytes of .text, as by Breakpad.  SYM_NOT_FOUND: the
 * file has neither.
 */
sym_status_t sym_elf_debug_id(sym_elf_t *e, char out[SYM_ELF_DEBUG_ID_LEN]);

/* The canonical debug id for a build id of 1 to SYM_BUILD_ID_MAX bytes. */
void sym_elf_debug_id_of(sym_str_t build_id, bool is_big_endian,
                         char out[SYM_ELF_DEBUG_ID_LEN]);

/* Writes the build id in lower-case hex digits; returns their number. */
size_t sym_elf_code_id(sym_str_t build_id, char out[2 * SYM_BUILD_ID_MAX]);

/* --- other files with parts of this one --- */

typedef struct {
    sym_str_t name; /* a path, as dwz wrote it; not empty */
    sym_str_t id;   /* build id of that file; not empty */
} sym_elf_altlink_t;

/* .gnu_debuglink; SYM_NOT_FOUND: no such section. */
sym_status_t sym_elf_debuglink(sym_elf_t *e, sym_debuglink_t *link,
                               sym_error_t *err);

/* .gnu_debugaltlink, or .debug_sup of DWARF 5; SYM_NOT_FOUND: neither. */
sym_status_t sym_elf_altlink(sym_elf_t *e, sym_elf_altlink_t *link,
                             sym_error_t *err);

/* The id in the .debug_sup of a supplementary file.  SYM_NOT_FOUND: the file is
 * not one of DWARF 5. */
sym_status_t sym_elf_sup_id(sym_elf_t *e, sym_str_t *id, sym_error_t *err);

/* --- symbols --- */

typedef struct {
    uint64_t addr;  /* relative to the image base */
    uint64_t size;  /* not 0; may extend over the next symbol */
    bool is_open;   /* its end is unknown */
    sym_str_t name; /* without its version ("@@GLIBC_2.14") */
} sym_elf_symbol_t;

/* Any result but SYM_OK ends sym_elf_symbols(), which then returns it. */
typedef sym_status_t (*sym_elf_symbol_pt)(void *ctx,
                                          const sym_elf_symbol_t *symbol,
                                          sym_error_t *err);

typedef struct {
    uint64_t tables;       /* symbol tables that were read */
    uint64_t symbols;      /* handed out */
    uint64_t bad;          /* omitted entries: their names or sections do not
                              exist */
    uint64_t long_bytes;   /* bytes of names over SYM_PART_BYTES_MAX */
    uint64_t broken;       /* omitted tables */
    sym_error_t first_why; /* error of the first omitted table */
} sym_elf_symbol_stats_t;

/*
 * All symbols of code in .symtab, .dynsym and .gnu_debugdata together, sorted
 * by address, each address once.  A symbol without a size ends at the next one,
 * or at the end of its section.  Unreadable tables are omitted, and counted.
 * SYM_NOT_FOUND: the file has no table at all.
 */
sym_status_t sym_elf_symbols(sym_elf_t *e, sym_elf_symbol_pt each, void *ctx,
                             sym_elf_symbol_stats_t *stats, sym_error_t *err);

#endif
