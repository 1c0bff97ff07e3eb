#include "base/account.h"

#include <assert.h>

static bool
has_room(const sym_account_t *a, size_t n)
{
    return a->limit == 0 || (a->used <= a->limit && n <= a->limit - a->used);
}


bool
sym_account_charge(sym_account_t *a, size_t n)
{
    if (a == NULL) {
        return true;
    }

    if (!has_room(a, n)) {
        a->refused = a->whole == NULL ? SYM_REFUSED_WHOLE : SYM_REFUSED_SHARE;
        return false;
    }

    if (!sym_account_charge(a->whole, n)) {
        a->refused = SYM_REFUSED_WHOLE;
        return false;
    }

    a->used += n;
    return true;
}


void
sym_account_add(sym_account_t *a, size_t n)
{
    for (; a != NULL; a = a->whole) {
        a->used += n;
    }
}


void
sym_account_give(sym_account_t *a, size_t n)
{
    for (; a != NULL; a = a->whole) {
        assert(n <= a->used);
        a->used -= n;
    }
}
