/*
 * id.c - the names under which clients know a file.
 */
#include "formats/macho/file.h"


static size_t
write_uuid(const sym_macho_t *m, const char digits[17], char *out)
{
    for (size_t i = 0; i < sizeof(m->info.uuid); i++) {
        out[2 * i] = digits[m->info.uuid[i] >> 4];
        out[2 * i + 1] = digits[m->info.uuid[i] & 15];
    }

    return 2 * sizeof(m->info.uuid);
}


size_t
sym_macho_debug_id(const sym_macho_t *m, char out[SYM_ID_MAX])
{
    size_t len;

    if (!m->info.has_uuid) {
        return 0;
    }

    len = write_uuid(m, "0123456789ABCDEF", out);
    out[len] = '0';
    return len + 1;
}


size_t
sym_macho_code_id(const sym_macho_t *m, char out[SYM_ID_MAX])
{
    return m->info.has_uuid ? write_uuid(m, "0123456789abcdef", out) : 0;
}
