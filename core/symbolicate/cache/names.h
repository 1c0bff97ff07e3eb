/*
 * names.h - the cache of demangled names.
 *
 * Each worker and each command has one.  Repeated names are copied, and so are
 * hostile ones that were not demangled.  It uses an answer cache (answers.h),
 * so its memory is fixed.
 */
#ifndef SYM_SYMBOLICATE_CACHE_NAMES_H
#define SYM_SYMBOLICATE_CACHE_NAMES_H

#include "demangle/demangle.h"

typedef struct sym_names_s sym_names_t;

/* Creates a cache with room for this many bytes of names; 0: no cache.  NULL:
 * out of memory. */
sym_names_t *sym_names_create(size_t bytes);
void sym_names_free(sym_names_t *names);

/* Like sym_demangle(); the view is valid until the next call.  Names that
 * cannot be demangled are returned unchanged. */
sym_str_t sym_names_show(sym_names_t *names, sym_str_t name, uint8_t lang,
                         unsigned style);

/* Number of names that were demangled, their total bytes, and the number of
   cache hits. */
typedef struct {
    uint64_t demangled, demangled_bytes, copied;
} sym_names_counts_t;

sym_names_counts_t sym_names_counts(const sym_names_t *names);

#endif
