#include "formats/companion.h"

static bool
put(char *to, uint32_t *to_len, size_t max, sym_str_t from)
{
    if (from.len > max) {
        return false;
    }

    if (from.len != 0) {
        memcpy(to, from.data, from.len);
    }

    *to_len = (uint32_t) from.len;
    return true;
}


bool
sym_companion_set(sym_companion_t *c, sym_companion_kind_t kind, sym_str_t name,
                  sym_str_t dir, sym_str_t id)
{
    memset(c, 0, sizeof(*c));
    c->kind = (uint32_t) kind;

    return put(c->name, &c->name_len, sizeof(c->name), name)
           && put(c->dir, &c->dir_len, sizeof(c->dir), dir)
           && put((char *) c->id, &c->id_len, sizeof(c->id), id);
}
