/* score_resample.c: what else the runs could have been: the bootstrap's interval, the permutation test; and the median,
 * which like these needs the runs one by one. */
#include "score/score.h"

#include "base/mem.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 159489, STRIDE = 10, TESTED = SCORE_POSITIONS / STRIDE };

static int by_size(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

static int by_rank(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return (a > b) - (a < b);
}

double score_of_evaluations(const struct score_space *s, const uint32_t *ranks, int runs)
{
    size_t width = (size_t)(s->last - s->first + 1);
    uint32_t *sorted = mem_alloc((size_t)runs * sizeof *sorted);
    double sum = 0;
    for (size_t i = 0; i < width; i++) {
        for (int r = 0; r < runs; r++)
            sorted[r] = ranks[(size_t)r * width + i];
        qsort(sorted, (size_t)runs, sizeof *sorted, by_rank);
        double median = ((double)sorted[(runs - 1) / 2] + sorted[runs / 2]) / 2;
        double baseline = score_baseline(s->values, s->valid, s->first + i);
        sum += (baseline - s->values[(uint64_t)nearbyint(median)]) / (baseline - s->best);
    }
    mem_free(sorted);
    return sum / (double)width;
}

/* The mean score of runs whose ranks add up to `sums`, at every stride-th position. */
static double score_of_sums(const struct score_space *s, const uint64_t *sums, int runs, int stride)
{
    double sum = 0;
    for (int i = 0; i < SCORE_POSITIONS / stride; i++) {
        double value = s->values[(uint64_t)nearbyint((double)sums[i] / runs)];
        sum += (s->baseline[i * stride] - value) / (s->baseline[i * stride] - s->best);
    }
    return sum * stride / SCORE_POSITIONS;
}

static double resampled(const struct score_cell *c, struct rng *rng)
{
    uint64_t sums[SCORE_POSITIONS] = {0};
    for (int r = 0; r < c->runs; r++) {
        const uint32_t *run = c->ranks + rng_below(rng, (uint64_t)c->runs) * SCORE_POSITIONS;
        for (int i = 0; i < SCORE_POSITIONS; i++)
            sums[i] += run[i];
    }
    return score_of_sums(c->space, sums, c->runs, 1);
}

static void interval(const struct score_cell *cells, int nspaces, double confidence, int resamples,
                     struct score_summary *out)
{
    struct rng rng;
    out->low = out->high = NAN;
    if (!resamples)
        return;
    double *scores = mem_zalloc((size_t)resamples, sizeof *scores);
    rng_seed(&rng, SEED);
    for (int k = 0; k < resamples; k++) {
        for (int s = 0; s < nspaces; s++)
            scores[k] += resampled(&cells[s], &rng);
        scores[k] /= nspaces;
    }
    qsort(scores, (size_t)resamples, sizeof *scores, by_size);
    int tail = (int)floor((1 - confidence) / 2 * resamples);
    out->low = scores[tail];
    out->high = scores[resamples - 1 - tail];
    mem_free(scores);
}

void score_summarise(const struct score_cell *cells, int nspaces, double confidence, int resamples,
                     double curve[SCORE_POSITIONS], struct score_summary *out)
{
    double own[SCORE_POSITIONS], squares = 0;
    *out = (struct score_summary){0};
    memset(curve, 0, SCORE_POSITIONS * sizeof *curve);
    for (int s = 0; s < nspaces; s++) {
        score_curve(&cells[s], NULL, own);
        for (int i = 0; i < SCORE_POSITIONS; i++)
            curve[i] += own[i];
    }
    for (int i = 0; i < SCORE_POSITIONS; i++)
        out->mean += (curve[i] /= nspaces);
    out->mean /= SCORE_POSITIONS;
    for (int i = 0; i < SCORE_POSITIONS; i++)
        squares += (curve[i] - out->mean) * (curve[i] - out->mean);
    out->deviation = sqrt(squares / SCORE_POSITIONS);
    interval(cells, nspaces, confidence, resamples, out);
}

/* Permutations ---------------------------------------------------------------------------------------------------*/

/* The runs of both strategies on one space, at the positions that are tested. */
struct pool {
    const struct score_space *space;
    int runs, first;            /* of both; of the first strategy */
    uint32_t *ranks;            /* run r's: r * TESTED */
    int *order;                 /* a permutation of the runs: the first ones count as the first strategy's */
    uint64_t total[TESTED];
};

static void gather(struct pool *p, const struct score_cell *a, const struct score_cell *b)
{
    *p = (struct pool){.space = a->space, .runs = a->runs + b->runs, .first = a->runs};
    p->ranks = mem_alloc((size_t)p->runs * TESTED * sizeof *p->ranks);
    p->order = mem_alloc((size_t)p->runs * sizeof *p->order);
    for (int r = 0; r < p->runs; r++) {
        const uint32_t *run = r < a->runs ? a->ranks + (size_t)r * SCORE_POSITIONS
                                          : b->ranks + (size_t)(r - a->runs) * SCORE_POSITIONS;
        p->order[r] = r;
        for (int i = 0; i < TESTED; i++)
            p->total[i] += p->ranks[(size_t)r * TESTED + (size_t)i] = run[i * STRIDE];
    }
}

static void deal(struct pool *p, struct rng *rng)
{
    for (int r = 0; r < p->first; r++) {
        int other = r + (int)rng_below(rng, (uint64_t)(p->runs - r));
        int kept = p->order[r];
        p->order[r] = p->order[other];
        p->order[other] = kept;
    }
}

static double difference(const struct pool *p)
{
    uint64_t sums[TESTED] = {0}, rest[TESTED];
    for (int r = 0; r < p->first; r++) {
        const uint32_t *run = p->ranks + (size_t)p->order[r] * TESTED;
        for (int i = 0; i < TESTED; i++)
            sums[i] += run[i];
    }
    for (int i = 0; i < TESTED; i++)
        rest[i] = p->total[i] - sums[i];
    return score_of_sums(p->space, sums, p->first, STRIDE) -
           score_of_sums(p->space, rest, p->runs - p->first, STRIDE);
}

double score_permutation(const struct score_cell *a, const struct score_cell *b, int nspaces, int permutations)
{
    struct pool *pools = mem_zalloc((size_t)nspaces, sizeof *pools);
    struct rng rng;
    double seen = 0;
    int as_far = 1;             /* the runs as they are */
    rng_seed(&rng, SEED);
    for (int s = 0; s < nspaces; s++) {
        gather(&pools[s], &a[s], &b[s]);
        seen += difference(&pools[s]);
    }
    for (int k = 0; k < permutations; k++) {
        double dealt = 0;
        for (int s = 0; s < nspaces; s++) {
            deal(&pools[s], &rng);
            dealt += difference(&pools[s]);
        }
        as_far += fabs(dealt) >= fabs(seen) * (1 - 1e-12);     /* the same sums, added in another order */
    }
    for (int s = 0; s < nspaces; s++) {
        mem_free(pools[s].ranks);
        mem_free(pools[s].order);
    }
    mem_free(pools);
    return (double)as_far / (permutations + 1);
}

struct placed {
    double p;
    int at;
};

static int by_p(const void *pa, const void *pb)
{
    const struct placed *a = pa, *b = pb;
    return a->p != b->p ? (a->p > b->p) - (a->p < b->p) : a->at - b->at;
}

void score_holm(double *p, int n)
{
    struct placed *sorted = mem_alloc((size_t)n * sizeof *sorted);
    double least = 0;
    for (int i = 0; i < n; i++)
        sorted[i] = (struct placed){p[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_p);
    for (int i = 0; i < n; i++) {
        double adjusted = sorted[i].p * (n - i);
        least = adjusted > least ? adjusted : least;
        p[sorted[i].at] = least < 1 ? least : 1;
    }
    mem_free(sorted);
}
