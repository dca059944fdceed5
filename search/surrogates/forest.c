/* forest.c: rows and candidates of an ensemble (forest.h), and which trees are grown when.
 *
 * 1. Every tree has the rows before `known` and all candidates; no tree has any while `known` is 0.
 * 2. The sets in `below` have room for candidate_cap candidates. */
#include "search/surrogates/forest_impl.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

enum {
    TREES = 48,
    GROWN = 200                 /* rows that trees are grown anew from in an update: about so many in all */
};
#define RIGHT_SHARE 0.5         /* what separating right from wrong is worth when a node is split */

struct forest *forest_new(int ncoords)
{
    struct forest *f = mem_zalloc(1, sizeof *f);
    f->ncoords = ncoords;
    f->ntrees = TREES;
    f->code = mem_zalloc((size_t)ncoords, sizeof *f->code);
    f->below = mem_zalloc((size_t)ncoords * FOREST_CODES, sizeof *f->below);
    f->point = mem_zalloc((size_t)ncoords, sizeof *f->point);
    f->trend = trend_new(ncoords);
    f->trees = mem_zalloc((size_t)f->ntrees, sizeof *f->trees);
    for (int t = 0; t < f->ntrees; t++)
        f->trees[t].trend = mem_zalloc((size_t)trend_terms(f->trend), sizeof *f->trees[t].trend);
    return f;
}

static void forget_sets(struct forest *f)
{
    for (int i = 0; i < f->ncoords * FOREST_CODES; i++) {
        mem_free(f->below[i].bits);
        f->below[i] = (struct candidate_set){.n = 0};
    }
}

void forest_free(struct forest *f)
{
    if (!f)
        return;
    forget_sets(f);
    for (int c = 0; c < f->ncoords; c++)
        mem_free(f->code[c]);
    for (int t = 0; t < f->ntrees; t++) {
        mem_free(f->trees[t].nodes);
        mem_free(f->trees[t].before);
        mem_free(f->trees[t].trend);
        mem_free(f->trees[t].value);
        mem_free(f->trees[t].leaf);
    }
    for (int s = 0; s < FOREST_SIDES; s++)
        mem_free(f->side[s]);
    for (int d = 0; d <= FOREST_DEPTH; d++)
        mem_free(f->set[d]);
    mem_free(f->code);
    mem_free(f->below);
    mem_free(f->trees);
    mem_free(f->sums);
    mem_free(f->row);
    mem_free(f->rest);
    mem_free(f->point);
    mem_free(f->changed);
    mem_free(f->is_changed);
    mem_free(f->order);
    mem_free(f->fresh);
    mem_free(f->line);
    trend_free(f->trend);
    mem_free(f);
}

