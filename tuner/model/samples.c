/* samples.c: the median of a trial's times and how far it can be trusted. No distribution is assumed.
 *
 * For n independent samples the number that lies below the true median is binomial(n, 1/2). So the interval between the
 * l-th smallest and the l-th largest sample covers the median with probability 1 - 2 P(B <= l - 1); l is taken as large
 * as keeps that at 0.95 or more. See H. A. David and H. N. Nagaraja, "Order Statistics", 3rd edition (Wiley, 2003),
 * section 7.1. Below 6 samples no such interval exists: low and high are then the extremes. */
#include "model/result.h"

#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest l >= 1 with P(B <= l - 1) <= 0.025, or 1 where there is none. Sums in logarithms: 2^-n underflows. */
static int interval_rank(int n)
{
    int sign;
    double below = 0, log_all = lgamma_r(n + 1.0, &sign);
    for (int k = 0; k < n / 2; k++) {
        below += exp(log_all - lgamma_r(k + 1.0, &sign) - lgamma_r(n - k + 1.0, &sign) - n * log(2));
        if (!(below <= 0.025))
            return k > 0 ? k : 1;
    }
    return n / 2 > 0 ? n / 2 : 1;
}

int samples_throttled(const struct samples *s)
{
    int n = 0;
    for (int i = 0; i < s->count && s->throttled; i++)
        n += s->throttled[i];
    return n;
}

void samples_add(struct samples *s, double ms, bool throttled)
{
    int cap = s->cap;
    MEM_GROW(s->ms, s->count, cap);
    if ((throttled && !s->throttled) || (s->throttled && cap != s->cap)) {
        bool *marks = mem_zalloc((size_t)cap, sizeof *marks);
        for (int i = 0; i < s->count && s->throttled; i++)
            marks[i] = s->throttled[i];
        mem_free(s->throttled);
        s->throttled = marks;
    }
    s->cap = cap;
    if (s->throttled)
        s->throttled[s->count] = throttled;
    s->ms[s->count++] = ms;
}

void samples_append(struct samples *to, const struct samples *from)
{
    for (int i = 0; i < from->count; i++)
        samples_add(to, from->ms[i], from->throttled && from->throttled[i]);
}

void samples_free(struct samples *s)
{
    mem_free(s->ms);
    mem_free(s->throttled);
    s->ms = NULL;
    s->throttled = NULL;
    s->count = s->cap = 0;
}

void samples_summarise(struct samples *s)
{
    s->median = s->low = s->high = NAN;
    for (int i = 0; i < s->count; i++)
        if (isnan(s->ms[i]))
            return;                                 /* no order, so no median */
    if (s->count <= 0)
        return;
    size_t n = 0;
    bool all = s->count - samples_throttled(s) < SAMPLES_ENOUGH;
    double *sorted = mem_alloc((size_t)s->count * sizeof *sorted);
    for (int i = 0; i < s->count; i++)
        if (all || !s->throttled || !s->throttled[i])
            sorted[n++] = s->ms[i];
    qsort(sorted, n, sizeof *sorted, by_size);
    s->median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    size_t l = (size_t)interval_rank((int)n);
    s->low = sorted[l - 1];
    s->high = sorted[n - l];
    mem_free(sorted);
}
