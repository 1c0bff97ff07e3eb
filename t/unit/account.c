/*
 * Memory of requests counts for their worker, and each request has its share.
 * A refused charge changes nothing but the recorded reason.
 */
#include "base/account.h"
#include "base/arena.h"
#include "tap.h"

static void
test_shares(void)
{
    sym_account_t worker = { .limit = 100 };
    sym_account_t first = { .whole = &worker, .limit = 60 };
    sym_account_t second = { .whole = &worker, .limit = 60 };

    ok(sym_account_charge(&first, 60), "all of a share");
    ok(!sym_account_charge(&first, 1) && first.refused == SYM_REFUSED_SHARE,
       "a request cannot exceed its share");
    ok(!sym_account_charge(&second, 41) && second.refused == SYM_REFUSED_WHOLE,
       "... nor what the worker has left");
    ok(worker.used == 60 && second.used == 0,
       "a refused charge is not counted");
    ok(sym_account_charge(&second, 40) && worker.used == 100, "the rest");

    sym_account_add(&second, 7);
    ok(worker.used == 107 && second.used == 47,
       "memory that exists is counted");
    ok(!sym_account_charge(&first, 0 + 1), "... and uses up the room");

    sym_account_give(&second, 47);
    sym_account_give(&first, 60);
    ok(worker.used == 0 && first.used == 0 && second.used == 0,
       "everything is returned");
}


static void
test_no_limit(void)
{
    sym_account_t a = { 0 };

    ok(sym_account_charge(&a, SIZE_MAX / 2) && a.used == SIZE_MAX / 2,
       "0 is no limit");
    ok(sym_account_charge(NULL, 5), "without an account there is no limit");
    sym_account_give(NULL, 5);
}


static void
test_arena(void)
{
    sym_account_t worker = { .limit = 200000 };
    sym_account_t account = { .whole = &worker, .limit = 150000 };
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    arena.account = &account;

    ok(sym_arena_alloc(&arena, 100000) != NULL, "an arena within its share");
    ok(account.used == arena.taken && worker.used == arena.taken,
       "all of its memory is charged");
    ok(sym_arena_alloc(&arena, 100000) == NULL
           && account.refused == SYM_REFUSED_SHARE,
       "... up to its share");

    sym_arena_reset(&arena);
    ok(account.used == arena.taken && arena.taken != 0, "a chunk is kept");
    sym_arena_drop(&arena);
    ok(account.used == 0 && worker.used == 0, "everything is returned");
    ok(sym_arena_alloc(&arena, 10) != NULL && account.used == arena.taken,
       "the arena is charged when it is used again");
    sym_arena_drop(&arena);
}


int
main(void)
{
    test_shares();
    test_no_limit();
    test_arena();
    return done_testing();
}
