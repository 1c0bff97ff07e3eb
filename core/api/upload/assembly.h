/*
 * assembly.h - requests that list files of which the loader has chunks, or of
 * which it may know that they are there.  Here are those of Sentry's clients, to
 * assemble files from chunks, and their answers.
 */
#ifndef SYM_API_UPLOAD_ASSEMBLY_H
#define SYM_API_UPLOAD_ASSEMBLY_H

#include "api/upload/upload.h"
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
    sym_str_t checksum; /* digits */
    sym_str_t name;
    uint64_t bytes;     /* with SYM_UPLOAD_SESSIONS */
    sym_str_t debug_id; /* as sent, or "" */
    sym_str_t digests;  /* 20 bytes each: of the file, then of its chunks */
    sym_assembly_state_t state;
    /* OK: JSON; ERROR: the reason; NOT_FOUND: a digit for each chunk, 1:
     * missing */
    sym_str_t text;
} sym_assembly_file_t;

/* Maximum number of files in a request, because of the memory for the answer. */
#define SYM_ASSEMBLY_FILES_MAX ((size_t) 30000)

typedef struct {
    sym_upload_made_t form; /* set by the caller */
    sym_assembly_file_t *files;
    size_t n, size;
    const char *at; /* the rest of the body; NULL: nothing was read */
} sym_assembly_t;

/*
 * Reads a part of the request: as much as fits into one turn of a worker.
 * Everything that it keeps is in the arena.  A file with too many chunks gets the
 * state ERROR.  SYM_AGAIN: call it again with the same arguments.  SYM_MALFORMED,
 * SYM_LIMIT: *why (static) is for the client; SYM_NOMEM.
 */
sym_status_t sym_assembly_read(sym_arena_t *arena, sym_account_t *account,
                               sym_str_t body, sym_assembly_t *assembly,
                               const char **why);

/* Writes the answer from file *next on, as much as fits into one turn, until out is
 * full.  False: call it again. */
bool sym_assembly_write(const sym_assembly_t *assembly, size_t *next,
                        sym_out_t *out);

#endif
