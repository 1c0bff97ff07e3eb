/*
 * The word-wise searches of symcache/scan.h against loops over single numbers:
 * every length of a column, places near the end of what can be read, numbers
 * of all widths.
 */
#include "symcache/scan.h"

#include <stdlib.h>

#include "symcache/decode.h"
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


/* Random bytes, and the seven behind them that words run over: sanitizers and
 * valgrind see what would be read behind these. */
static uint8_t *
column(size_t len)
{
    uint8_t *p = malloc(len + 7);

    for (size_t i = 0; p != NULL && i < len + 7; i++) {
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
        uint8_t *p = column((size_t) n * bits / 8);
        uint32_t most = draw(8) == 0 ? UINT32_MAX : draw((n + 2u) << bits);

        wrong += sym_scan_deltas(p, n, bits, most)
                 != deltas_by_one(p, n, bits, most);
        free(p);
    }

    is_u64(wrong, 0, bits == 8 ? "deltas of a byte" : "deltas of two bytes");
}


static unsigned
exceptions_by_one(const uint8_t *codes, unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++) {
        sum += codes[i] >= SYM_LINE_FAR ? 1 : 0;
        sum += codes[i] == SYM_LINE_FOREIGN ? 1 : 0;
    }

    return sum;
}


static void
test_exceptions(void)
{
    unsigned wrong = 0;

    for (int k = 0; k < ROUNDS; k++) {
        unsigned n = draw(NUMBERS + 1);
        uint8_t *p = column(n);

        for (size_t i = 0; i < n; i++) {
            p[i] = (uint8_t) (draw(2) == 0 ? 252 + draw(4) : p[i]);
        }

        wrong += sym_scan_exceptions(p, n) != exceptions_by_one(p, n);
        free(p);
    }

    is_u64(wrong, 0, "numbers of exceptions");
}


static const uint8_t *
ulebs_by_one(const uint8_t *p, const uint8_t *end, unsigned n)
{
    for (; n != 0 && p < end; p++) {
        n -= *p < 0x80;
    }

    return p;
}


static void
test_ulebs(void)
{
    unsigned wrong = 0;

    for (int k = 0; k < ROUNDS; k++) {
        size_t len = draw(100);
        uint8_t *p = column(len);
        unsigned n = draw(2 * NUMBERS + 1);

        wrong += sym_scan_ulebs(p, p + len, n) != ulebs_by_one(p, p + len, n);
        free(p);
    }

    is_u64(wrong, 0, "LEB128 stepped over, also where they end too soon");
}


int
main(void)
{
    test_deltas(8);
    test_deltas(16);
    test_exceptions();
    test_ulebs();
    return done_testing();
}
