/*
 * native.h - debug files as compilers and linkers leave them, into a writer.
 *
 * Used by the converter only.  Such files are mapped, or read whole: their parts
 * point to each other.
 */
#ifndef SYMLOADER_NATIVE_H
#define SYMLOADER_NATIVE_H

#include "base/crew.h"
#include "base/module_key.h"
#include "elf/elf.h"
#include "input.h"
#include "symcache/writer.h"

typedef struct {
    char debug_id[SYM_ID_MAX];
    size_t debug_id_len;
    char code_id[2 * SYM_ELF_BUILD_ID_MAX];
    size_t code_id_len;
    const char *arch, *os; /* static */
    uint64_t bytes;        /* of the file, unpacked */
} native_module_t;

/* True if a file that begins so is one. */
bool native_is(const char *data, size_t len);

/* What a file is read with, and into. */
typedef struct {
    uint64_t unpacked_max;  /* bytes of all its sections together */
    const sym_crew_t *crew; /* or NULL */
    sym_writer_t *writer;
} native_means_t;

/*
 * Reads all of `in`, whose first piece is given, and hands what it tells to the
 * writer.  SYM_UNSUPPORTED: there is nothing in it that names code.
 */
sym_status_t native_read(input_t *in, const char *data, size_t len,
                         const native_means_t *means, native_module_t *module,
                         sym_error_t *err);

#endif
