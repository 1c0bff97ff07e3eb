#include "share/key.h"

#define ENDING SYM_STR(".symart")

size_t
sym_share_key(sym_str_t source, sym_str_t path, char out[SYM_SHARE_KEY_MAX])
{
    char *at = out;

    if (source.len + 1 + path.len + ENDING.len > SYM_SHARE_KEY_MAX) {
        return 0;
    }

    (void) sym_str_append(&at, source);
    *at++ = '/';
    (void) sym_str_append(&at, path);
    (void) sym_str_append(&at, ENDING);
    return (size_t) (at - out);
}