static uint8_t code_of(float u)
{
    int code = (int)(u * 255 + 0.5f);
    return (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
}

static void more_candidates(struct forest *f)
{
    size_t n = f->candidate_cap ? 2 * (size_t)f->candidate_cap : 1024;
    f->candidate_cap = (int)n;
    forget_sets(f);
    for (int c = 0; c < f->ncoords; c++)
        f->code[c] = mem_resize(f->code[c], n, sizeof *f->code[c]);
    for (int t = 0; t < f->ntrees; t++) {
        f->trees[t].value = mem_resize(f->trees[t].value, n, sizeof *f->trees[t].value);
        f->trees[t].leaf = mem_resize(f->trees[t].leaf, n, sizeof *f->trees[t].leaf);
    }
    for (int d = 0; d <= FOREST_DEPTH; d++)
        f->set[d] = mem_resize(f->set[d], n / 64, sizeof *f->set[d]);
    f->sums = mem_resize(f->sums, n, sizeof *f->sums);
    f->fresh = mem_resize(f->fresh, n, sizeof *f->fresh);
    f->line = mem_resize(f->line, n, sizeof *f->line);
}

int forest_add_candidate(struct forest *f, const float *coords)
{
    if (f->ncandidates == f->candidate_cap)
        more_candidates(f);
    int i = f->ncandidates++;
    for (int c = 0; c < f->ncoords; c++)
        f->code[c][i] = code_of(coords[c]);
    f->sums[i] = (struct sums){.square = 0};
    for (int t = 0; t < f->ntrees && f->known; t++)
        tree_place(f, &f->trees[t], i);
    return i;
}

void forest_forget_candidates(struct forest *f)
{
    f->ncandidates = f->known = 0;
    forget_sets(f);
}

int forest_add_row(struct forest *f, const float *coords)
{
    if (f->nrows == f->row_cap) {
        size_t n = f->row_cap ? 2 * (size_t)f->row_cap : 64;
        f->row_cap = (int)n;
        f->row = mem_resize(f->row, n * (size_t)f->ncoords, sizeof *f->row);
        for (int s = 0; s < FOREST_SIDES; s++)
            f->side[s] = mem_resize(f->side[s], n, sizeof *f->side[s]);
        for (int t = 0; t < f->ntrees; t++)
            f->trees[t].before = mem_resize(f->trees[t].before, n, sizeof *f->trees[t].before);
        f->rest = mem_resize(f->rest, n, sizeof *f->rest);
        f->changed = mem_resize(f->changed, n, sizeof *f->changed);
        f->is_changed = mem_resize(f->is_changed, n, sizeof *f->is_changed);
        f->order = mem_resize(f->order, n, sizeof *f->order);
    }
    int row = f->nrows++;
    for (int c = 0; c < f->ncoords; c++)
        f->row[(size_t)row * (size_t)f->ncoords + (size_t)c] = code_of(coords[c]);
    f->is_changed[row] = false;
    return row;
}

int forest_rows(const struct forest *f)
{
    return f->nrows;
}

void forest_set_row(struct forest *f, int row, const double side[FOREST_SIDES])
{
    for (int s = 0; s < FOREST_SIDES; s++)
        f->side[s][row] = side[s];
    if (!f->is_changed[row])
        f->changed[f->nchanged++] = row;
    f->is_changed[row] = true;
}

static double variance_of(const double *y, int n)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++)
        mean += y[i] / n;
    for (int i = 0; i < n; i++)
        sum += (y[i] - mean) * (y[i] - mean) / n;
    return sum;
}

void forest_update(struct forest *f, struct rng *r)
{
    if (f->nchanged == 0 && f->known)
        return;
    f->words = (f->ncandidates + 63) / 64;
    rng_seed(&f->rng, rng_next(r));
    f->weight[0] = 1 / (variance_of(f->side[FOREST_VALUE], f->nrows) + 1e-12);
    f->weight[1] = RIGHT_SHARE / (variance_of(f->side[FOREST_RIGHT], f->nrows) + 1e-3);
    trend_fit(f->trend, f);
    int anew = f->known == 0 || GROWN / f->nrows >= f->ntrees ? f->ntrees : GROWN / f->nrows + 1;
    for (int k = 0; k < f->ntrees; k++) {
        struct tree *t = &f->trees[(f->turn + k) % f->ntrees];
        if (k < anew)
            tree_grow(f, t);
        for (int i = 0; i < f->nchanged && k >= anew; i++)
            tree_put(f, t, f->changed[i], f->changed[i] >= f->known);
    }
    f->turn = (f->turn + anew) % f->ntrees;
    for (int i = 0; i < f->nchanged; i++)
        f->is_changed[f->changed[i]] = false;
    f->nchanged = 0;
    f->known = f->nrows;
}

void forest_predict(const struct forest *f, int candidate, struct forest_guess *out)
{
    const struct sums *s = &f->sums[candidate];
    for (int k = 0; k < FOREST_SIDES; k++)
        out->side[k] = s->side[k] / f->ntrees;
    out->variance = fmax(0, s->square / f->ntrees - out->side[FOREST_VALUE] * out->side[FOREST_VALUE]);
}
