/*
 * The list of what a fleet uses: sums, order, limits, fading, and what is written
 * and read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "share/ranks.h"
#include "tap.h"

#define NOW INT64_C(1700000000)

static sym_ranks_t *ranks;

/* A module whose id is its number. */
static bool
add(unsigned number, uint32_t weight)
{
    sym_object_ref_t ref;
    char name[32], id[34], bytes[SYM_REF_BYTES_MAX];
    sym_rank_t rank = { .weight = weight,
                        .kind = SYM_KIND_SYMCACHE,
                        .source = SYM_STR("symbols") };

    (void) snprintf(name, sizeof(name), "m%u.so", number);
    (void) snprintf(id, sizeof(id), "%032X0", number);
    sym_object_ref_named(&ref, sym_cstr(name), sym_cstr(id));
    rank.ref = sym_str(bytes, sym_object_ref_write(&ref, bytes));
    return sym_ranks_add(ranks, &rank);
}


static void
begin(void)
{
    sym_ranks_free(ranks);
    ranks = sym_ranks_create(NOW);
}


static sym_str_t
name_of(const sym_rank_t *rank)
{
    sym_object_ref_t ref;

    return sym_rank_ref_read(rank->ref, &ref) ? ref.debug_file : SYM_STR("");
}


static void
test_order(void)
{
    begin();
    ok(add(1, 5) && add(2, 9) && add(3, 5) && add(1, 3), "additions");
    sym_ranks_order(ranks, SYM_RANKS_MAX);
    is_u64(ranks->n, 3, "the same module is one entry");
    is_str(name_of(ranks->at[0]), "m2.so", "the heaviest is first");
    is_str(name_of(ranks->at[1]), "m1.so", "then a sum");
    is_u64(ranks->at[1]->weight, 8, "which is 8");
    is_str(name_of(ranks->at[2]), "m3.so", "then the lightest");
}


static void
test_limits(void)
{
    sym_rank_t rank = { .weight = 1, .kind = 1, .source = SYM_STR("s") };

    begin();
    ok(!sym_ranks_add(ranks, &rank), "no reference");
    ok(add(1, SYM_RANK_WEIGHT_MAX) && add(1, 7), "a sum past the maximum");
    is_u64(ranks->at[0]->weight, SYM_RANK_WEIGHT_MAX, "... is the maximum");
    ok(!add(2, 0) && !add(2, SYM_RANK_WEIGHT_MAX + 1), "weights out of range");

    begin();
    for (unsigned i = 1; i <= 100000; i++) {
        (void) add(i, i % 50000 == 0 ? 5000 : 1 + i / 100);
    }
    ok(ranks->n <= 2 * SYM_RANKS_MAX, "memory is bounded");
    ok(add(100000, 1) && add(99998, 4000), "more of two that are left");
    sym_ranks_order(ranks, SYM_RANKS_MAX);
    is_u64(ranks->n, 32768, "32,768 are kept");
    is_str(name_of(ranks->at[0]), "m100000.so", "the heaviest");
    is_u64(ranks->at[0]->weight, 5001, "... with all of its weight");
    is_str(name_of(ranks->at[1]), "m50000.so", "then one that came early");
    is_str(name_of(ranks->at[2]), "m99998.so", "then the other sum");
    is_u64(ranks->at[2]->weight, 4000 + 1 + 999, "... of both weights");
    is_u64(ranks->at[3]->weight, 1000, "and the next");
    sym_ranks_order(ranks, 5);
    is_u64(ranks->n, 5, "fewer are kept in a shorter list");

    /* half of 50 GiB, of 4 GiB, and of 100 MiB */
    is_u64(sym_ranks_for(UINT64_C(25) << 30), 32768, "a large store");
    is_u64(sym_ranks_for(UINT64_C(2) << 30), 8192, "a small one");
    is_u64(sym_ranks_for(UINT64_C(50) << 20), 2000, "a tiny one");
}


