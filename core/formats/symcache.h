/*
 * symcache.h - helpers by which formats create symcaches.
 */
#ifndef SYM_FORMATS_SYMCACHE_H
#define SYM_FORMATS_SYMCACHE_H

#include "formats/format.h"

/* A writer that uses the threads of the file's services; NULL: no memory. */
sym_writer_t *sym_format_writer(const sym_format_file_t *f, sym_error_t *err);

/* Stores the writer's symcache, with lines from a map of the module
 * (il2cpp/line_map.h). */
sym_status_t sym_format_put_symcache(const sym_format_file_t *f,
                                     sym_writer_t *w,
                                     const sym_module_info_t *info,
                                     bool is_incomplete, sym_error_t *err);

#endif
