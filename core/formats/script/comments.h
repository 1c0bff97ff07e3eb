/*
 * comments.h - what the last comments of a script say: where its map is, and what
 * its debug id is.
 */
#ifndef SYM_FORMATS_SCRIPT_COMMENTS_H
#define SYM_FORMATS_SCRIPT_COMMENTS_H

#include "object/module_key.h"

/* The last sourceMappingURL, without query and fragment; data NULL: none. */
sym_str_t sym_script_map_reference(sym_str_t script);

/* The canonical form of the last debugId; 0: none. */
size_t sym_script_debug_id(sym_str_t script, char id[SYM_ID_MAX]);

/* The base 64 text of a `data:` URL of JSON; data NULL: it is none. */
sym_str_t sym_script_data_url(sym_str_t reference);

#endif
