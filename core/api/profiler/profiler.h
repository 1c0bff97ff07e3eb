/*
 * profiler.h - a request of the Firefox Profiler for the text of a file or for
 * machine code.  Private to this API.
 *
 * Besides v5, samply serves this API to the profiler's page (its API.md):
 * /source/v1 and /asm/v1.  docs/use/profiler.md describes both.
 */
#ifndef SYM_API_PROFILER_PROFILER_H
#define SYM_API_PROFILER_PROFILER_H

#include "api/request.h"
#include "artifacts/sources/read/sources.h"

typedef struct {
    sym_request_t base; /* first */
    sym_object_ref_t ref;
    sym_need_t need; /* need for the module's symbols */
    uint32_t offset; /* offset in the module */
    sym_str_t file;  /* path as in the answer of v5 */

    /* state of an answer */
    uint32_t sources; /* index of the need for sources in base.needs */
    sym_sources_t reader;
    sym_sources_file_t text_file;
    uint32_t next_block;
    char *text; /* start of a character that spans two blocks, and room for a
                   block */
    size_t carried;
} profiler_t;

/* First step of a request for a text. */
sym_status_t profiler_source(sym_request_t *r, sym_out_t *out,
                             uint32_t *budget);
bool profiler_source_resume(sym_request_t *r);

/* Writes {"error": "..."}, which the profiler shows to the user. */
void profiler_write_error(const char *error, sym_out_t *out);

#endif
