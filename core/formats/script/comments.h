/*
 * comments.h - finds a script's map and debug id in its last comments.
 */
#ifndef SYM_FORMATS_SCRIPT_COMMENTS_H
#define SYM_FORMATS_SCRIPT_COMMENTS_H

#include <stdbool.h>

#include "object/module_key.h"

/* The last sourceMappingURL, without query and fragment.  data NULL: none. */
sym_str_t sym_script_map_reference(sym_str_t script);

/* The canonical form of the last debugId; 0: none. */
size_t sym_script_debug_id(sym_str_t script, char id[SYM_ID_MAX]);

/* Whether the URL contains the map itself (RFC 2397). */
bool sym_script_is_data_url(sym_str_t reference);

/* Writes the map in such a URL, of at most reference.len bytes.  False: the URL
 * is damaged. */
bool sym_script_data_url(sym_str_t reference, char *out, size_t *len);

#endif
