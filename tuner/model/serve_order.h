/* Which of several configurations comes first for a size on a device. In liblathe and, as this text, in every export as
 * C: C11 with <stdint.h> and <string.h>. */

/* Ranks: a device of this name, one of this capability, other GPUs (of NEWEST - sm), no GPU, the plain kernel. */
enum { LATHE_SAME = 1, LATHE_OWN, LATHE_NEWEST = 10000, LATHE_NO_GPU, LATHE_PLAIN };

/* sm: the compute capability that the configuration was tuned on, 90; 0: no GPU. device: of that name. here, name: the
 * device that it is to run on. The smaller, the better. */
static int lathe_rank(int fallback, int sm, const char *device, int here, const char *name)
{
    if (fallback) return LATHE_PLAIN;
    if (sm == here) return strcmp(device, name) ? LATHE_OWN : LATHE_SAME;
    return sm ? LATHE_NEWEST - sm : LATHE_NO_GPU;
}

/* Whether a cubin for a capability runs here: on it and on later ones of its generation, or (exact) on it alone. */
static int lathe_cubin_runs(int sm, int exact, int here)
{
    return exact ? here == sm : here / 10 == sm / 10 && here >= sm;
}

/* How far a size is from the one tuned: the product of the dimensions' ratios, each at least 1. Its logarithm is the
 * sum of |log2 ratio|. */
static double lathe_distance(const int64_t *tuned, const int64_t *size, int dims)
{
    double far = 1;
    for (int i = 0; i < dims; i++)
        far *= size[i] > tuned[i] ? (double)size[i] / (double)tuned[i] : (double)tuned[i] / (double)size[i];
    return far;
}

static int lathe_group(int rank)
{
    return rank <= LATHE_OWN ? LATHE_OWN : rank < LATHE_NO_GPU ? LATHE_NEWEST : rank;
}

/* Whether one comes before another: those of the device's own capability before others, the fallback last; among them
 * the nearest size, then a device of the same name, or the newest capability. */
static int lathe_before(int rank_a, double far_a, int rank_b, double far_b)
{
    const int group_a = lathe_group(rank_a), group_b = lathe_group(rank_b);
    if (group_a != group_b) return group_a < group_b;
    if (far_a < far_b || far_a > far_b) return far_a < far_b;
    return rank_a < rank_b;
}
