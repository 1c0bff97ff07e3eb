/*
 * atos.h - translates addresses in images to lines like those of atos(1), over
 * HTTP.
 *
 * It creates requests, which api/request.h drives.  Requests and answers:
 * docs/use/atos.md.  A body or query is read in one call; answers are written
 * in slices.
 */
#ifndef SYM_API_ATOS_ATOS_H
#define SYM_API_ATOS_ATOS_H

#include "api/request.h"

typedef struct {
    sym_request_options_t common; /* limits; frames: addresses; modules:
                                     images */
    bool is_text;                 /* the answer is lines instead of JSON */
    bool is_query;                /* the body is the query of a GET */
} sym_atos_options_t;

/* Creates a request.  NULL: out of memory. */
sym_request_t *sym_atos_create(sym_arena_t *arena,
                               const sym_atos_options_t *options,
                               sym_str_t body);

#endif
