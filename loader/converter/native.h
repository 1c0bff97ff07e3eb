/*
 * native.h - debug files as compilers and linkers leave them, into a writer.
 *
 * Used by the converter only.  Such files are mapped, or read whole: their parts
 * point to each other.  A fat Mach-O file is several modules, any other is one.
 */
#ifndef SYMLOADER_CONVERTER_NATIVE_H
#define SYMLOADER_CONVERTER_NATIVE_H

#include "base/thread_pool.h"
#include "object/module_key.h"
#include "formats/elf/elf.h"
#include "unpack/input.h"
#include "artifacts/symcache/write/writer.h"

typedef struct {
    char debug_id[SYM_ID_MAX];
    size_t debug_id_len;
    char code_id[2 * SYM_ELF_BUILD_ID_MAX];
    size_t code_id_len;
    const char *arch, *os; /* static */
    uint64_t image_base;
    bool is_incomplete; /* files that it needs were not there: a note said it */
} native_module_t;

typedef enum { NATIVE_NONE, NATIVE_ELF, NATIVE_MACHO } native_kind_t;

/* What a file that begins so is; NATIVE_NONE: none of ours. */
native_kind_t native_kind(const char *data, size_t len);

typedef struct native_s native_t;

/* What files are read with. */
typedef struct {
    uint64_t unpacked_max; /* bytes of all sections of a file together */
    const sym_thread_pool_t *pool; /* or NULL */
} native_means_t;

/*
 * Maps all of `in`, whose first piece is given, or reads it; *means is kept.
 * NULL: *err says why.
 */
native_t *native_open(input_t *in, const char *data, size_t len,
                      const native_means_t *means, sym_error_t *err);
void native_close(native_t *n);

uint64_t native_bytes(const native_t *n); /* of the file, unpacked */
size_t native_modules(const native_t *n); /* not 0 */

/*
 * Which of several modules has this canonical debug id.  SYM_MALFORMED: none;
 * the text of the error, which lives as long as n, tells those that are there.
 */
sym_status_t native_find(native_t *n, sym_str_t id, size_t *which,
                         sym_error_t *err);

/* The same for a processor (arch.h).  SYM_NOT_FOUND: there is none for it. */
sym_status_t native_find_arch(native_t *n, sym_str_t arch, size_t *which,
                              sym_error_t *err);

/* Hands all that a module tells to w.  SYM_UNSUPPORTED: there is nothing in it
 * that names code. */
sym_status_t native_read(native_t *n, size_t which, sym_writer_t *w,
                         native_module_t *module, sym_error_t *err);

#endif
