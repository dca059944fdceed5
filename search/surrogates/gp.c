/* gp.c: rows and candidates (gp.h).
 *
 * With K the rows' covariance plus noise, K = L L', a candidate's column v = L^-1 k holds all that predictions need:
 * mean = v' (L^-1 y), variance = 1 - v' v. Candidates lie in blocks of 256 with their columns, so that appending a row
 * streams through memory once.
 *
 * 1. A row of L is final when it was appended. z[side] = L^-1 side is right for the rows before `clean`.
 * 2. Columns and variances hold the rows before `extended`; gp_update appends the others block by block, so that a
 *    block stays in the cache. A block's sums[side] = sum over rows of z[side][row] v[row], for z of the last
 *    gp_update. */
#include "search/surrogates/gp_impl.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 256, TOGETHER = 8 };     /* candidates; rows appended at once */

struct block {
    float *coords;              /* ncoords x BLOCK */
    float *v;                   /* rows x BLOCK */
    float variance[BLOCK];
    float sums[GP_SIDES][BLOCK];
};

struct gp {
    int ncoords, ngroups, cap;
    int *group;
    double *weight, noise;
    float *scale;               /* weight of each coordinate */
    int rows, extended, clean;
    float *coords;              /* cap x ncoords */
    double *L;                  /* cap x cap, lower */
    double *side[GP_SIDES], *z[GP_SIDES];
    struct block *blocks;
    int nblocks, block_cap, ncandidates;
};

struct gp *gp_new(int ncoords, const int *group, int ngroups, int rows)
{
    struct gp *g = mem_zalloc(1, sizeof *g);
    g->ncoords = ncoords;
    g->ngroups = ngroups;
    g->cap = rows;
    g->group = mem_zalloc((size_t)ncoords, sizeof *g->group);
    if (ncoords)
        memcpy(g->group, group, (size_t)ncoords * sizeof *group);
    g->weight = mem_zalloc((size_t)ngroups, sizeof *g->weight);
    g->scale = mem_zalloc((size_t)ncoords, sizeof *g->scale);
    g->coords = mem_zalloc((size_t)rows * (size_t)ncoords, sizeof *g->coords);
    g->L = mem_zalloc((size_t)rows * (size_t)rows, sizeof *g->L);
    for (int s = 0; s < GP_SIDES; s++) {
        g->side[s] = mem_zalloc((size_t)rows, sizeof **g->side);
        g->z[s] = mem_zalloc((size_t)rows, sizeof **g->z);
    }
    return g;
}

void gp_free(struct gp *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->nblocks; i++) {
        mem_free(g->blocks[i].coords);
        mem_free(g->blocks[i].v);
    }
    for (int s = 0; s < GP_SIDES; s++) {
        mem_free(g->side[s]);
        mem_free(g->z[s]);
    }
    mem_free(g->blocks);
    mem_free(g->group);
    mem_free(g->weight);
    mem_free(g->scale);
    mem_free(g->coords);
    mem_free(g->L);
    mem_free(g);
}

void gp_reset(struct gp *g, const struct gp_hyper *h)
{
    g->rows = g->extended = g->clean = 0;
    for (int i = 0; i * BLOCK < g->ncandidates; i++)
        for (int j = 0; j < BLOCK; j++) {
            g->blocks[i].variance[j] = 1;
            for (int s = 0; s < GP_SIDES; s++)
                g->blocks[i].sums[s][j] = 0;
        }
    g->noise = h->noise;
    if (g->ngroups)
        memcpy(g->weight, h->weight, (size_t)g->ngroups * sizeof *g->weight);
    for (int c = 0; c < g->ncoords; c++)
        g->scale[c] = (float)g->weight[g->group[c]];
}

void gp_forget_candidates(struct gp *g)
{
    g->ncandidates = 0;
}

int gp_candidates(const struct gp *g)
{
    return g->ncandidates;
}

int gp_rows(const struct gp *g)
{
    return g->rows;
}

