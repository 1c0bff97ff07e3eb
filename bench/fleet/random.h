/*
 * random.h - pseudo-random numbers that a seed repeats: uniform, exponential,
 * and the ranks of Zipf's law.
 */
#ifndef SYM_BENCH_FLEET_RANDOM_H
#define SYM_BENCH_FLEET_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Spreads the bits of a number over a word (Steele, Lea, Flood: SplitMix). */
static inline uint64_t
random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}


typedef struct {
    uint64_t state;
} random_t;

static inline uint64_t
random_next(random_t *r)
{
    r->state += UINT64_C(0x9E3779B97F4A7C15);
    return random_mix(r->state);
}


/* In [0, 1). */
static inline double
random_unit(random_t *r)
{
    return (double) (random_next(r) >> 11) * 0x1p-53;
}


static inline uint32_t
random_below(random_t *r, uint32_t n)
{
    return (uint32_t) ((random_next(r) >> 32) * n >> 32);
}


/* A time between two events of a rate. */
static inline double
random_wait(random_t *r, double rate)
{
    return -log1p(-random_unit(r)) / rate;
}


/*
 * Ranks 0 to n - 1, where rank k has a probability proportional to
 * 1 / (k + 1)^s: rejection-inversion (Hörmann, Derflinger, 1996).
 */
typedef struct {
    double s, n, first, last, accept;
    double sum; /* of 1 / (k + 1)^s */
} zipf_t;

/* The integral of x^-s, from 1 to x. */
static inline double
zipf_integral(double s, double x)
{
    double t = log(x);

    return fabs(1 - s) < 1e-9 ? t : expm1((1 - s) * t) / (1 - s);
}


static inline double
zipf_integral_inverse(double s, double y)
{
    return fabs(1 - s) < 1e-9 ? exp(y) : exp(log1p(y * (1 - s)) / (1 - s));
}


static inline zipf_t
zipf_create(uint32_t n, double s)
{
    zipf_t z = { .s = s, .n = n };

    z.first = zipf_integral(s, 1.5) - 1;
    z.last = zipf_integral(s, n + 0.5);
    z.accept = 2 - zipf_integral_inverse(s, zipf_integral(s, 2.5) - pow(2, -s));
    for (uint32_t k = n; k > 0; k--) {
        z.sum += pow(k, -s);
    }

    return z;
}


static inline uint32_t
zipf_next(const zipf_t *z, random_t *r)
{
    for (;;) {
        double u = z->last + random_unit(r) * (z->first - z->last);
        double x = zipf_integral_inverse(z->s, u);
        double k = floor(x + 0.5);

        k = k < 1 ? 1 : k > z->n ? z->n : k;
        if (k - x <= z->accept
            || u >= zipf_integral(z->s, k + 0.5) - pow(k, -z->s)) {
            return (uint32_t) k - 1;
        }
    }
}

#endif
