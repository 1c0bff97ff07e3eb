/* base/relay.h: pieces made by one to five threads are consumed in order, and
 * none is made too far ahead. */
#include <stdatomic.h>

#include "base/relay.h"
#include "thread_pool_kit.h"
#include "tap.h"

#define PIECES 5000

typedef struct {
    size_t slots[SYM_RELAY_SLOTS]; /* pieces made in the slot, from 1 on */
    atomic_size_t n_made, n_taken;
    atomic_size_t too_early; /* slots that were not free */
    size_t wrong, last;      /* the last piece to consume */
} pieces_t;


static void
make(void *ctx, size_t piece, size_t slot)
{
    pieces_t *p = ctx;

    p->too_early += p->slots[slot] != 0;
    p->slots[slot] = piece + 1;
    p->n_made++;
}


static bool
take(void *ctx, size_t piece, size_t slot)
{
    pieces_t *p = ctx;

    p->wrong += piece != p->n_taken || p->slots[slot] != piece + 1;
    p->slots[slot] = 0;
    p->n_taken++;
    return piece != p->last;
}


static void
test(unsigned threads, size_t n, size_t last)
{
    thread_pool_t pool = { .n = threads };
    const sym_thread_pool_t lent = { run, &pool };
    pieces_t p = { .last = last };
    size_t taken = last < n ? last + 1 : n;

    sym_relay_run(
        &(sym_relay_t){ .n_pieces = n, .ctx = &p, .make = make, .take = take },
        threads > 1 ? &lent : NULL);

    ok(p.n_taken == taken, "%u threads, %zu pieces: consumed", threads, n);
    ok(p.wrong == 0, "%u threads, %zu pieces: in order", threads, n);
    ok(p.too_early == 0, "%u threads, %zu pieces: in free slots", threads, n);
    ok(p.n_made >= taken && p.n_made <= taken + SYM_RELAY_SLOTS,
       "%u threads, %zu pieces: not far ahead", threads, n);
}


int
main(void)
{
    for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
        test(threads, 0, SIZE_MAX);
        test(threads, 1, SIZE_MAX);
        test(threads, SYM_RELAY_SLOTS, SIZE_MAX);
        test(threads, PIECES, SIZE_MAX);
        test(threads, PIECES, 0);
        test(threads, PIECES, PIECES / 2);
    }

    return done_testing();
}
