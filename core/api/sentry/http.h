/*
 * http.h - Symbolicator's HTTP details: texts of errors, and the query of a
 * request.  registry.h describes the functions that an API defines.
 */
#ifndef SYM_API_SENTRY_HTTP_H
#define SYM_API_SENTRY_HTTP_H

#include "api/registry.h"

const char *sentry_write_error(const sym_api_error_t *error, sym_out_t *out);

bool sentry_read_wait(sym_str_t query, sym_api_wait_t *wait,
                      const char **refusal);

/* Returns the decoded value of `scope`, "" if the query has none; it lives as
 * long as the arena.  Data NULL: no memory. */
sym_str_t sentry_read_scope(sym_arena_t *arena, sym_str_t query);

#endif
