/*
 * names.h - the cache of demangled names.
 *
 * A worker has one, and so has a command.  Repeated names are copied, including
 * hostile ones that are not demangled.  Memory is fixed: that of an answer
 * cache (answers.h).
 */
#ifndef SYM_SYMBOLICATE_CACHE_NAMES_H
#define SYM_SYMBOLICATE_CACHE_NAMES_H

#include "demangle/demangle.h"

typedef struct sym_names_s sym_names_t;

/* With room for this many bytes of names; 0: caches none.  NULL when out of
 * memory. */
sym_names_t *sym_names_create(size_t bytes);
void sym_names_free(sym_names_t *names);

/* Like sym_demangle(); the view lives until the next call.  A name that is not
 * demangled is returned unchanged. */
sym_str_t sym_names_show(sym_names_t *names, sym_str_t name, uint8_t lang,
                         unsigned style);

/* Number of names that were demangled, their bytes, and number of cache
   hits. */
typedef struct {
    uint64_t demangled, demangled_bytes, copied;
} sym_names_counts_t;

sym_names_counts_t sym_names_counts(const sym_names_t *names);

#endif
