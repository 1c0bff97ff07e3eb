/*
 * id.c - the names under which clients know a file.
 */
#include "base/digits.h"
#include "formats/macho/file.h"

size_t
sym_macho_debug_id(const sym_macho_t *m, char out[SYM_ID_MAX])
{
    size_t len;

    if (!m->info.has_uuid) {
        return 0;
    }

    len = sym_digits_write_upper(m->info.uuid, sizeof(m->info.uuid), out);
    out[len] = '0';
    return len + 1;
}


size_t
sym_macho_code_id(const sym_macho_t *m, char out[SYM_ID_MAX])
{
    return m->info.has_uuid
               ? sym_digits_write_lower(m->info.uuid, sizeof(m->info.uuid), out)
               : 0;
}
