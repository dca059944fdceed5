/* export_sizes.c: the sizes at which an exported file tests itself: what its configuration serves, as the plan says,
 * small enough for a plain loop on the CPU. The same for the same configuration.
 *
 * A size is drawn at random from what a kind of size is made of, until one is served. Kinds: ragged ones, whose
 * dimensions are no multiples of a tile's (but of 4 or 8 where a constraint wants that); round ones; ones with one
 * dimension as large as it was tuned, which a constraint may want to be; and larger ones of several tiles. Where none is
 * served, as by a kernel that was compiled for one size, it is the size tuned. */
#include "base/mem.h"
#include "base/rng.h"
#include "export/internal.h"
#include "model/serve.h"
#include <string.h>

enum { DRAWS = 2000 };      /* until a kind of size is given up */
#define MOST_LOOP 2e8       /* the product of all dimensions */
static const int64_t MOST_BYTES = (int64_t)1 << 30;

/* Whether the configuration serves the size, with no more than `most_bytes` of memory. */
static bool serves(const struct exporter *x, const int64_t *dim, int64_t most_bytes)
{
    struct problem at = *x->p;
    struct dim dims[EXPORT_MAX_DIMS];
    struct plan plan;
    struct err ignored;
    for (int d = 0; d < at.ndims; d++) dims[d] = (struct dim){at.dims[d].name, dim[d]};
    at.dims = dims;
    if (serve_plan(&at, x->k, x->slots, x->in->target, &plan, &ignored)) return false;
    bool can = plan_bytes(&plan) <= most_bytes;
    plan_free(&plan);
    return can;
}

struct kind {
    int64_t values[12];         /* of a dimension; 0: no more */
    double most;                /* the product of all dimensions: what the loop on the CPU does */
    bool tuned;                 /* one dimension is as it was tuned */
};

/* False if no size of the kind is served. */
static bool draw(const struct exporter *x, const struct kind *kind, struct rng *r, int64_t *out)
{
    int n = 0;
    while (n < 12 && kind->values[n]) n++;
    for (int i = 0; i < DRAWS; i++) {
        double product = 1;
        int as_tuned = kind->tuned ? x->p->ndims - 1 - i % x->p->ndims : -1;        /* a GEMM's last one is K */
        for (int d = 0; d < x->p->ndims; d++) {
            out[d] = d == as_tuned ? x->p->dims[d].value : kind->values[rng_below(r, (uint64_t)n)];
            product *= (double)out[d];
        }
        if (product <= kind->most && serves(x, out, MOST_BYTES)) return true;
    }
    return false;
}

int export_sizes(const struct exporter *x, int64_t (*out)[EXPORT_MAX_DIMS])
{
    static const struct kind kinds[EXPORT_SIZES] = {
        {{1, 2, 3, 4, 5, 7, 8, 12, 16}, 1e4, false},
        {{17, 33, 47, 65, 130, 263, 515}, 4e6, false},
        {{20, 36, 60, 100, 132, 260, 1028, 2060, 4108}, 2e7, false},
        {{24, 40, 72, 136, 264, 520, 1032, 2056, 4104, 8216}, 4e7, false},
        {{64, 128, 256, 512, 1024, 2048}, 2e7, false},
        {{4, 17, 36, 40, 68, 132}, 4e7, true},
        {{132, 264, 300, 520, 776, 1032, 2056}, MOST_LOOP, false},
        {{256, 384, 512, 1024, 2048, 4096, 8192}, MOST_LOOP, false},
    };
    struct rng r;
    int n = 0;
    rng_seed(&r, 1);
    for (int i = 0; i < EXPORT_SIZES; i++) {
        bool another = draw(x, &kinds[i], &r, out[n]);
        for (int before = 0; before < n && another; before++)
            another = memcmp(out[before], out[n], (size_t)x->p->ndims * sizeof *out[n]) != 0;
        n += another;
    }
    if (n) return n;
    double product = 1;
    for (int d = 0; d < x->p->ndims; d++) product *= (double)(out[0][d] = x->p->dims[d].value);
    return product <= MOST_LOOP && serves(x, out[0], MOST_BYTES);
}
