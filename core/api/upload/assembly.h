/*
 * assembly.h - the request of Sentry's clients to assemble files from uploaded
 * chunks, and its answer.
 */
#ifndef SYM_API_UPLOAD_ASSEMBLY_H
#define SYM_API_UPLOAD_ASSEMBLY_H

#include "base/arena.h"
#include "json/load.h"
#include "json/out.h"

typedef enum {
    SYM_ASSEMBLY_CREATED, /* not sent to the loader */
    SYM_ASSEMBLY_NOT_FOUND,
    SYM_ASSEMBLY_ASSEMBLING,
    SYM_ASSEMBLY_OK,
    SYM_ASSEMBLY_ERROR
} sym_assembly_state_t;

typedef struct {
    sym_str_t checksum; /* 40 digits */
    sym_str_t name;
    sym_str_t debug_id; /* as sent, or "" */
    sym_str_t digests;  /* 20 bytes each: of the file, then of its chunks */
    sym_assembly_state_t state;
    /* OK: JSON; ERROR: the reason; NOT_FOUND: a digit for each chunk, 1:
     * missing */
    sym_str_t text;
} sym_assembly_file_t;

typedef struct {
    bool is_bundle; /* set by the caller: a bundle of scripts is requested, the
                       only file */
    sym_assembly_file_t *files;
    size_t n;
} sym_assembly_t;

/* Reads the request.  Views point into the tree's texts; everything else is in
 * the arena.  A file with too many chunks gets the state ERROR.  SYM_MALFORMED:
 * *why (static) is for the client; SYM_NOMEM. */
sym_status_t sym_assembly_read(sym_arena_t *arena, const json_t *root,
                               sym_assembly_t *assembly, const char **why);

void sym_assembly_write(const sym_assembly_t *assembly, sym_out_t *out);

#endif
