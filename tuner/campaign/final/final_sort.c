/* final_sort.c: the order of a final's entries.
 *
 * By the cold median, but medians closer than TIED say nothing of which one is faster: the null test of
 * scripts/check_repeatability allows one configuration under two names as much. So from the quickest on, those within
 * TIED of the first of them are placed by the geometric mean of both regimes, where both were measured. Where energy is
 * looked for, by that alone. Those refused, and those not measured, come last. */
#include "campaign/final/final_impl.h"
#include <math.h>
#include <stdlib.h>

static const double TIED = 0.005;

static int by_figure(const struct leader *x, const struct leader *y, double figure_x, double figure_y)
{
    if (x->refused != y->refused) return x->refused ? 1 : -1;
    if (isfinite(figure_x) != isfinite(figure_y)) return isfinite(figure_x) ? -1 : 1;
    if (figure_x < figure_y || figure_x > figure_y) return figure_x < figure_y ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_cold(const void *a, const void *b)
{
    const struct leader *x = ((const struct entry *)a)->leader, *y = ((const struct entry *)b)->leader;
    return by_figure(x, y, x->cold_ms, y->cold_ms);
}

static int by_both(const void *a, const void *b)
{
    const struct leader *x = ((const struct entry *)a)->leader, *y = ((const struct entry *)b)->leader;
    return by_figure(x, y, x->cold_ms * x->sustained_ms, y->cold_ms * y->sustained_ms);
}

static int by_energy(const void *a, const void *b)
{
    const struct leader *x = ((const struct entry *)a)->leader, *y = ((const struct entry *)b)->leader;
    return by_figure(x, y, x->energy_mj, y->energy_mj);
}

static bool both_measured(const struct entry *list, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(list[i].leader->cold_ms) || !isfinite(list[i].leader->sustained_ms)) return false;
    return true;
}

void final_sort(struct entry *list, int n, enum objective o)
{
    if (n < 2) return;
    qsort(list, (size_t)n, sizeof *list, o == OBJECTIVE_ENERGY ? by_energy : by_cold);
    for (int first = 0, end; o == OBJECTIVE_TIME && first < n; first = end) {
        const struct leader *l = list[first].leader;
        for (end = first + 1; end < n && !l->refused && !list[end].leader->refused &&
                              list[end].leader->cold_ms <= (1 + TIED) * l->cold_ms;)
            end++;
        if (both_measured(list + first, end - first)) qsort(list + first, (size_t)(end - first), sizeof *list, by_both);
    }
}
