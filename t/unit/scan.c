/*
 * The searches of symcache/scan.h, compared with loops over single numbers:
 * every length of a column, positions near the end of the readable bytes,
 * numbers of all widths.  scan_plain.c does the same for machines without SSE2.
 */
#include "artifacts/symcache/read/scan.h"

#include <stdlib.h>

#include "artifacts/symcache/read/decode.h"
#include "tap.h"

#define ROUNDS 20000
#define NUMBERS 32

static uint64_t state = 88172645463325252u;

static uint32_t
draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t) (state >> 32) % below;
}


/* Random bytes, as many as a search may read: sanitizers and valgrind see any
 * read after them. */
static uint8_t *
column(void)
{
    uint8_t *p = malloc(SYM_SCAN_BYTES);

    for (size_t i = 0; p != NULL && i < SYM_SCAN_BYTES; i++) {
        p[i] = (uint8_t) (draw(3) == 0 ? 0 : draw(256));
    }

    return p;
}


static unsigned
deltas_by_one(const uint8_t *p, unsigned n, unsigned bits, uint32_t most)
{
    uint64_t sum = 0;
    unsigned i = 0;

    while (i < n && (sum += sym_column(p, i, bits / 8)) <= most) {
        i++;
    }

    return i;
}


static void
test_deltas(unsigned bits)
{
    unsigned wrong = 0;

    for (int k = 0; k < ROUNDS; k++) {
        unsigned n = draw(NUMBERS);
        uint8_t *p = column();
        uint32_t most = draw((n + 2u) << bits);

        most = draw(8) == 0 || most > SYM_SCAN_MOST ? SYM_SCAN_MOST : most;

        wrong += sym_scan_deltas(p, n, bits, most)
                 != deltas_by_one(p, n, bits, most);
        free(p);
    }

    is_u64(wrong, 0, bits == 8 ? "deltas of a byte" : "deltas of two bytes");
}


static void
test_exceptions(void)
{
    unsigned wrong = 0;

    for (int k = 0; k < ROUNDS; k++) {
        unsigned n = draw(NUMBERS + 1), far, foreign, lines = 0, files = 0;
        uint8_t *p = column();

        for (size_t i = 0; i < NUMBERS; i++) {
            p[i] = (uint8_t) (draw(2) == 0 ? 252 + draw(4) : p[i]);
            lines += i < n && p[i] >= SYM_LINE_FAR;
            files += i < n && p[i] == SYM_LINE_FOREIGN;
        }

        sym_scan_bits(sym_scan_exceptions(p), n, &far, &foreign);
        wrong += far != lines || foreign != files;
        free(p);
    }

    is_u64(wrong, 0, "exceptions that have a line, and a file");
}


int
main(void)
{
    test_deltas(8);
    test_deltas(16);
    test_exceptions();
    return done_testing();
}
