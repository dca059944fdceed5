/* forest_tree.c: one tree: grown, and changed by a row.
 *
 * Nodes hold the rows of leaves as lists. The candidates of a node are a set of bits, cut out of its parent's by
 * forest->below, whose words outside of [from, to) are empty: so a tree costs little more than a word operation for
 * each node and 64 candidates. New leaves are noted in forest->fresh; then sums follow. */
#include "search/surrogates/forest_impl.h"

#include "base/mem.h"
#include <string.h>

struct part {                   /* a node to be grown */
    int node, first, n;         /* its rows: order[first ..] */
    int depth, from, to;        /* its candidates: set[depth], words [from, to) */
};

static uint8_t code_of(const struct forest *f, int row, int coord)
{
    return f->row[(size_t)row * (size_t)f->ncoords + (size_t)coord];
}

/* The candidates whose code is below the cut, as bits; those that came since it was last wanted are added now. */
static const uint64_t *below(struct forest *f, int coord, int cut)
{
    struct candidate_set *s = &f->below[coord * FOREST_CODES + cut];
    const uint8_t *code = f->code[coord];
    if (!s->bits)
        s->bits = mem_zalloc((size_t)f->candidate_cap / 64, sizeof *s->bits);
    for (; s->n < f->ncandidates && s->n % 8; s->n++)
        s->bits[s->n / 64] |= (uint64_t)(code[s->n] < cut) << (s->n % 64);
    for (; s->n + 8 <= f->ncandidates; s->n += 8) {
        unsigned eight = 0;
        for (int i = 0; i < 8; i++)
            eight |= (unsigned)(code[s->n + i] < cut) << i;
        s->bits[s->n / 64] |= (uint64_t)eight << (s->n % 64);
    }
    for (; s->n < f->ncandidates; s->n++)
        s->bits[s->n / 64] |= (uint64_t)(code[s->n] < cut) << (s->n % 64);
    return s->bits;
}

/* All candidates, to set[0]. */
static void whole_set(struct forest *f)
{
    memset(f->set[0], 0xff, (size_t)f->words * sizeof *f->set[0]);
    if (f->ncandidates % 64)
        f->set[0][f->words - 1] = ~(uint64_t)0 >> (64 - f->ncandidates % 64);
}

/* Those of a set that are below the cut, or those that are not; *from and *to are moved to where words are not empty.
 * `out` may be `in`. */
static void cut_out(const uint64_t *in, const uint64_t *mask, bool left, uint64_t *out, int *from, int *to)
{
    uint64_t flip = left ? 0 : ~(uint64_t)0;
    for (int w = *from; w < *to; w++)
        out[w] = in[w] & (mask[w] ^ flip);
    while (*from < *to && !out[*from])
        (*from)++;
    while (*from < *to && !out[*to - 1])
        (*to)--;
}

static int add_node(struct tree *t)
{
    MEM_GROW(t->nodes, t->nnodes, t->cap);
    t->nodes[t->nnodes] = (struct node){.coord = -1, .last = -1};
    return t->nnodes++;
}

/* The rows become a leaf's, and its candidates. */
static void make_leaf(struct forest *f, struct tree *t, const struct part *p)
{
    struct node *n = &t->nodes[p->node];
    double sum[FOREST_SIDES] = {0};
    n->coord = -1;
    n->last = -1;
    for (int i = p->first; i < p->first + p->n; i++) {
        int row = f->order[i];
        sum[FOREST_VALUE] += f->rest[row];
        sum[FOREST_RIGHT] += f->side[FOREST_RIGHT][row];
        sum[FOREST_COST] += f->side[FOREST_COST][row];
        t->before[row] = n->last;
        n->last = row;
    }
    for (int s = 0; s < FOREST_SIDES; s++)
        n->side[s] = (float)(sum[s] / p->n);
    for (int w = p->from; w < p->to; w++)
        for (uint64_t bits = f->set[p->depth][w]; bits; bits &= bits - 1)
            f->fresh[w * 64 + __builtin_ctzll(bits)] = (uint16_t)p->node;
}

