/* importance_anova.c: the variance of a tree's function, taken apart exactly (Hutter et al., 2014, section 3).
 *
 * Levels are independent and equally likely. A leaf's box has the weight w = product over parameters of (its levels /
 * all levels). Of a set U of parameters, the marginal at levels u is the sum of value * w / (weight of U's part) over
 * the leaves that contain u. The variance of the part U is that of the marginal without those of the subsets of U. */
#include "report/importance_impl.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

struct leaves {
    const struct importance_data *d;
    uint64_t *box;              /* n x parameters */
    double *value, *weight;
    int n, cap;
};

struct leaves *leaves_new(const struct importance_data *d)
{
    struct leaves *v = mem_zalloc(1, sizeof *v);
    v->d = d;
    return v;
}

void leaves_free(struct leaves *v)
{
    mem_free(v->box);
    mem_free(v->value);
    mem_free(v->weight);
    mem_free(v);
}

void leaves_clear(struct leaves *v)
{
    v->n = 0;
}

/* The share of parameter p's levels that a mask has. */
static double part(const struct leaves *v, uint64_t mask, int p)
{
    return (double)__builtin_popcountll(mask) / v->d->levels[p];
}

void leaves_add(struct leaves *v, const uint64_t *box, double value)
{
    size_t k = (size_t)v->d->parameters;
    if (v->n == v->cap) {
        v->cap = v->cap ? 2 * v->cap : 64;
        v->box = mem_resize(v->box, (size_t)v->cap * k, sizeof *v->box);
        v->value = mem_resize(v->value, (size_t)v->cap, sizeof *v->value);
        v->weight = mem_resize(v->weight, (size_t)v->cap, sizeof *v->weight);
    }
    double weight = 1;
    for (size_t p = 0; p < k; p++)
        weight *= part(v, box[p], (int)p);
    memcpy(v->box + (size_t)v->n * k, box, k * sizeof *box);
    v->value[v->n] = value;
    v->weight[v->n++] = weight;
}

double leaves_at(const struct leaves *v, const uint8_t *level)
{
    int k = v->d->parameters;
    for (int i = 0; i < v->n; i++) {
        const uint64_t *box = v->box + (size_t)i * (size_t)k;
        int p = 0;
        while (p < k && (box[p] >> level[p] & 1))
            p++;
        if (p == k)
            return v->value[i];
    }
    return NAN; /* boxes cover everything, so this is not reached */
}

static double variance_alone(const struct leaves *v, int p, double mean)
{
    double marginal[IMPORTANCE_LEVELS_MAX] = {0}, variance = 0;
    int levels = v->d->levels[p];
    for (int i = 0; i < v->n; i++) {
        uint64_t mask = v->box[(size_t)i * (size_t)v->d->parameters + (size_t)p];
        double term = (v->value[i] - mean) * v->weight[i] / part(v, mask, p);
        for (; mask; mask &= mask - 1)
            marginal[__builtin_ctzll(mask)] += term;
    }
    for (int l = 0; l < levels; l++)
        variance += marginal[l] * marginal[l];
    return variance / levels;
}

/* Of the marginal of both, their own included. */
static double variance_pair(const struct leaves *v, int p, int q, double mean)
{
    static _Thread_local double marginal[IMPORTANCE_LEVELS_MAX][IMPORTANCE_LEVELS_MAX];
    int np = v->d->levels[p], nq = v->d->levels[q];
    double variance = 0;
    for (int a = 0; a < np; a++)
        memset(marginal[a], 0, (size_t)nq * sizeof marginal[a][0]);
    for (int i = 0; i < v->n; i++) {
        const uint64_t *box = v->box + (size_t)i * (size_t)v->d->parameters;
        double term = (v->value[i] - mean) * v->weight[i] / (part(v, box[p], p) * part(v, box[q], q));
        for (uint64_t a = box[p]; a; a &= a - 1)
            for (uint64_t b = box[q]; b; b &= b - 1)
                marginal[__builtin_ctzll(a)][__builtin_ctzll(b)] += term;
    }
    for (int a = 0; a < np; a++)
        for (int b = 0; b < nq; b++)
            variance += marginal[a][b] * marginal[a][b];
    return variance / np / nq;
}

bool leaves_anova(const struct leaves *v, struct importance *out)
{
    int k = v->d->parameters;
    double mean = 0, total = 0;
    for (int i = 0; i < v->n; i++)
        mean += v->value[i] * v->weight[i];
    for (int i = 0; i < v->n; i++)
        total += (v->value[i] - mean) * (v->value[i] - mean) * v->weight[i];
    if (!(total > 0))
        return false;
    double *alone = mem_zalloc((size_t)k, sizeof *alone);
    for (int p = 0; p < k; p++) {
        alone[p] = variance_alone(v, p, mean);
        out->alone[p] += alone[p] / total;
        out->alone_deviation[p] += alone[p] / total * (alone[p] / total);
    }
    for (int p = 0; p < k; p++)
        for (int q = p + 1; q < k; q++) {
            if (v->d->levels[p] < 2 || v->d->levels[q] < 2)
                continue;
            double beyond = fmax(0, variance_pair(v, p, q, mean) - alone[p] - alone[q]) / total;
            out->pair[p * k + q] += beyond;
            out->pair[q * k + p] += beyond;
        }
    mem_free(alone);
    return true;
}

void anova_finish(struct importance *out, int trees)
{
    int k = out->parameters, n = trees > 0 ? trees : 1;
    for (int p = 0; p < k; p++) {
        out->alone[p] /= n;
        out->alone_deviation[p] = sqrt(fmax(0, out->alone_deviation[p] / n - out->alone[p] * out->alone[p]));
    }
    for (int i = 0; i < k * k; i++)
        out->pair[i] /= n;
}
