/*
 * compiled.h - a symbol file, compiled by a converter and kept in memory.
 *
 * For a command that looks at one file and stores nothing.  The file is parsed
 * where all files are: in a sandboxed child (convert.h).
 */
#ifndef SYMLOADER_COMPILED_H
#define SYMLOADER_COMPILED_H

#include "options.h"
#include "symcache/reader.h"

typedef struct compiled_s compiled_t;

/*
 * The module of this architecture in a file, or in a dSYM bundle; arch NULL:
 * the only one, else this machine's, else the first.  NULL: told on stderr.
 */
compiled_t *compiled_open(const options_t *options, const char *path,
                          const char *arch);
void compiled_free(compiled_t *c);

/* Lives as long as c. */
sym_symcache_t *compiled_symcache(compiled_t *c);

/* Name of the file; of a bundle, of the one in it. */
sym_str_t compiled_name(const compiled_t *c);

#endif