/* A number below n, nearly uniform: trees need many. */
static int draw(struct rng *r, int n)
{
    return (int)((rng_next(r) >> 32) * (uint64_t)n >> 32);
}

/* Of two rows: a cut at random between them, in a coordinate at random of those in which they differ. */
static bool part_two(struct forest *f, const int *rows, int *coord, int *cut)
{
    const uint8_t *a = f->row + (size_t)rows[0] * (size_t)f->ncoords;
    const uint8_t *b = f->row + (size_t)rows[1] * (size_t)f->ncoords;
    int differ = 0;
    for (int c = 0; c < f->ncoords; c++)
        if (a[c] != b[c] && draw(&f->rng, ++differ) == 0)
            *coord = c;
    if (differ == 0)
        return false;
    int low = a[*coord] < b[*coord] ? a[*coord] : b[*coord], high = a[*coord] + b[*coord] - low;
    *cut = low + 1 + draw(&f->rng, high - low);
    return true;
}

/* Of a cut at random in each coordinate the one that leaves the least variance of the value and of being right, of
 * equals one at random. False: the rows are all in one place. */
static bool choose_cut(struct forest *f, const struct part *p, const double sum[2], int *coord, int *cut)
{
    const int *rows = f->order + p->first;
    double most = -1;
    int equals = 0;
    if (p->n == 2)
        return part_two(f, rows, coord, cut);
    for (int c = 0; c < f->ncoords; c++) {
        int low = FOREST_CODES - 1, high = 0;
        for (int k = 0; k < p->n; k++) {
            int code = code_of(f, rows[k], c);
            low = code < low ? code : low;
            high = code > high ? code : high;
        }
        if (low == high)
            continue;
        int at = low + 1 + draw(&f->rng, high - low), left = 0;
        double value = 0, right = 0;
        for (int k = 0; k < p->n; k++) {
            bool in = code_of(f, rows[k], c) < at;
            left += in;
            value += in ? f->rest[rows[k]] : 0;
            right += in ? f->side[FOREST_RIGHT][rows[k]] : 0;
        }
        double share = 1.0 / left + 1.0 / (p->n - left), mean = (double)left / p->n;
        double dv = value - mean * sum[0], dr = right - mean * sum[1]; /* share dv^2: n_l n_r / n (mean_l - mean_r)^2 */
        double gain = share * (f->weight[0] * dv * dv + f->weight[1] * dr * dr);
        equals = gain > most ? 1 : equals + (gain == most);
        if (gain > most || (gain == most && draw(&f->rng, equals) == 0)) {
            most = gain;
            *coord = c;
            *cut = at;
        }
    }
    return most >= 0;
}

static void grow(struct forest *f, struct tree *t, struct part p)
{
    double sum[2] = {0};
    int coord = 0, cut = 0, i = p.first, j = p.first + p.n;
    bool same = true;
    for (int k = i; k < j; k++) {
        int row = f->order[k];
        sum[0] += f->rest[row];
        sum[1] += f->side[FOREST_RIGHT][row];
        same = same && f->rest[row] == f->rest[f->order[i]] &&
               f->side[FOREST_RIGHT][row] == f->side[FOREST_RIGHT][f->order[i]];
    }
    if (same || p.depth == FOREST_DEPTH || !choose_cut(f, &p, sum, &coord, &cut)) {
        make_leaf(f, t, &p);
        return;
    }
    while (i < j) {
        int row = f->order[i];
        if (code_of(f, row, coord) < cut) {
            i++;
        } else {
            f->order[i] = f->order[--j];
            f->order[j] = row;
        }
    }
    int left = add_node(t), right = add_node(t);
    struct node *n = &t->nodes[p.node];
    n->coord = coord;
    n->cut = cut;
    n->left = left;
    n->right = right;
    const uint64_t *mask = p.from < p.to ? below(f, coord, cut) : NULL, *all = f->set[p.depth];
    for (int side = 0; side < 2; side++) {
        struct part q = {side ? right : left, side ? i : p.first, side ? p.first + p.n - i : i - p.first,
                         p.depth + 1, p.from, p.to};
        cut_out(all, mask, side == 0, f->set[q.depth], &q.from, &q.to);
        grow(f, t, q);
    }
}