/* k = kernel(row, candidates), for a whole block */
static void covariances(const struct gp *g, const struct block *b, const float *row, float *restrict k)
{
    for (int j = 0; j < BLOCK; j++)
        k[j] = 0;
    for (int c = 0; c < g->ncoords; c++) {
        const float *x = b->coords + (size_t)c * BLOCK;
        float at = row[c], w = g->scale[c];
        for (int j = 0; j < BLOCK; j++) {
            float d = x[j] - at;
            k[j] += w * (d * d);
        }
    }
    gp_kernel_many(k, BLOCK);
}

/* v -= L[from .. to) u[from .. to), one after another, four at a time as far as they go. */
static void subtract(float *restrict v, const float *rows, const double *L, int from, int to)
{
    int i = from;
    for (; i + 4 <= to; i += 4) {
        const float *u = rows + (size_t)i * BLOCK;
        float l0 = (float)L[i], l1 = (float)L[i + 1], l2 = (float)L[i + 2], l3 = (float)L[i + 3];
        for (int j = 0; j < BLOCK; j++)
            v[j] = v[j] - l0 * u[j] - l1 * u[j + BLOCK] - l2 * u[j + 2 * BLOCK] - l3 * u[j + 3 * BLOCK];
    }
    for (; i < to; i++) {
        const float *u = rows + (size_t)i * BLOCK;
        float l = (float)L[i];
        for (int j = 0; j < BLOCK; j++)
            v[j] -= l * u[j];
    }
}

/* Appends rows [first, last) of the columns of a block, a few: what they share is read once. */
static void extend_block(const struct gp *g, struct block *b, int first, int last)
{
    for (int row = first; row < last; row++)
        covariances(g, b, g->coords + (size_t)row * (size_t)g->ncoords, b->v + (size_t)row * BLOCK);
    for (int i = 0; i < first; i += 4)
        for (int row = first; row < last; row++)
            subtract(b->v + (size_t)row * BLOCK, b->v, g->L + (size_t)row * (size_t)g->cap, i,
                     i + 4 < first ? i + 4 : first);
    for (int row = first; row < last; row++) {
        float *v = b->v + (size_t)row * BLOCK;
        const double *L = g->L + (size_t)row * (size_t)g->cap;
        subtract(v, b->v, L, first, row);
        float inverse = (float)(1 / L[row]);
        for (int j = 0; j < BLOCK; j++) {
            v[j] *= inverse;
            b->variance[j] -= v[j] * v[j];
        }
    }
}

/* The column of one candidate, from the rows that the others have. */
static void fill_column(const struct gp *g, struct block *b, int j)
{
    float variance = 1;
    for (int row = 0; row < g->extended; row++) {
        const double *L = g->L + (size_t)row * (size_t)g->cap;
        const float *at = g->coords + (size_t)row * (size_t)g->ncoords;
        float r2 = 0;
        for (int c = 0; c < g->ncoords; c++) {
            float d = b->coords[(size_t)c * BLOCK + (size_t)j] - at[c];
            r2 += g->scale[c] * (d * d);
        }
        float v = gp_kernel(r2);
        for (int i = 0; i < row; i++)
            v -= (float)L[i] * b->v[(size_t)i * BLOCK + (size_t)j];
        v *= (float)(1 / L[row]);
        b->v[(size_t)row * BLOCK + (size_t)j] = v;
        variance -= v * v;
    }
    b->variance[j] = variance;
    for (int s = 0; s < GP_SIDES; s++) {
        float sum = 0;
        for (int row = 0; row < g->extended; row++)
            sum += (float)g->z[s][row] * b->v[(size_t)row * BLOCK + (size_t)j];
        b->sums[s][j] = sum;
    }
}

