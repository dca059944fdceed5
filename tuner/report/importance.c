/* importance.c: see importance.h. This file grows the trees; importance_anova.c takes them apart. */
#include "report/importance_impl.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_ROWS = 3 };

struct grower {
    const struct importance_data *d;
    struct rng rng;
    struct leaves *leaves;
    int *rows, *spare;          /* those of a node side by side */
    bool *tried;                /* one a parameter */
};

/* Sums of a node's rows that have a level. */
struct level_sum {
    double n, sum, mean;
    int level;
};

static int by_mean(const void *a, const void *b)
{
    const struct level_sum *x = a, *y = b;
    return x->mean != y->mean ? (x->mean < y->mean ? -1 : 1) : x->level - y->level;
}

/* The best division of a node's rows by the levels of parameter p: those with the lowest means against the others
 * (the best of all subsets: W. Fisher, "On grouping for maximum homogeneity", 1958). Returns what it gains in squares;
 * *left gets the levels. Below 0: there is none. */
static double best_split(const struct grower *g, const int *rows, int n, int p, uint64_t *left)
{
    struct level_sum sums[IMPORTANCE_LEVELS_MAX] = {{0}};
    int levels = g->d->levels[p], met = 0;
    double total = 0;
    for (int i = 0; i < n; i++) {
        struct level_sum *s = &sums[g->d->level[(size_t)rows[i] * (size_t)g->d->parameters + (size_t)p]];
        s->n++;
        s->sum += g->d->value[rows[i]];
        total += g->d->value[rows[i]];
    }
    for (int l = 0; l < levels; l++)
        if (sums[l].n > 0) {
            sums[met] = sums[l];
            sums[met].level = l;
            sums[met].mean = sums[met].sum / sums[met].n;
            met++;
        }
    qsort(sums, (size_t)met, sizeof *sums, by_mean);
    double best = -1, count = 0, sum = 0;
    uint64_t mask = 0;
    for (int i = 0; i + 1 < met; i++) {
        count += sums[i].n;
        sum += sums[i].sum;
        mask |= (uint64_t)1 << sums[i].level;
        if (count < LEAF_ROWS || n - count < LEAF_ROWS)
            continue;
        double gain = sum * sum / count + (total - sum) * (total - sum) / (n - count) - total * total / n;
        if (gain > best) {
            best = gain;
            *left = mask;
        }
    }
    return best;
}

static void make_leaf(struct grower *g, const uint64_t *box, const int *rows, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += g->d->value[rows[i]];
    leaves_add(g->leaves, box, sum / n);
}

/* Levels that no row of the node has go to either side at random: neither side knows of them. */
static uint64_t assign_unseen(struct grower *g, const int *rows, int n, int p, uint64_t box, uint64_t left)
{
    uint64_t seen = 0;
    for (int i = 0; i < n; i++)
        seen |= (uint64_t)1 << g->d->level[(size_t)rows[i] * (size_t)g->d->parameters + (size_t)p];
    for (int l = 0; l < g->d->levels[p]; l++) {
        uint64_t bit = (uint64_t)1 << l;
        if ((box & bit) && !(seen & bit) && rng_below(&g->rng, 2))
            left |= bit;
    }
    return left;
}

/* The parameter to divide by, the best of a random half of them; -1: none divides. */
static int choose(struct grower *g, const int *rows, int n, uint64_t *left)
{
    int parameters = g->d->parameters, want = (parameters + 1) / 2, best = -1;
    double gain = -1;
    memset(g->tried, 0, (size_t)parameters * sizeof *g->tried);
    for (int drawn = 0; drawn < parameters && (drawn < want || best < 0); drawn++) {
        int p = (int)rng_below(&g->rng, (uint64_t)(parameters - drawn));
        for (int i = 0; i <= p; i++)
            p += g->tried[i];
        g->tried[p] = true;
        uint64_t mask = 0;
        double got = best_split(g, rows, n, p, &mask);
        if (got > gain) {
            gain = got;
            best = p;
            *left = mask;
        }
    }
    return best;
}

static bool all_equal(const struct grower *g, const int *rows, int n)
{
    for (int i = 1; i < n; i++)
        if (g->d->value[rows[i]] != g->d->value[rows[0]])
            return false;
    return true;
}

