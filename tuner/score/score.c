/* score.c: see score.h: a space's range and baseline, a run's ranks, the curve of several runs. */
#include "score/score.h"

#include <math.h>

double score_baseline(const double *values, uint64_t valid, uint64_t m)
{
    double expected = nearbyint((double)m * (double)(valid + 1) / (double)(m + 1));     /* half to even */
    uint64_t rank_from_worst = expected < (double)(valid - 1) ? (uint64_t)expected : valid - 1;
    return values[valid - 1 - rank_from_worst];
}

double score_position_seconds(const struct score_space *s, int position)
{
    return s->from + (s->to - s->from) * position / (SCORE_POSITIONS - 1);
}

/* The published rule: at least two evaluations apart, by a later end; where the space is too small for that, by an
 * earlier start too. */
static void widen(struct score_space *s)
{
    if (s->last < s->first + 2)
        s->last = s->first + 2 < s->valid ? s->first + 2 : s->valid;
    if (s->last < s->first + 2 && s->first > 1)
        s->first--;
}

static status refuse(const char *name, const char *why, struct err *e)
{
    return err_set(e, LATHE_USAGE, "%s: no score can be made of it: %s", name, why);
}

static status reaches_best(const char *name, struct err *e)
{
    return refuse(name, "random search is expected to find the best before the range ends\ngive a lower --cutoff, or a "
                        "larger recording", e);
}

status score_space_init(struct score_space *out, const struct recording_summary *s, double cutoff, const char *name,
                        struct err *e)
{
    *out = (struct score_space){.values = s->sorted, .valid = s->valid, .best = s->best, .mean_cost = s->mean_cost};
    if (s->valid < 2)
        return refuse(name, s->valid ? "only one of its configurations is valid" : "none of them is valid", e);
    if (!(s->median > s->best))
        return refuse(name, "half of its configurations are as good as the best", e);
    if (!(s->median_cost > 0) || !(s->mean_cost > 0))
        return refuse(name, "it has no times of what trying a configuration cost", e);
    out->first = recording_evaluations_to(s, SCORE_START);
    out->last = recording_evaluations_to(s, cutoff);
    if (!out->first)
        out->first = 1;
    widen(out);
    out->from = (double)out->first * s->median_cost;
    out->to = (double)out->last * s->median_cost;
    for (int i = 0; i < SCORE_POSITIONS; i++) {
        double m = nearbyint(score_position_seconds(out, i) / s->mean_cost);
        out->baseline[i] = score_baseline(s->sorted, s->valid, m > 1 ? (uint64_t)m : 1);
    }
    if (!(out->baseline[SCORE_POSITIONS - 1] > out->best) ||
        !(score_baseline(s->sorted, s->valid, out->last) > out->best))
        return reaches_best(name, e);
    return LATHE_OK;
}

uint32_t score_rank(const struct score_space *s, double value)
{
    uint64_t low = 0, high = s->valid;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (s->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

void score_over_time(const struct score_space *s, const struct score_step *steps, int n,
                     uint32_t ranks[SCORE_POSITIONS])
{
    int next = 0;
    for (int i = 0; i < SCORE_POSITIONS; i++) {
        double now = score_position_seconds(s, i);
        while (next < n && steps[next].seconds <= now)
            next++;
        ranks[i] = next ? steps[next - 1].rank : (uint32_t)(s->valid - 1);
    }
}

void score_over_evaluations(const struct score_space *s, const struct score_step *steps, int n, uint32_t *ranks)
{
    int next = 0;
    for (uint64_t m = s->first; m <= s->last; m++) {
        while (next < n && (uint64_t)steps[next].evaluation <= m)
            next++;
        ranks[m - s->first] = next ? steps[next - 1].rank : (uint32_t)(s->valid - 1);
    }
}

double score_curve(const struct score_cell *c, double *values, double scores[SCORE_POSITIONS])
{
    const struct score_space *s = c->space;
    double sum = 0;
    for (int i = 0; i < SCORE_POSITIONS; i++) {
        uint64_t ranks = 0;
        for (int r = 0; r < c->runs; r++)
            ranks += c->ranks[(size_t)r * SCORE_POSITIONS + (size_t)i];
        double value = s->values[(uint64_t)nearbyint((double)ranks / c->runs)];
        if (values)
            values[i] = value;
        scores[i] = (s->baseline[i] - value) / (s->baseline[i] - s->best);
        sum += scores[i];
    }
    return sum / SCORE_POSITIONS;
}
