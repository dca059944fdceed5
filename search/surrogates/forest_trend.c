/* forest_trend.c: Bayesian linear regression of the value on a constant, each coordinate and its square.
 *
 * Coefficients have the prior N(0, s^2 / lambda), rows the noise s^2. lambda is the most likely one of a few, s^2 in
 * closed form (Bishop, "Pattern Recognition and Machine Learning", 2006, 3.5). A draw from the posterior is the
 * optimum for rows with noise added and a prior mean drawn from the prior. */
#include "search/surrogates/forest_impl.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

struct trend {
    int ncoords, n;             /* terms: 1 + 2 ncoords */
    int fitted;                 /* rows when lambda was chosen */
    double lambda, noise;       /* noise: s */
    double mean;                /* of the rows */
    double *factor;             /* n x n, lower: of X'X + lambda I */
    double *product;            /* n x n: X'X */
    double *side;               /* n: scratch */
    double *terms;              /* rows x n: X */
    int rows, cap;              /* in terms and product */
};

struct trend *trend_new(int ncoords)
{
    struct trend *d = mem_zalloc(1, sizeof *d);
    d->ncoords = ncoords;
    d->n = 1 + 2 * ncoords;
    d->lambda = 1;
    d->factor = mem_zalloc((size_t)d->n * (size_t)d->n, sizeof *d->factor);
    d->product = mem_zalloc((size_t)d->n * (size_t)d->n, sizeof *d->product);
    d->side = mem_zalloc((size_t)d->n, sizeof *d->side);
    return d;
}

void trend_free(struct trend *d)
{
    if (!d)
        return;
    mem_free(d->factor);
    mem_free(d->product);
    mem_free(d->side);
    mem_free(d->terms);
    mem_free(d);
}

int trend_terms(const struct trend *d)
{
    return d->n;
}

/* A coordinate's term, -1/2 .. 1/2, and that of its square, without its mean. */
static float term_of(uint8_t code)
{
    return (float)code * (1 / 255.0f) - 0.5f;
}

static float square_of(float u)
{
    return 2 * u * u - 1 / 6.0f;
}

static void add_rows(struct trend *d, const struct forest *f)
{
    for (; d->rows < f->nrows; d->rows++) {
        if (d->rows == d->cap) {
            d->cap = d->cap ? 2 * d->cap : 64;
            d->terms = mem_resize(d->terms, (size_t)d->cap * (size_t)d->n, sizeof *d->terms);
        }
        double *x = d->terms + (size_t)d->rows * (size_t)d->n;
        x[0] = 1;
        for (int c = 0; c < d->ncoords; c++) {
            float u = term_of(f->row[(size_t)d->rows * (size_t)d->ncoords + (size_t)c]);
            x[1 + 2 * c] = u;
            x[2 + 2 * c] = square_of(u);
        }
        for (int a = 0; a < d->n; a++)
            for (int b = 0; b <= a; b++)
                d->product[a * d->n + b] += x[a] * x[b];
    }
}

/* Factors X'X + lambda I; the logarithm of the root of its determinant. */
static double factor(struct trend *d, double lambda)
{
    double log_det = 0;
    int n = d->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = d->product[i * n + j] + (i == j ? lambda : 0);
            for (int k = 0; k < j; k++)
                s -= d->factor[i * n + k] * d->factor[j * n + k];
            if (i == j) {
                d->factor[i * n + i] = sqrt(s > 1e-12 ? s : 1e-12);
                log_det += log(d->factor[i * n + i]);
            } else {
                d->factor[i * n + j] = s / d->factor[j * n + j];
            }
        }
    return log_det;
}

static void solve(const struct trend *d, double *b)
{
    int n = d->n;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= d->factor[i * n + k] * b[k];
        b[i] /= d->factor[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= d->factor[k * n + i] * b[k];
        b[i] /= d->factor[i * n + i];
    }
}

/* X' (y - mean + noise of that deviation), to d->side. */
static void project(struct trend *d, const struct forest *f, double noise, struct rng *r)
{
    memset(d->side, 0, (size_t)d->n * sizeof *d->side);
    for (int i = 0; i < d->rows; i++) {
        double y = f->side[FOREST_VALUE][i] - d->mean + (noise > 0 ? noise * rng_normal(r) : 0);
        const double *x = d->terms + (size_t)i * (size_t)d->n;
        for (int a = 0; a < d->n; a++)
            d->side[a] += x[a] * y;
    }
}

void trend_fit(struct trend *d, const struct forest *f)
{
    static const double lambdas[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30};
    double squares = 0, most = -INFINITY, *b = mem_zalloc((size_t)d->n, sizeof *b), best = d->lambda;
    bool choose = d->fitted == 0 || f->nrows > 1.1 * d->fitted;
    add_rows(d, f);
    d->mean = 0;
    for (int i = 0; i < d->rows; i++)
        d->mean += f->side[FOREST_VALUE][i] / d->rows;
    for (int i = 0; i < d->rows; i++)
        squares += (f->side[FOREST_VALUE][i] - d->mean) * (f->side[FOREST_VALUE][i] - d->mean);
    project(d, f, 0, NULL);
    for (int l = 0; l < 8; l++) {
        double lambda = choose ? lambdas[l] : d->lambda, log_det = factor(d, lambda), left = squares;
        memcpy(b, d->side, (size_t)d->n * sizeof *b);
        solve(d, b);
        for (int a = 0; a < d->n; a++)
            left -= b[a] * d->side[a];
        double variance = (fmax(left, 0) + 0.01 * squares / d->rows + 1e-12) / d->rows;
        double likely = -0.5 * d->rows * log(variance) - log_det + 0.5 * d->n * log(lambda);
        if (likely > most) {
            most = likely;
            best = lambda;
            d->noise = sqrt(variance);
        }
        if (!choose)
            break;
    }
    if (choose) {
        d->fitted = f->nrows;
        factor(d, best);
    }
    d->lambda = best;
    mem_free(b);
}

void trend_draw(struct trend *d, struct forest *f, float *coefficients)
{
    double prior = d->noise * sqrt(d->lambda);    /* lambda times the prior's deviation */
    project(d, f, d->noise, &f->rng);
    for (int a = 0; a < d->n; a++)
        d->side[a] += prior * rng_normal(&f->rng);
    solve(d, d->side);
    d->side[0] += d->mean;
    for (int a = 0; a < d->n; a++)
        coefficients[a] = (float)d->side[a];
}

float trend_at(const struct trend *d, const float *coefficients, const uint8_t *code)
{
    float sum = coefficients[0];
    for (int c = 0; c < d->ncoords; c++) {
        float u = term_of(code[c]);
        sum += coefficients[1 + 2 * c] * u + coefficients[2 + 2 * c] * square_of(u);
    }
    return sum;
}

void trend_along(const struct trend *d, const float *coefficients, const struct forest *f, float *restrict out)
{
    for (int i = 0; i < f->ncandidates; i++)
        out[i] = coefficients[0];
    for (int c = 0; c < d->ncoords; c++) {
        float of_code[FOREST_CODES];
        const uint8_t *code = f->code[c];
        for (int k = 0; k < FOREST_CODES; k++) {
            float u = term_of((uint8_t)k);
            of_code[k] = coefficients[1 + 2 * c] * u + coefficients[2 + 2 * c] * square_of(u);
        }
        for (int i = 0; i < f->ncandidates; i++)
            out[i] += of_code[code[i]];
    }
}
