#include "driver/order.h"

#include <stdlib.h>
#include <string.h>

struct order_entry_s {
    order_entry_t *older;
    uint64_t sequence;
    sym_kind_t kind;
    size_t scope_len, name_len, id_len;
    char text[]; /* scope, name, id */
};


static bool
is_module(const order_entry_t *e, const sym_module_key_t *key)
{
    const char *name = e->text + e->scope_len;

    return sym_str_eq(sym_str(e->text, e->scope_len), key->scope)
           && sym_str_eq(sym_str(name, e->name_len), key->name)
           && sym_str_eq(sym_str(name + e->name_len, e->id_len), key->id);
}


bool
order_has_later(const order_t *order, const sym_module_key_t *key,
                sym_kind_t kind, uint64_t sequence)
{
    const order_entry_t *e;

    for (e = order->newest; e != NULL && e->sequence > sequence; e = e->older) {
        if (e->kind == kind && is_module(e, key)) {
            return true;
        }
    }

    return false;
}


bool
order_note(order_t *order, const sym_module_key_t *key, sym_kind_t kind,
           uint64_t sequence)
{
    order_entry_t *e =
        malloc(sizeof(*e) + key->scope.len + key->name.len + key->id.len);
    order_entry_t **at = &order->newest;
    char *name;

    if (e == NULL) {
        return false;
    }

    e->sequence = sequence;
    e->kind = kind;
    e->scope_len = key->scope.len;
    e->name_len = key->name.len;
    e->id_len = key->id.len;
    name = e->text + e->scope_len;

    if (e->scope_len > 0) {
        memcpy(e->text, key->scope.data, e->scope_len);
    }

    memcpy(name, key->name.data, e->name_len);
    memcpy(name + e->name_len, key->id.data, e->id_len);

    while (*at != NULL && (*at)->sequence > sequence) {
        at = &(*at)->older;
    }

    e->older = *at;
    *at = e;
    return true;
}


void
order_forget(order_t *order, uint64_t sequence)
{
    order_entry_t **at = &order->newest;

    while (*at != NULL && (*at)->sequence > sequence) {
        at = &(*at)->older;
    }

    while (*at != NULL) {
        order_entry_t *e = *at;

        *at = e->older;
        free(e);
    }
}
