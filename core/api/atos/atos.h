/*
 * atos.h - addresses of images to lines, as atos(1) prints them, over HTTP.
 *
 * Creates requests of its type, which api/request.h drives.  Requests and
 * answers: docs/use/atos.md.  A body, or query, is read in one go, answers are
 * written in slices.
 */
#ifndef SYM_API_ATOS_ATOS_H
#define SYM_API_ATOS_ATOS_H

#include "api/request.h"

typedef struct {
    sym_request_options_t common; /* frames: addresses; modules: images */
    bool is_text;                 /* lines instead of JSON */
    bool is_query;                /* the body is the query of a GET */
} sym_atos_options_t;

/* NULL when out of memory. */
sym_request_t *sym_atos_create(sym_arena_t *arena,
                               const sym_atos_options_t *options,
                               sym_str_t body);

#endif