int gp_add_candidate(struct gp *g, const float *coords)
{
    int at = g->ncandidates / BLOCK, j = g->ncandidates % BLOCK;
    if (at == g->nblocks) {
        MEM_GROW(g->blocks, g->nblocks, g->block_cap);
        g->blocks[g->nblocks++] = (struct block){
            .coords = mem_zalloc((size_t)g->ncoords * BLOCK, sizeof(float)),
            .v = mem_zalloc((size_t)g->cap * BLOCK, sizeof(float)),
        };
    }
    struct block *b = &g->blocks[at];
    for (int c = 0; c < g->ncoords; c++)
        b->coords[(size_t)c * BLOCK + (size_t)j] = coords[c];
    fill_column(g, b, j);
    return g->ncandidates++;
}

int gp_add_row(struct gp *g, const float *coords)
{
    int row = g->rows;
    double *L = g->L + (size_t)row * (size_t)g->cap;
    float *own = g->coords + (size_t)row * (size_t)g->ncoords;
    if (g->ncoords)
        memcpy(own, coords, (size_t)g->ncoords * sizeof *coords);
    for (int i = 0; i < row; i++) {
        const float *other = g->coords + (size_t)i * (size_t)g->ncoords;
        float r2 = 0;
        for (int c = 0; c < g->ncoords; c++)
            r2 += g->scale[c] * ((own[c] - other[c]) * (own[c] - other[c]));
        const double *Li = g->L + (size_t)i * (size_t)g->cap;
        L[i] = (gp_kernel(r2) - gp_dot(L, Li, i)) / Li[i];
    }
    double left = 1 + g->noise - gp_dot(L, L, row);
    L[row] = sqrt(left > 1e-6 ? left : 1e-6);
    for (int s = 0; s < GP_SIDES; s++)
        g->side[s][row] = g->z[s][row] = 0;
    return g->rows++;
}

void gp_set_side(struct gp *g, int row, enum gp_side side, double value)
{
    g->side[side][row] = value;
    if (row < g->clean)
        g->clean = row;
}

/* sums += change * v, over all candidates */
static void add_to_sums(struct gp *g, enum gp_side s, int row, float change)
{
    for (int i = 0; i * BLOCK < g->ncandidates; i++) {
        const float *v = g->blocks[i].v + (size_t)row * BLOCK;
        float *restrict sums = g->blocks[i].sums[s];
        for (int j = 0; j < BLOCK; j++)
            sums[j] += change * v[j];
    }
}

void gp_update(struct gp *g)
{
    for (int i = 0; i * BLOCK < g->ncandidates; i++)
        for (int row = g->extended; row < g->rows; row += TOGETHER)
            extend_block(g, &g->blocks[i], row, row + TOGETHER < g->rows ? row + TOGETHER : g->rows);
    g->extended = g->rows;
    for (int s = 0; s < GP_SIDES; s++) {
        double *z = g->z[s];
        for (int row = g->clean; row < g->rows; row++) {
            const double *L = g->L + (size_t)row * (size_t)g->cap;
            double now = (g->side[s][row] - gp_dot(L, z, row)) / L[row];
            float change = (float)now - (float)z[row];
            z[row] = now;
            if (change != 0)
                add_to_sums(g, (enum gp_side)s, row, change);
        }
    }
    g->clean = g->rows;
}

static double combine(const struct gp *g, const struct gp_target *t, int row)
{
    double sum = 0;
    for (int s = 0; s < GP_SIDES; s++)
        sum += t->side[s] * g->z[s][row];
    return sum;
}

double gp_variance(const struct gp *g, const struct gp_target *t)
{
    double sum = 0;
    for (int row = 0; row < g->rows; row++)
        sum += combine(g, t, row) * combine(g, t, row);
    return g->rows ? sum / (g->rows > 3 ? g->rows - 2 : 1) + 1e-12 : 1;
}

double gp_predict(const struct gp *g, int candidate, const struct gp_target *t, double *variance)
{
    const struct block *b = &g->blocks[candidate / BLOCK];
    int j = candidate % BLOCK;
    double sum = 0;
    for (int s = 0; s < GP_SIDES; s++)
        sum += t->side[s] * (double)b->sums[s][j];
    *variance = b->variance[j] > 1e-6f ? (double)b->variance[j] : 1e-6;
    return sum;
}
