/*
 * symcache.h - helpers by which formats create symcaches.
 */
#ifndef SYM_FORMATS_SYMCACHE_H
#define SYM_FORMATS_SYMCACHE_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "formats/format.h"

/* A writer that uses the threads of the file's services.  NULL: out of
 * memory. */
sym_writer_t *sym_format_writer(const sym_format_file_t *f, sym_error_t *err);

/* Stores the writer's symcache, with lines mapped by a file for the module
 * (il2cpp/line_map.h), and the object's unwind rules (or NULL), as far as each
 * is requested. w may be NULL if there are rules.  SYM_UNSUPPORTED: only unwind
 * rules are requested, and there are none. */
sym_status_t sym_format_put_symcache(const sym_format_file_t *f,
                                     sym_writer_t *w, sym_cfi_writer_t *cfi,
                                     const sym_module_info_t *info,
                                     bool is_incomplete, sym_error_t *err);

/* Passes on only the names and ids of the object: no artifact is made of it. */
sym_status_t sym_format_put_ids(const sym_format_file_t *f,
                                const sym_module_info_t *info,
                                sym_error_t *err);

#endif
