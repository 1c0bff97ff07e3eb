/*
 * Compressed rows are restored exactly: all widths, also if a row needs more
 * than 64 bits; and rows that differ little take fewer bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "artifacts/symcache/write/squeeze.h"
#include "tap.h"

#define ROWS 40

static uint64_t state = 1;

static uint32_t
random32(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 32);
}


/* Numbers of the given number of bits; is_like: like those of the first row,
 * except for the lowest bits. */
static void
fill(sym_row_t *rows, const unsigned *bits, unsigned like)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
            uint32_t mask = (uint32_t) (((uint64_t) 1 << bits[k]) - 1);

            rows[i].v[k] = random32() & mask;
            if (k != 0 && i != 0 && bits[k] > like) {
                uint32_t low = ((uint32_t) 1 << like) - 1;

                rows[i].v[k] = (rows[0].v[k] & ~low) | (rows[i].v[k] & low);
            }
        }
    }
}


/* Bytes that n rows take; SIZE_MAX: they are not restored. */
static size_t
squeezed(const sym_row_t *rows, size_t n)
{
    uint8_t *room = malloc(SYM_SQUEEZED_MAX(ROWS));
    sym_row_t back[ROWS];
    size_t len = (size_t) (sym_squeeze(room, rows, n) - room);
    const uint8_t *end = sym_unsqueeze(room, back, n);
    bool same = end == room + len
                && (n == 0 || memcmp(back, rows, n * sizeof(*rows)) == 0);

    free(room);
    return same ? len : SIZE_MAX;
}


int
main(void)
{
    const unsigned like[SYM_ROW_NUMBERS] = { 8, 24, 16, 24 };
    sym_row_t rows[ROWS];
    unsigned wrong = 0;

    for (unsigned round = 0; round < 20000; round++) {
        unsigned bits[SYM_ROW_NUMBERS];

        for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
            bits[k] = random32() % 33;
        }
        fill(rows, bits, round % 3 == 0 ? 4 : 32);
        wrong += squeezed(rows, round % (ROWS + 1)) == SIZE_MAX;
    }
    is_u64(wrong, 0, "rows are restored");

    fill(rows, like, 5);
    /* 16 bytes once; then 8 + 3 * 5 bits a row */
    ok(squeezed(rows, ROWS) <= 16 + ROWS * 3, "alike they take three bytes");
    return done_testing();
}
