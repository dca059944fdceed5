/* rng.h: the seeded generator of searches: xoshiro256** (Blackman, Vigna, 2018) seeded by splitmix64. The same seed
 * gives the same numbers on every machine. Not for test data on devices: see kernels/common/support.cu. */
#ifndef LATHE_BASE_RNG_H
#define LATHE_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n);      /* uniform in [0, n), unbiased; n > 0 */
double rng_unit(struct rng *r);                     /* uniform in [0, 1), 53 bits */
double rng_normal(struct rng *r);                   /* mean 0, deviation 1 */

uint64_t splitmix64(uint64_t x);                    /* one step of the hash on its own */

#endif
