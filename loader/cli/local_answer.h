/*
 * local_answer.h - answers a request of an API without a server.
 *
 * The code is the same as in nginx, and reads a store.  With --symbols this is
 * a temporary store, into which `symloader load` compiles the files that the
 * answer needs.  `symloader load` runs in a child process, so that no files
 * remain if it dies.
 */
#ifndef SYMLOADER_CLI_LOCAL_ANSWER_H
#define SYMLOADER_CLI_LOCAL_ANSWER_H

#include "api/request.h"
#include "common/options.h"

typedef struct {
    /* Creates the request, to be parsed later.  NULL: out of memory. */
    sym_request_t *(*create)(void *ctx, sym_arena_t *arena,
                             const sym_request_options_t *options);

    /* Prints the answer; returns the exit code.  With is_streamed it is called
     * for each part.  It must set *taken to the number of bytes that were
     * printed; the next part begins after them.  It is not called again if it
     * returns another code than EXIT_FINE.  No snapshot of the store is open
     * while it prints. */
    int (*print)(void *ctx, const sym_request_t *r, sym_str_t answer,
                 bool is_last, size_t *taken);
    void *ctx;
    bool is_streamed;

    bool has_walks; /* the request needs unwind rules */
} local_request_t;

/* Returns the exit code; errors are printed to stderr. */
int local_answer(const options_t *o, const local_request_t *how);

#endif
