#include "share/key.h"

#include <stdio.h>

size_t
sym_share_key(sym_str_t source, sym_str_t path, const sym_kind_row_t *kind,
              char out[SYM_SHARE_KEY_MAX])
{
    char end[64];
    int n = snprintf(end, sizeof(end), "%s.%u", kind->name, kind->version);
    char *at = out;

    if (n < 0 || (size_t) n >= sizeof(end)
        || source.len + path.len + (size_t) n + 2 > SYM_SHARE_KEY_MAX)
    {
        return 0;
    }

    (void) sym_str_append(&at, source);
    *at++ = '/';
    (void) sym_str_append(&at, path);
    *at++ = '/';
    (void) sym_str_append(&at, sym_str(end, (size_t) n));
    return (size_t) (at - out);
}
