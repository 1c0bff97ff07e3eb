/* base/sort.h, compared with qsort(3) in the same order. */
#include <stdlib.h>

#include "base/sort.h"
#include "tap.h"

#define MANY 5000

static uint64_t
next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}


static int
compare(const void *left, const void *right)
{
    const sym_sort_item_t *a = left, *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }

    return a->at < b->at ? -1 : 1;
}


/* Random keys of which only the bits in mask differ. */
static void
test(size_t n, uint64_t mask, uint64_t rest, const char *what)
{
    static sym_sort_item_t ours[MANY], theirs[MANY], again[MANY], spare[MANY];
    uint64_t state = n ^ mask;
    bool is_same = true;

    for (size_t i = 0; i < n; i++) {
        ours[i] = (sym_sort_item_t){ (next_random(&state) & mask) | rest,
                                     (uint32_t) i };
        theirs[i] = again[i] = ours[i];
    }

    qsort(theirs, n, sizeof(*theirs), compare);
    ok(sym_sort(ours, n), "%s: sorted", what);
    sym_sort_with(again, n, spare);

    for (size_t i = 0; i < n; i++) {
        is_same = is_same && ours[i].key == theirs[i].key
                  && ours[i].at == theirs[i].at && again[i].key == ours[i].key
                  && again[i].at == ours[i].at;
    }
    ok(is_same, "%s: as qsort() does", what);
}


int
main(void)
{
    test(0, UINT64_MAX, 0, "nothing");
    test(1, UINT64_MAX, 0, "one");
    test(2, 1, 0, "two");
    test(24, 7, 0, "few, of which some are the same");
    test(25, 0xffff, 0, "more than a few");
    test(MANY, UINT64_MAX, 0, "whole numbers");
    test(MANY, 0xffffff, 0x7f0000000000, "addresses of an image");
    test(MANY, 0xff000000ff00, 0x11, "two bytes that are far apart");
    test(MANY, 0x1ff, 0, "nine bits in two passes");
    test(MANY, 0x700, 0, "many equal ones");
    test(MANY, 0, 42, "all equal");
    return done_testing();
}
