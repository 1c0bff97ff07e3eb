#include "base/relay.h"

#include <stdatomic.h>

#include "base/gauge.h"

typedef struct {
    const sym_relay_t *relay;
    atomic_size_t next_made;
    sym_slots_t used;
    atomic_bool has_ended; /* take() returned false */
    sym_gauge_t taken;     /* pieces consumed; threads wait for a slot */

    /* indexed by the piece's number: its slot + 1 once it is made, else 0 */
    atomic_size_t made[SYM_RELAY_SLOTS];

    /* the thread that sets this flag consumes, and only it writes next_taken */
    atomic_flag is_taking;
    atomic_size_t next_taken;
} run_t;


static bool
can_take(run_t *r)
{
    size_t at = atomic_load(&r->next_taken);

    return !atomic_load(&r->has_ended)
           && atomic_load(&r->made[at % SYM_RELAY_SLOTS]) != 0;
}


static void
take_next(run_t *r)
{
    size_t at = atomic_load(&r->next_taken);
    atomic_size_t *made = &r->made[at % SYM_RELAY_SLOTS];
    size_t slot = atomic_load(made) - 1;

    if (!r->relay->take(r->relay->ctx, at, slot)) {
        atomic_store(&r->has_ended, true);
        sym_gauge_add(&r->taken, SYM_GAUGE_END); /* ends all waits */
        return;
    }

    sym_slots_give_back(&r->used, slot);
    atomic_store(made, 0);
    atomic_store(&r->next_taken, at + 1);
    sym_gauge_add(&r->taken, 1);
}


/* Consumes pieces in order, unless another thread does.  That thread checks
 * again after it releases the flag, so it also consumes this thread's piece. */
static void
take_made(run_t *r)
{
    while (can_take(r) && !atomic_flag_test_and_set(&r->is_taking)) {
        while (can_take(r)) {
            take_next(r);
        }
        atomic_flag_clear(&r->is_taking);
    }
}


static void
work(void *task)
{
    run_t *r = task;
    const sym_relay_t *relay = r->relay;
    size_t at, slot;

    while ((at = atomic_fetch_add(&r->next_made, 1)) < relay->n_pieces) {
        if (at >= SYM_RELAY_SLOTS) {
            sym_gauge_wait(&r->taken, at - SYM_RELAY_SLOTS + 1);
        }

        if (atomic_load(&r->has_ended)) {
            return;
        }

        /* so fewer pieces than slots are made and not yet consumed */
        slot = sym_slots_take(&r->used);
        relay->make(relay->ctx, at, slot);
        atomic_store(&r->made[at % SYM_RELAY_SLOTS], slot + 1);
        take_made(r);
    }
}


void
sym_relay_run(const sym_relay_t *relay, const sym_thread_pool_t *pool)
{
    run_t r = { .relay = relay, .is_taking = ATOMIC_FLAG_INIT };

    sym_gauge_init(&r.taken, 0);
    sym_thread_pool_run(pool, work, &r);
    sym_gauge_free(&r.taken);
}