/* box: the node's levels, one mask a parameter; it is as before on return. */
static void grow(struct grower *g, uint64_t *box, int *rows, int n)
{
    uint64_t left = 0;
    int p = n >= 2 * LEAF_ROWS && !all_equal(g, rows, n) ? choose(g, rows, n, &left) : -1;
    if (p < 0) {
        make_leaf(g, box, rows, n);
        return;
    }
    int nleft = 0, nright = 0;
    for (int i = 0; i < n; i++) {
        if (left >> g->d->level[(size_t)rows[i] * (size_t)g->d->parameters + (size_t)p] & 1)
            rows[nleft++] = rows[i];
        else
            g->spare[nright++] = rows[i];
    }
    memcpy(rows + nleft, g->spare, (size_t)nright * sizeof *rows);
    uint64_t whole = box[p];
    left = assign_unseen(g, rows, n, p, whole, left);
    box[p] = whole & left;
    grow(g, box, rows, nleft);
    box[p] = whole & ~left;
    grow(g, box, rows + nleft, nright);
    box[p] = whole;
}

static double mean_of(const double *value, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += value[i];
    return sum / n;
}

/* One tree on rows drawn with replacement; what it says of the others is added to guess and guesses. */
static void grow_tree(struct grower *g, uint64_t *box, int *drawn, double *guess, int *guesses)
{
    int n = g->d->rows;
    memset(drawn, 0, (size_t)n * sizeof *drawn);
    for (int i = 0; i < n; i++) {
        g->rows[i] = (int)rng_below(&g->rng, (uint64_t)n);
        drawn[g->rows[i]]++;
    }
    for (int p = 0; p < g->d->parameters; p++)
        box[p] = g->d->levels[p] == 64 ? UINT64_MAX : ((uint64_t)1 << g->d->levels[p]) - 1;
    leaves_clear(g->leaves);
    grow(g, box, g->rows, n);
    for (int i = 0; i < n; i++)
        if (!drawn[i]) {
            guess[i] += leaves_at(g->leaves, g->d->level + (size_t)i * (size_t)g->d->parameters);
            guesses[i]++;
        }
}

static double fit_of(const struct importance_data *d, const double *guess, const int *guesses)
{
    double mean = mean_of(d->value, d->rows), total = 0, left = 0;
    for (int i = 0; i < d->rows; i++)
        if (guesses[i]) {
            double off = d->value[i] - guess[i] / guesses[i];
            left += off * off;
            total += (d->value[i] - mean) * (d->value[i] - mean);
        }
    return total > 0 ? 1 - left / total : 0;
}

bool importance_of(const struct importance_data *d, uint64_t seed, struct importance *out)
{
    bool differ = false;
    for (int i = 1; i < d->rows; i++)
        differ |= d->value[i] != d->value[0];
    memset(out, 0, sizeof *out);
    if (!differ || d->parameters < 1)
        return false;
    size_t n = (size_t)d->rows, k = (size_t)d->parameters;
    *out = (struct importance){.parameters = d->parameters,
                               .alone = mem_zalloc(k, sizeof(double)),
                               .alone_deviation = mem_zalloc(k, sizeof(double)),
                               .pair = mem_zalloc(k * k, sizeof(double))};
    struct grower g = {.d = d, .leaves = leaves_new(d), .rows = mem_zalloc(n, sizeof(int)),
                       .spare = mem_zalloc(n, sizeof(int)), .tried = mem_zalloc(k, sizeof(bool))};
    uint64_t *box = mem_zalloc(k, sizeof *box);
    int *drawn = mem_zalloc(n, sizeof *drawn), *guesses = mem_zalloc(n, sizeof *guesses), trees = 0;
    double *guess = mem_zalloc(n, sizeof *guess);
    rng_seed(&g.rng, seed);
    for (int t = 0; t < IMPORTANCE_TREES; t++) {
        grow_tree(&g, box, drawn, guess, guesses);
        trees += leaves_anova(g.leaves, out);
    }
    anova_finish(out, trees);
    out->fit = fit_of(d, guess, guesses);
    leaves_free(g.leaves);
    mem_free(g.rows);
    mem_free(g.spare);
    mem_free(g.tried);
    mem_free(box);
    mem_free(drawn);
    mem_free(guesses);
    mem_free(guess);
    return true;
}

void importance_free(struct importance *m)
{
    mem_free(m->alone);
    mem_free(m->alone_deviation);
    mem_free(m->pair);
    memset(m, 0, sizeof *m);
}
