/*
 * functions.h - converts records of a symbfile to functions of a symcache.
 *
 * A function is a run of ranges of depth 0, split where its file changes, with
 * the ranges of the calls inlined in it.  Ranges nest by address, not by their
 * order.  A return pad becomes a function of one byte.
 */
#ifndef SYM_FORMATS_SYMBFILE_FUNCTIONS_H
#define SYM_FORMATS_SYMBFILE_FUNCTIONS_H

#include "artifacts/symcache/write/shard.h"
#include "formats/symbfile/reader.h"

typedef struct sym_symbfile_functions_s sym_symbfile_functions_t;

/* Adds functions to the shard.  NULL: out of memory. */
sym_symbfile_functions_t *sym_symbfile_functions_create(sym_shard_t *shard,
                                                        sym_error_t *err);
void sym_symbfile_functions_free(sym_symbfile_functions_t *fs);

/* The callbacks for a reader. */
sym_symbfile_sink_t sym_symbfile_functions_sink(sym_symbfile_functions_t *fs);

/* Adds the last function. */
sym_status_t sym_symbfile_functions_end(sym_symbfile_functions_t *fs);

/* Subtracted from all addresses, so that they fit the 32 bits of a symcache. */
uint64_t sym_symbfile_functions_base(const sym_symbfile_functions_t *fs);

/* Number of dropped records: their address does not fit a symcache, or they are
 * inlined calls outside their callers. */
uint64_t sym_symbfile_functions_dropped(const sym_symbfile_functions_t *fs);

#endif
