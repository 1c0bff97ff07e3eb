/*
 * atos.h - addresses of images to lines, as atos(1) prints them, over HTTP.
 *
 * Makes requests of its kind; how one is driven: dialects/dialect.h.  What is
 * accepted and answered: docs/atos.md.  A body, or query, is read in one go,
 * answers are written in slices.
 */
#ifndef SYM_DIALECTS_ATOS_ATOS_H
#define SYM_DIALECTS_ATOS_ATOS_H

#include "dialects/dialect.h"

typedef struct {
    bool is_text;                /* lines instead of JSON */
    bool is_query;               /* the body is the query of a GET */
    bool tells_missing;          /* see dialects/dialect.h */
    sym_request_limits_t limits; /* frames: addresses; modules: images */
    sym_str_t scope;             /* of the store */
    double (*now_s)(void);       /* monotonic seconds */
    sym_names_t *names;          /* to demangle with; NULL: names as kept */
} sym_atos_options_t;

/* NULL when out of memory. */
sym_request_t *sym_atos_create(sym_arena_t *arena,
                               const sym_atos_options_t *options,
                               sym_str_t body);

#endif
