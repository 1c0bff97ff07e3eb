/*
 * Decides what the records of paths mean for an object, each alone and
 * combined.
 */
#include "store/path.h"

/* If a place is tried again, other places with less than this part of their
 * time left are tried again, too. */
#define LATE_PART 4

/* Returns 0 if the place is open. */
static sym_module_state_t
state_of(const sym_path_record_t *r, const sym_asking_t *a)
{
    uint32_t kind = (uint32_t) 1 << a->kind;

    switch (r->outcome) {
    case SYM_PATH_ABSENT:
        return SYM_MODULE_ABSENT;
    case SYM_PATH_FAILED:
        return SYM_MODULE_FAILED;
    case SYM_PATH_MALFORMED:
        return r->reader == a->reader
                       && (r->tried == 0 || (r->tried & kind) != 0)
                   ? SYM_MODULE_MALFORMED
                   : 0;
    case SYM_PATH_READ:
        break;
    default:
        return 0;
    }

    /* valid for another reader, too, because ids do not change.  A text at a
     * URL belongs to all releases that contain the URL. */
    if (a->ref->url.len == 0 && !sym_store_ids_match(a->ref, r->ids, r->n_ids))
    {
        return SYM_MODULE_MALFORMED;
    }

    if ((r->given & kind) != 0) {
        return a->has_artifact ? SYM_MODULE_READY : 0;
    }

    return (r->tried & kind) != 0 && r->reader == a->reader ? SYM_MODULE_ABSENT
                                                            : 0;
}


sym_place_says_t
sym_path_says(const sym_path_record_t *r, const sym_asking_t *a)
{
    sym_place_says_t says = { state_of(r, a), r->expires_at };
    int64_t again = r->stored_at + SYM_BETTER_AGAIN_S;

    if (says.state == SYM_MODULE_READY) {
        return (sym_place_says_t){ SYM_MODULE_READY, 0 };
    }

    if (a->is_poor && says.until != 0 && says.until < again) {
        says.until = again < UINT32_MAX ? (uint32_t) again : UINT32_MAX;
    }

    if (says.state == 0 || sym_has_expired(says.until, r->stored_at, a->now_s))
    {
        return (sym_place_says_t){ 0, 0 };
    }

    return says;
}


static bool
is_late(const sym_path_record_t *r, const sym_place_says_t *says, int64_t now_s)
{
    return says->until != 0
           && (says->until - now_s) * LATE_PART < says->until - r->stored_at;
}


void
sym_settling_add(sym_settling_t *s, const sym_path_record_t *r,
                 const sym_asking_t *a)
{
    sym_place_says_t says = sym_path_says(r, a);
    sym_settled_t *all = &s->result;
    unsigned place = s->n++;

    if (place >= SYM_PLACES_MAX) {
        return;
    }

    if (says.state == 0) {
        all->open |= (uint64_t) 1 << place;
        return;
    }

    if (is_late(r, &says, a->now_s)) {
        s->late |= (uint64_t) 1 << place;
    }

    if (sym_module_state_weight(says.state)
            > sym_module_state_weight(all->state)
        || all->state == 0)
    {
        all->state = says.state;
        all->place = place;
        all->reason = r->reason;
    }

    if (says.until != 0 && (all->until == 0 || says.until < all->until)) {
        all->until = says.until;
    }
}


sym_settled_t
sym_settling_end(const sym_settling_t *s)
{
    sym_settled_t result = s->result;

    if (result.open != 0) {
        return (sym_settled_t){ .open = result.open | s->late };
    }

    if (s->n == 0) {
        result.state = SYM_MODULE_ABSENT;
    }

    return result;
}
