/*
 * tecken.h - Mozilla's symbolication API, v4 and v5.
 *
 * api/request.h describes how a request is driven; docs/use/compat.md lists
 * what is accepted, every message and the order of checks.
 */
#ifndef SYM_API_TECKEN_TECKEN_H
#define SYM_API_TECKEN_TECKEN_H

#include "api/request.h"

typedef struct {
    sym_request_options_t common;
    unsigned version; /* 4 or 5 */
    bool debug;       /* a Debug header requests the debug block */
    bool bulk;        /* v5: each line of the body is a separate request, and
                         each line of the answer is v5's answer to it */
} sym_tecken_options_t;

/* Whether a Debug header with this value requests the debug block. */
bool sym_tecken_debug_wanted(unsigned version, sym_str_t header);

/* Creates a request.  NULL: out of memory. */
sym_request_t *sym_tecken_create(sym_arena_t *arena,
                                 const sym_tecken_options_t *options,
                                 sym_str_t body);

/*
 * Same, but always uses jansson.  The direct reader must have the same results:
 * a fuzz target and tests compare both.
 */
sym_status_t sym_tecken_parse_general(sym_request_t *r);

#endif
