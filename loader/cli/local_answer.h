/*
 * local_answer.h - answers a request of an API without a server.
 *
 * The same code answers as in nginx, out of a store.  With --symbols that is a
 * temporary store, into which `symloader load` compiles the files that the answer
 * needs.  It runs in a child process, so that no files remain if it dies.
 */
#ifndef SYMLOADER_CLI_LOCAL_ANSWER_H
#define SYMLOADER_CLI_LOCAL_ANSWER_H

#include "api/request.h"
#include "common/options.h"

typedef struct {
    /* Makes the request, to be parsed.  NULL: out of memory. */
    sym_request_t *(*create)(void *ctx, sym_arena_t *arena,
                             const sym_request_options_t *options);

    /* Prints the answer; returns the exit code.  With is_streamed it is called
     * for each part, which begins with what the call before left: *taken bytes are
     * dropped after it.  After another code than EXIT_FINE it is not called
     * again.  The store may be waited for while it prints. */
    int (*print)(void *ctx, const sym_request_t *r, sym_str_t answer,
                 bool is_last, size_t *taken);
    void *ctx;
    bool is_streamed;

    bool has_walks; /* it needs unwind rules */
} local_request_t;

/* Returns the exit code; other errors are on stderr. */
int local_answer(const options_t *o, const local_request_t *how);

#endif
