#include "base/relay.h"

#include <stdatomic.h>

#include "base/gauge.h"

typedef struct {
    const sym_relay_t *relay;
    atomic_size_t next_made;
    atomic_bool is_made[SYM_RELAY_SLOTS];
    atomic_bool has_ended; /* before the last piece */
    sym_gauge_t taken;     /* pieces taken; a thread that needs a slot waits */

    /* the thread that sets it may take, and alone writes next_taken */
    atomic_flag is_taking;
    atomic_size_t next_taken;
} run_t;


static bool
can_take(run_t *r)
{
    size_t at = atomic_load(&r->next_taken);

    return !atomic_load(&r->has_ended)
           && atomic_load(&r->is_made[at % SYM_RELAY_SLOTS]);
}


static void
take_next(run_t *r)
{
    size_t at = atomic_load(&r->next_taken), slot = at % SYM_RELAY_SLOTS;

    if (!r->relay->take(r->relay->ctx, at, slot)) {
        atomic_store(&r->has_ended, true);
        sym_gauge_add(&r->taken, SYM_GAUGE_END); /* ends all waits */
        return;
    }

    atomic_store(&r->is_made[slot], false);
    atomic_store(&r->next_taken, at + 1);
    sym_gauge_add(&r->taken, 1);
}


/* If another thread is taking now it will also take what this one has made: it
 * checks again after it has released the flag. */
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
    size_t at;

    while ((at = atomic_fetch_add(&r->next_made, 1)) < relay->n_pieces) {
        if (at >= SYM_RELAY_SLOTS) {
            sym_gauge_wait(&r->taken, at - SYM_RELAY_SLOTS + 1);
        }

        if (atomic_load(&r->has_ended)) {
            return;
        }

        relay->make(relay->ctx, at, at % SYM_RELAY_SLOTS);
        atomic_store(&r->is_made[at % SYM_RELAY_SLOTS], true);
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
