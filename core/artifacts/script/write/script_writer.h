/*
 * script_writer.h - builds an artifact of kind `script`, function by function.
 *
 * Every call returns SYM_OK or the status that it also put in *err; after a
 * failure only sym_script_writer_free() may be called.
 */
#ifndef SYM_ARTIFACTS_SCRIPT_WRITE_SCRIPT_WRITER_H
#define SYM_ARTIFACTS_SCRIPT_WRITE_SCRIPT_WRITER_H

#include "artifacts/script/format.h"
#include "artifacts/symcache/write/writer.h"
#include "object/object_id.h"

typedef struct sym_script_writer_s sym_script_writer_t;

/* A function.  It has no name if it has no parts. */
typedef struct {
    const sym_script_part_t *parts;
    uint32_t n_parts;
    sym_script_position_t last; /* position of its last character */
    sym_script_position_t end;  /* position of the character after it */
    bool has_end;               /* false: the script ends with it */
} sym_script_given_t;

/* NULL when out of memory. */
sym_script_writer_t *sym_script_writer_create(sym_extent_put_pt put, void *ctx,
                                              sym_error_t *err);
void sym_script_writer_free(sym_script_writer_t *w);

/* Functions are numbered from 0, in the order of these calls.  A name that is
 * too long is cut. */
sym_status_t sym_script_add_function(sym_script_writer_t *w,
                                     const sym_script_given_t *function);

/* Adds a bound: a position at which a function, or SYM_SCRIPT_NONE, begins or
 * continues.  Positions must ascend. */
sym_status_t sym_script_add_bound(sym_script_writer_t *w,
                                  sym_script_position_t at, uint32_t function);

/* reference: URL of the source map; data NULL: none.  id: the script's debug
 * id, or NULL. flags: other SYM_SCRIPT_* flags.  Sets bytes, extents and
 * quality of *stats. */
sym_status_t sym_script_finish(sym_script_writer_t *w, sym_str_t reference,
                               const sym_debug_id_t *id, uint32_t flags,
                               sym_writer_stats_t *stats);

#endif
