/*
 * readers.h - the two readers of a request.  Private to this API.
 *
 * The general reader uses jansson, accepts any JSON, and writes the error
 * messages.  The direct reader handles only the usual requests of clients, but
 * is twenty times as fast.
 */
#ifndef SYM_API_TECKEN_READERS_H
#define SYM_API_TECKEN_READERS_H

#include "api/tecken/request.h"

/* Both read the line t->text. */

/* Reads the line from the start.  SYM_OK, SYM_MALFORMED or SYM_LIMIT with a
 * message, SYM_NOMEM. */
sym_status_t general_read(sym_tecken_t *t);

/*
 * SYM_OK; SYM_AGAIN: call again; SYM_UNSUPPORTED: not a usual request, drop the
 * parts that were read; SYM_NOMEM.
 */
sym_status_t direct_read(sym_tecken_t *t, uint32_t *budget);

/* Match ^[A-Za-z0-9_.+{}@<> ~-]*$ and ^[A-Fa-f0-9]*$ (as in Mozilla's
 * Eliot). */
bool name_is_valid(sym_str_t name);
bool id_is_valid(sym_str_t id);

#endif
