/*
 * tecken.h - Mozilla's symbolication API, v4 and v5.
 *
 * Makes requests of its kind; how one is driven: api/request.h.  What is
 * accepted, every message and the order of checks: docs/use/compat.md.
 */
#ifndef SYM_API_TECKEN_TECKEN_H
#define SYM_API_TECKEN_TECKEN_H

#include "api/request.h"

typedef struct {
    sym_request_options_t common;
    unsigned version; /* 4 or 5 */
    bool debug;       /* the Debug header asks for the debug block */
} sym_tecken_options_t;

/* Whether a Debug header of this value asks for the debug block. */
bool sym_tecken_debug_wanted(unsigned version, sym_str_t header);

/* NULL when out of memory. */
sym_request_t *sym_tecken_create(sym_arena_t *arena,
                                 const sym_tecken_options_t *options,
                                 sym_str_t body);

/*
 * The same through jansson only: what the direct reader must agree with.  For
 * the fuzz target and the tests that compare both.
 */
sym_status_t sym_tecken_parse_general(sym_request_t *r);

#endif
