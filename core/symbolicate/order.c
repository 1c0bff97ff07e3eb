#include "symbolicate/order.h"


/* Up to this number, insertion sort is faster than distribution (measured). */
#define INSERT_MAX 40

static void
insert(uint64_t *keys, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        uint32_t j = i;

        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
        }
        keys[j] = key;
    }
}


/* One stable pass over the byte at `shift`. */
static void
distribute(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift)
{
    uint32_t place[256] = { 0 };
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        place[from[i] >> shift & 0xff]++;
    }

    for (unsigned digit = 0; digit < 256; digit++) {
        uint32_t count = place[digit];

        place[digit] = sum;
        sum += count;
    }

    for (uint32_t i = 0; i < n; i++) {
        to[place[from[i] >> shift & 0xff]++] = from[i];
    }
}


const uint64_t *
sym_order_sort(uint64_t *keys, uint64_t *spare, uint32_t n)
{
    uint64_t varies = 0;

    if (n <= INSERT_MAX) {
        insert(keys, n);
        return keys;
    }

    for (uint32_t i = 1; i < n; i++) {
        varies |= keys[i] ^ keys[0];
    }

    /* keys are already in the order of their index, and a byte that all keys
       share does not matter */
    for (unsigned shift = SYM_ORDER_PLACE_BITS; shift < 64; shift += 8) {
        if ((varies >> shift & 0xff) != 0) {
            uint64_t *swap = spare;

            distribute(keys, spare, n, shift);
            spare = keys;
            keys = swap;
        }
    }

    return keys;
}
