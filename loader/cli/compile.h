/*
 * compile.h - compiles one module of a file, without a store.
 *
 * For commands that read one file and store nothing (`dump`, `atos`).  As in
 * `load`, a sandboxed converter reads the file and its companions.
 */
#ifndef SYMLOADER_CLI_COMPILE_H
#define SYMLOADER_CLI_COMPILE_H

#include "common/options.h"
#include "driver/temporary_symcache.h"

/* Whether the path is a file that can be compiled.  A folder is not, unless it
 * is a dSYM bundle. */
bool compile_is_file(const char *path);

/*
 * Compiles a file, a pipe or a dSYM bundle, within the limits of the options.
 * Converts only one of several modules: the one for the processor arch
 * (arch.h).  arch NULL: the one for this machine, else the first.  Returns NULL
 * after printing an error to stderr; warnings are printed there, too.
 */
temporary_symcache_t *compile_file(const options_t *options, const char *path,
                                   const char *arch);

typedef struct {
    sym_kind_t kind;
    bool hides_failure; /* it is no error if the file has no such artifact */
    bool hides_notes;   /* another call has already printed them */
    bool takes_empty;   /* an empty symcache is made for a file without
                           symbols */
    bool makes_pads;    /* a symbfile of return pads is made, which
                           temporary_file_get() returns */
    const char *debug;  /* path of the debug file of an ELF file; NULL: it is
                           searched for */
} compile_how_t;

/* Same for any kind, or for a file. */
temporary_symcache_t *compile_as(const options_t *options, const char *path,
                                 const char *arch, const compile_how_t *how);

#endif
