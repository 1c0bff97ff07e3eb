#include "artifacts/symcache/write/dictionary.h"

#include <stdlib.h>

/* Measured on names of C++ and Rust modules.  Windows of 64 bytes pack 7 %
 * worse than 128.  Grams of 4 or 8 pack some percent worse than 6. */
#define WINDOW 128
#define GRAM 6

/* Bytes of names for each byte of the dictionary.  With fewer, the dictionary
   would cost more than it saves. */
#define SAMPLE_PER_DICT_BYTE 16

/* The counts stay in the cache of a core. */
#define COUNT_BITS_MAX 16

/* With more samples than this, only every second to fifth gram is counted,
 * because frequent grams are still found. */
#define GRAMS_ALL ((size_t) 64 << 10)
#define STEP_MAX 5

/* A window is used if the sum of its grams' worths is at least this part of
 * their number. */
#define WORTH_SHARE 4

/* Reads GRAM_READ bytes and uses GRAM of them.  A copy of exactly six bytes
 * would stall on its way through the stack. */
#define GRAM_READ 8

static inline uint32_t
gram_hash(const uint8_t *p, unsigned bits)
{
    uint64_t v;

    memcpy(&v, p, GRAM_READ);
    v <<= 8 * (GRAM_READ - GRAM); /* little endian: drops the last bytes */
    return (uint32_t) (v * 0x9e3779b97f4a7c15u >> (64 - bits));
}


/* Frequent strings have a high worth, unique ones have none. */
static inline uint32_t
worth(uint32_t count)
{
    return count > 1 ? count : 0;
}


/* Statistics of the samples' grams, one of every `step`. */
typedef struct {
    uint16_t *counts; /* 1 << bits */
    unsigned bits;
    size_t step;
    uint32_t *worths; /* worths of one part of the samples */
} grams_t;


static inline uint16_t *
count_of(const grams_t *g, const uint8_t *p)
{
    return &g->counts[gram_hash(p, g->bits)];
}


_Static_assert((WINDOW - GRAM_READ) % 60 == 0 && STEP_MAX < 7,
               "each step divides it, or a window would end behind its grams");

/* The window in [p, p + len) that covers most.  len: no window is good
   enough. */
static size_t
best_window(const grams_t *g, const uint8_t *p, size_t len)
{
    size_t grams = (WINDOW - GRAM_READ) / g->step + 1, best = len;
    uint64_t sum = 0, best_sum = grams / WORTH_SHARE;

    for (size_t n = 0, i = 0; i + GRAM_READ <= len; n++, i += g->step) {
        g->worths[n] = worth(*count_of(g, p + i));
        sum += g->worths[n];

        if (n >= grams) {
            sum -= g->worths[n - grams];
        }

        if (n + 1 >= grams && sum > best_sum) {
            best_sum = sum;
            best = (n + 1 - grams) * g->step;
        }
    }

    return best;
}


static void
count_grams(const grams_t *g, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i + GRAM_READ <= len; i += g->step) {
        uint16_t *count = count_of(g, p + i);

        *count = (uint16_t) (*count + (*count != UINT16_MAX));
    }
}


/* Takes the best window of each part of the samples.  All grams were counted
   before. */
static void
choose_windows(sym_dict_t *dict, const grams_t *g, const uint8_t *samples,
               size_t parts, size_t part)
{
    for (size_t n = 0; n < parts; n++) {
        const uint8_t *p = samples + n * part;
        size_t at = best_window(g, p, part);

        if (at == part) {
            continue;
        }

        memcpy(dict->bytes + dict->len, p + at, WINDOW);
        dict->len += WINDOW;

        for (size_t i = 0; i + GRAM_READ <= WINDOW; i++) {
            *count_of(g, p + at + i) = 0; /* covered */
        }
    }
}


bool
sym_dict_train(sym_dict_t *dict, const uint8_t *samples, size_t len)
{
    size_t want = len / SAMPLE_PER_DICT_BYTE, parts;
    const size_t step = 1 + len / GRAMS_ALL;
    grams_t g = { .bits = 10, .step = step < STEP_MAX ? step : STEP_MAX };
    bool has_memory;

    dict->len = 0;
    want = want > SYM_DICT_MAX ? SYM_DICT_MAX : want;
    parts = want / WINDOW;
    if (parts == 0) {
        sym_dict_index(dict);
        return true;
    }

    while (g.bits < COUNT_BITS_MAX && (size_t) 1 << g.bits < len / g.step) {
        g.bits++;
    }

    g.counts = calloc((size_t) 1 << g.bits, sizeof(*g.counts));
    g.worths = malloc(len / parts * sizeof(*g.worths));
    has_memory = g.counts != NULL && g.worths != NULL;

    if (has_memory) {
        count_grams(&g, samples, len);
        choose_windows(dict, &g, samples, parts, len / parts);
        sym_dict_index(dict);
    }

    free(g.counts);
    free(g.worths);
    return has_memory;
}
