/*
 * crash_writer.h - writes a crash report as an artifact of kind `crash`.
 */
#ifndef SYM_ARTIFACTS_CRASH_WRITE_CRASH_WRITER_H
#define SYM_ARTIFACTS_CRASH_WRITE_CRASH_WRITER_H

#include "artifacts/crash/format.h"
#include "artifacts/symcache/write/writer.h"

/* Sets bytes, extents and quality of *stats.  SYM_LIMIT: the report exceeds a
 * limit; SYM_NOMEM; or a status of put(). */
sym_status_t sym_crash_write(const sym_crash_t *crash, sym_extent_put_pt put,
                             void *ctx, sym_writer_stats_t *stats,
                             sym_error_t *err);

#endif