static void add_sums(struct sums *s, const struct node *n, float value, double sign)
{
    s->side[FOREST_VALUE] += sign * value;
    s->side[FOREST_RIGHT] += sign * n->side[FOREST_RIGHT];
    s->side[FOREST_COST] += sign * n->side[FOREST_COST];
    s->square += sign * (double)value * value;
}

void tree_place(struct forest *f, struct tree *t, int i)
{
    uint8_t *code = f->point;
    int at = 0;
    for (int c = 0; c < f->ncoords; c++)
        code[c] = f->code[c][i];
    while (t->nodes[at].coord >= 0)
        at = code[t->nodes[at].coord] < t->nodes[at].cut ? t->nodes[at].left : t->nodes[at].right;
    t->leaf[i] = (uint16_t)at;
    t->value[i] = trend_at(f->trend, t->trend, code) + t->nodes[at].side[FOREST_VALUE];
    add_sums(&f->sums[i], &t->nodes[at], t->value[i], 1);
}

/* What the tree's trend leaves of a row. */
static void set_rest(struct forest *f, const struct tree *t, int row)
{
    const uint8_t *code = f->row + (size_t)row * (size_t)f->ncoords;
    f->rest[row] = f->side[FOREST_VALUE][row] - trend_at(f->trend, t->trend, code);
}

void tree_grow(struct forest *f, struct tree *t)
{
    struct node *old = t->nodes;
    bool first = f->known == 0;
    t->nodes = NULL;
    t->nnodes = t->cap = 0;
    trend_draw(f->trend, f, t->trend);
    for (int i = 0; i < f->nrows; i++) {
        f->order[i] = i;
        set_rest(f, t, i);
    }
    whole_set(f);
    add_node(t);
    grow(f, t, (struct part){0, 0, f->nrows, 0, 0, f->words});
    trend_along(f->trend, t->trend, f, f->line);
    for (int i = 0; i < f->ncandidates; i++) {
        const struct node *n = &t->nodes[f->fresh[i]];
        float value = f->line[i] + n->side[FOREST_VALUE];
        if (!first)
            add_sums(&f->sums[i], &old[t->leaf[i]], t->value[i], -1);
        add_sums(&f->sums[i], n, value, 1);
        t->value[i] = value;
        t->leaf[i] = f->fresh[i];
    }
    mem_free(old);
}

void tree_put(struct forest *f, struct tree *t, int row, bool is_new)
{
    const uint8_t *code = f->row + (size_t)row * (size_t)f->ncoords;
    int at = 0, n = 0, from = 0, to = f->words;
    whole_set(f);
    while (t->nodes[at].coord >= 0) {
        const struct node *up = &t->nodes[at];
        bool left = code[up->coord] < up->cut;
        at = left ? up->left : up->right;
        cut_out(f->set[0], from < to ? below(f, up->coord, up->cut) : NULL, left, f->set[0], &from, &to);
    }
    struct node was = t->nodes[at];
    for (int r = was.last; r >= 0; r = t->before[r])
        f->order[n++] = r;
    if (is_new)
        f->order[n++] = row;
    for (int i = 0; i < n; i++)
        set_rest(f, t, f->order[i]);
    struct part p = {at, 0, n, 0, from, to};
    grow(f, t, p); /* leaves set[0] as it is */
    for (int w = p.from; w < p.to; w++)
        for (uint64_t bits = f->set[0][w]; bits; bits &= bits - 1) {
            int i = w * 64 + __builtin_ctzll(bits);
            const struct node *now = &t->nodes[f->fresh[i]];
            float value = t->value[i] - was.side[FOREST_VALUE] + now->side[FOREST_VALUE];
            add_sums(&f->sums[i], &was, t->value[i], -1);
            add_sums(&f->sums[i], now, value, 1);
            t->value[i] = value;
            t->leaf[i] = f->fresh[i];
        }
}
