#include "driver/conversion_next.h"

#include <limits.h>

/* Returns the source of a file.  A request can define any number of sources, so
 * all sources of requests count as one.  The same is true for uploads. */
static sym_str_t
owner_of(const conversion_t *c)
{
    if (c->is_upload) {
        return SYM_STR("uploads");
    }

    return sym_str_starts(c->upload.key.scope, SYM_STR(SYM_SCOPE_GIVEN))
               ? SYM_STR(SYM_SCOPE_GIVEN)
               : c->upload.key.scope;
}


static unsigned
running_of(const conversions_t *all, sym_str_t owner)
{
    const conversion_t *c;
    unsigned left = pool_busy(all->pool), n = 0;

    for (c = all->first; c != NULL && left > 0; c = c->next) {
        left -= c->is_started;
        n += c->is_started && sym_str_eq(owner_of(c), owner);
    }

    return n;
}


/* Half of the converters are reserved for files that clients wait for. */
static unsigned
uploads_at_once(const conversions_t *all)
{
    unsigned jobs = pool_jobs(all->pool);

    return jobs > 1 ? jobs / 2 : 1;
}


conversion_t *
conversion_next(const conversions_t *all)
{
    unsigned most = pool_has_room(all->pool)      ? UINT_MAX
                    : pool_has_reserve(all->pool) ? 1
                                                  : 0;
    conversion_t *c, *last = NULL, *best = NULL;

    for (c = all->first; c != NULL && most != 0; c = c->next) {
        unsigned n;

        if (c->is_started || c->is_held
            || (last != NULL && sym_str_eq(owner_of(c), owner_of(last))))
        {
            continue;
        }

        last = c;
        n = running_of(all, owner_of(c));

        if (n < most && !(c->is_upload && n >= uploads_at_once(all))) {
            most = n;
            best = c;
        }
    }

    return best;
}
