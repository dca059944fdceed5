/* gp_fit.c: the parameters of the process from data, and the covariance itself. */
#include "search/surrogates/gp_impl.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

/* exp(-q) for q >= 0 by 2^-n 2^f: n the nearest whole number, 2^f a Taylor polynomial of degree 6 on [-1/2, 1/2]
 * (relative error under 3e-7); own, because a library's differs from machine to machine. q <= 80. */
static inline float exp_minus(float q)
{
    float t = q * 1.44269504f, r;
    int32_t n = (int32_t)(t + 0.5f);
    float f = ((float)n - t) * 0.69314718f;
    r = 1 + f * (1 + f * (0.5f + f * (0.16666667f + f * (0.041666668f + f * (0.0083333338f + f * 0.0013888889f)))));
    uint32_t bits = (uint32_t)(127 - n) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return r * power;
}

static inline float matern(float r2)
{
    float q = sqrtf(5 * r2);
    q = q < 80 ? q : 80;
    return (1 + q + q * q * 0.33333333f) * exp_minus(q);
}

float gp_kernel(float r2)
{
    return matern(r2);
}

void gp_kernel_many(float *r2, int n)
{
    for (int i = 0; i < n; i += 8)
        for (int j = 0; j < 8; j++)
            r2[i + j] = matern(r2[i + j]);
}

double gp_dot(const double *a, const double *b, int n)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* Learning --------------------------------------------------------------------------------------------------------*/

#define WEIGHT_MIN 1e-3
#define WEIGHT_MAX 1e3
#define NOISE_MIN 1e-5
#define NOISE_MAX 1.0

struct fit {
    const struct gp_sample *s;
    const struct gp_prior *prior;
    float *apart;               /* ngroups x pairs: squared distance in each group, pairs (i, j < i) row by row */
    int pairs;
    float *r2;
    double *L, *y, *one;
};

static double log_prior(double x, double median, double deviation)
{
    double d = log(x / median) / deviation;
    return -0.5 * d * d;
}

/* Log posterior density, up to a constant; the mean and the variance are the most likely ones. */
static double density(struct fit *f, const struct gp_hyper *h)
{
    int n = f->s->n;
    double log_det = 0, yy = 0, y1 = 0, ones = 0;
    double prior = log_prior(h->noise, f->prior->noise, f->prior->noise_deviation);
    memset(f->r2, 0, ((size_t)f->pairs + 8) * sizeof *f->r2);
    for (int d = 0; d < f->s->ngroups; d++) {
        const float *apart = f->apart + (size_t)d * (size_t)f->pairs;
        float w = (float)h->weight[d];
        for (int p = 0; p < f->pairs; p++)
            f->r2[p] += w * apart[p];
        prior += log_prior(h->weight[d], f->prior->weight[d], f->prior->weight_deviation);
    }
    gp_kernel_many(f->r2, (f->pairs + 7) / 8 * 8);
    for (int i = 0, p = 0; i < n; i++) {
        double *L = f->L + (size_t)i * (size_t)n;
        for (int j = 0; j < i; j++, p++) {
            const double *Lj = f->L + (size_t)j * (size_t)n;
            L[j] = ((double)f->r2[p] - gp_dot(L, Lj, j)) * Lj[j]; /* the diagonal holds inverses */
        }
        double left = 1 + h->noise - gp_dot(L, L, i);
        left = left > 1e-10 ? left : 1e-10;
        L[i] = 1 / sqrt(left);
        log_det += 0.5 * log(left);
        f->y[i] = (f->s->target[i] - gp_dot(L, f->y, i)) * L[i];
        f->one[i] = (1 - gp_dot(L, f->one, i)) * L[i];
        yy += f->y[i] * f->y[i];
        y1 += f->y[i] * f->one[i];
        ones += f->one[i] * f->one[i];
    }
    double rest = yy - y1 * y1 / ones;
    return -0.5 * n * log((rest > 0 ? rest : 0) / n + 1e-12) - log_det + prior;
}

static void measure_pairs(struct fit *f)
{
    const struct gp_sample *s = f->s;
    for (int i = 0, p = 0; i < s->n; i++)
        for (int j = 0; j < i; j++, p++)
            for (int c = 0; c < s->ncoords; c++) {
                float d = s->coords[(size_t)i * (size_t)s->ncoords + (size_t)c] -
                          s->coords[(size_t)j * (size_t)s->ncoords + (size_t)c];
                f->apart[(size_t)s->group[c] * (size_t)f->pairs + (size_t)p] += d * d;
            }
}

/* Multiplies x, one of the parameters, by 1 / step or by step: the first that is better stays. */
static void improve(struct fit *f, struct gp_hyper *h, double *x, double low, double high, double step, double *best)
{
    double before = *x, tries[2] = {before / step, before * step};
    for (int i = 0; i < 2; i++) {
        if (tries[i] < low || tries[i] > high)
            continue;
        *x = tries[i];
        double now = density(f, h);
        if (now > *best) {
            *best = now;
            return;
        }
    }
    *x = before;
}

static void improve_all_weights(struct fit *f, struct gp_hyper *h, double step, double *best)
{
    for (int i = 0; i < 2; i++) {
        double times = i ? step : 1 / step;
        for (int d = 0; d < f->s->ngroups; d++)
            h->weight[d] *= times;
        double now = density(f, h);
        if (now > *best) {
            *best = now;
            return;
        }
        for (int d = 0; d < f->s->ngroups; d++)
            h->weight[d] /= times;
    }
}

void gp_fit(const struct gp_sample *s, const struct gp_prior *prior, struct gp_hyper *h)
{
    struct fit f = {.s = s, .prior = prior, .pairs = s->n * (s->n - 1) / 2};
    f.apart = mem_zalloc((size_t)s->ngroups * (size_t)f.pairs, sizeof *f.apart);
    f.r2 = mem_zalloc((size_t)f.pairs + 8, sizeof *f.r2);
    f.L = mem_zalloc((size_t)s->n * (size_t)s->n, sizeof *f.L);
    f.y = mem_zalloc((size_t)s->n, sizeof *f.y);
    f.one = mem_zalloc((size_t)s->n, sizeof *f.one);
    measure_pairs(&f);
    double best = density(&f, h), step = 4;
    for (int sweep = 0; sweep < 2; sweep++) {
        improve_all_weights(&f, h, step, &best);
        improve(&f, h, &h->noise, NOISE_MIN, NOISE_MAX, step, &best);
        for (int d = 0; d < s->ngroups; d++)
            improve(&f, h, &h->weight[d], WEIGHT_MIN, WEIGHT_MAX, step, &best);
    }
    mem_free(f.apart);
    mem_free(f.r2);
    mem_free(f.L);
    mem_free(f.y);
    mem_free(f.one);
}