static void
test_fading(void)
{
    begin();
    ok(add(1, 14400) && add(2, 1) && add(3, 1000000), "three modules");
    sym_ranks_fade(ranks, NOW + 599);
    is_u64(ranks->n, 3, "599 seconds change nothing");
    sym_ranks_fade(ranks, NOW + 600);
    is_u64(ranks->n, 2, "after 600, the lightest is gone");
    is_u64(ranks->at[0]->weight, 14300, "another has lost a 144th");
    sym_ranks_fade(ranks, NOW + 601);
    is_u64(ranks->at[0]->weight, 14300, "which happens once");
    sym_ranks_fade(ranks, NOW + 86400);
    /* (143/144)^144 is 0.3667; each step rounds down */
    ok(ranks->at[1]->weight > 366000 && ranks->at[1]->weight < 366800,
       "after a day, about a third is left");
    sym_ranks_fade(ranks, NOW + INT64_C(100) * 86400);
    is_u64(ranks->n, 0, "after 100 days, nothing");

    begin();
    ranks->faded_s = NOW + 86400;
    ok(add(1, 14400), "a list from the future");
    sym_ranks_fade(ranks, NOW);
    sym_ranks_fade(ranks, NOW + 600);
    is_u64(ranks->at[0]->weight, 14300, "fades from now on");
}


static void
test_bytes(void)
{
    sym_buffer_t bytes = { 0 };
    sym_error_t err = { 0 };

    begin();
    for (unsigned i = 1; i <= SYM_RANKS_MAX; i++) {
        (void) add(i, i == 1 ? 3000 : 2000);
    }
    sym_ranks_fade(ranks, NOW + 600);
    sym_ranks_order(ranks, SYM_RANKS_MAX);
    sym_ranks_write(ranks, &bytes);
    ok(!bytes.failed && bytes.len < SYM_RANKS_BYTES_MAX, "a list is written");

    begin();
    ok(sym_ranks_read(ranks, bytes.data, bytes.len, &err) == SYM_OK,
       "... read");
    sym_ranks_order(ranks, SYM_RANKS_MAX);
    is_u64(ranks->n, SYM_RANKS_MAX, "... with all modules");
    is_str(name_of(ranks->at[0]), "m1.so", "... in their order");
    is_u64(ranks->at[0]->weight, 2979, "... with their weights");
    is_u64((uint64_t) ranks->faded_s, (uint64_t) NOW + 600, "... and the time");
    sym_buffer_free(&bytes);
}


/* Names as long as an entry may be: fewer of them fit. */
static void
test_long(void)
{
    static char name[240];
    const size_t bytes = SYM_RANKS_BYTES_MAX;
    sym_buffer_t out = { 0 };
    sym_error_t err = { 0 };
    sym_object_ref_t ref;
    char id[34], text[SYM_REF_BYTES_MAX];
    sym_rank_t rank = { .kind = SYM_KIND_SYMCACHE,
                        .source = SYM_STR("symbols") };

    begin();
    memset(name, 'x', sizeof(name));
    for (unsigned i = 1; i <= SYM_RANKS_MAX; i++) {
        rank.weight = i;
        (void) snprintf(id, sizeof(id), "%032X0", i);
        sym_object_ref_named(&ref, sym_str(name, sizeof(name)), sym_cstr(id));
        rank.ref = sym_str(text, sym_object_ref_write(&ref, text));
        (void) sym_ranks_add(ranks, &rank);
    }
    sym_ranks_order(ranks, SYM_RANKS_MAX);
    ok(ranks->n < SYM_RANKS_MAX, "long names: fewer are kept");
    is_u64(ranks->at[0]->weight, SYM_RANKS_MAX, "... the heaviest");
    sym_ranks_write(ranks, &out);
    ok(!out.failed && out.len <= bytes && out.len > bytes - 512,
       "... as many as there is room for");
    begin();
    ok(sym_ranks_read(ranks, out.data, out.len, &err) == SYM_OK, "... read");
    sym_buffer_free(&out);
}


int
main(void)
{
    test_order();
    test_limits();
    test_fading();
    test_bytes();
    test_long();
    sym_ranks_free(ranks);
    return done_testing();
}
