/* rng.c: xoshiro256** by David Blackman and Sebastiano Vigna (2018), seeded by splitmix64.
 *
 * Invariant: the same seed gives the same numbers everywhere. So nothing here calls libm, except for functions whose
 * result IEEE 754 fixes (sqrt, frexp), and products are not fused with sums. */
#include "base/rng.h"

#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF                        /* gcc does not contract in standard C mode */
#endif

static const uint64_t golden = 0x9E3779B97F4A7C15u;

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t splitmix64(uint64_t x)
{
    return mix(x + golden);
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (uint64_t i = 0; i < 4; i++)
        r->s[i] = splitmix64(seed + i * golden);
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t uneven = (0 - n) % n;                  /* 2^64 mod n: that many numbers would favour small results */
    uint64_t x;
    do
        x = rng_next(r);
    while (x < uneven);
    return x % n;
}

double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* Natural logarithm of x > 0 from sums and products only: ln(m 2^e) = e ln 2 + 2 atanh((m - 1) / (m + 1)), with m in
 * [sqrt(1/2), sqrt(2)), so that the series falls by more than 33 a term. */
static double plain_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m = m * 2;
        e--;
    }
    double t = (m - 1) / (m + 1), square = t * t, power = t, sum = 0;
    for (int k = 1; k < 25; k += 2) {
        sum = sum + power / k;
        power = power * square;
    }
    return e * 0.69314718055994531 + 2 * sum;
}

/* Marsaglia's polar method; the second number of a pair is dropped, so that the state is the whole story. */
double rng_normal(struct rng *r)
{
    double u, v, s;
    do {
        u = 2 * rng_unit(r) - 1;
        v = 2 * rng_unit(r) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * plain_log(s) / s);
}
