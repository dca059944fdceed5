/* forest_impl.h: what forest.c (rows, candidates), forest_tree.c (trees) and forest_trend.c (their trends) share. */
#ifndef LATHE_SEARCH_FOREST_IMPL_H
#define LATHE_SEARCH_FOREST_IMPL_H

#include "search/surrogates/forest.h"

#include <stdint.h>

enum { FOREST_DEPTH = 40, FOREST_CODES = 256 };

struct node {
    int coord, cut;             /* coord -1: a leaf. Left: a coordinate's code is below cut */
    int left, right;            /* nodes */
    int last;                   /* of a leaf: one of its rows; tree.before[row] is another, -1: none */
    float side[FOREST_SIDES];   /* of a leaf: means; the value without the trend */
};

struct tree {
    struct node *nodes;         /* 0 is the root; 0 of them: not grown yet */
    int nnodes, cap;
    int *before;                /* one a row */
    float *trend;               /* coefficients (forest_trend.c) */
    float *value;               /* one a candidate: what the tree says; 0 before */
    uint16_t *leaf;             /* one a candidate: its node */
};

struct sums {                   /* over trees */
    double side[FOREST_SIDES], square;
};

struct candidate_set {
    uint64_t *bits;             /* NULL: not needed yet */
    int n;                      /* of the first n candidates; the others' are 0 */
};

struct forest {
    int ncoords, ntrees;
    uint8_t **code;             /* ncoords columns: one a candidate */
    int ncandidates, candidate_cap;
    struct sums *sums;          /* one a candidate */
    struct candidate_set *below;    /* ncoords x CODES: candidates with a smaller code */
    uint8_t *row;               /* rows x ncoords codes */
    double *side[FOREST_SIDES]; /* of rows */
    double *rest;               /* of rows: the value without the trend of the tree at hand */
    int *changed;               /* rows new or set since the last update; each once */
    bool *is_changed;
    int nrows, row_cap, nchanged, known;    /* known: rows that the trees have */
    double weight[2];           /* of value and right when nodes are split: 1 / variance, times its share */
    int turn;                   /* the tree to be grown anew next */
    struct tree *trees;
    struct trend *trend;
    struct rng rng;
    /* scratch of forest_tree.c */
    int *order;                 /* rows, those of a node side by side */
    uint64_t *set[FOREST_DEPTH + 1];        /* candidates of the node at a depth, as bits */
    uint16_t *fresh;            /* one a candidate: its new leaf */
    float *line;                /* one a candidate: the new trend */
    uint8_t *point;             /* ncoords codes */
    int words;                  /* in a set */
};

/* Grows tree t anew. forest->weight and the trend's regression are up to date. */
void tree_grow(struct forest *f, struct tree *t);
/* Puts a row that is new (or set again) where it lies. */
void tree_put(struct forest *f, struct tree *t, int row, bool is_new);
/* Places candidate i, which the tree does not have. */
void tree_place(struct forest *f, struct tree *t, int i);

struct trend *trend_new(int ncoords);
void trend_free(struct trend *d);
int trend_terms(const struct trend *d);             /* coefficients */
/* The regression over all rows. */
void trend_fit(struct trend *d, const struct forest *f);
/* A draw from the posterior. */
void trend_draw(struct trend *d, struct forest *f, float *coefficients);
/* At a point of ncoords codes; and at all candidates. */
float trend_at(const struct trend *d, const float *coefficients, const uint8_t *code);
void trend_along(const struct trend *d, const float *coefficients, const struct forest *f, float *out);

#endif
