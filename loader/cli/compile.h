/*
 * compile.h - compiles one module of a file, without a store.
 *
 * For commands that read one file and store nothing (`dump`, `atos`).  The file
 * is read as `load` reads it: by a sandboxed converter, together with its
 * companions.
 */
#ifndef SYMLOADER_CLI_COMPILE_H
#define SYMLOADER_CLI_COMPILE_H

#include "common/options.h"
#include "driver/temporary_symcache.h"

/* False for a folder, unless it is a dSYM bundle. */
bool compile_is_file(const char *path);

/*
 * Compiles a file, a pipe or a dSYM bundle, within the limits of the options.
 * Converts only one of several modules: the one for the processor arch
 * (arch.h); arch NULL: this machine's, else the first.  NULL: the error is on
 * stderr; so are warnings.
 */
temporary_symcache_t *compile_file(const options_t *options, const char *path,
                                   const char *arch);

typedef struct {
    sym_kind_t kind;
    bool hides_failure; /* the file may not have it */
    bool hides_notes;   /* another call has printed them */
    bool takes_empty;   /* a file without symbols has a symcache without any */
} compile_how_t;

/* The same, of any kind. */
temporary_symcache_t *compile_as(const options_t *options, const char *path,
                                 const char *arch, const compile_how_t *how);

#endif
