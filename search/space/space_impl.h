/* space_impl.h: how a space is represented, for the files that build it and read it.
 *
 * A space is a decision diagram. Level l decides parameter param[l], the l-th unless the diagram is much smaller in
 * another order (space_order.c); a node has one edge for each choice that some member makes there, in ascending order,
 * and knows how many members lie below it. Equal nodes are one node, so parameters that do not depend on each other
 * cost the sum of their values and not the product, and everything a space is asked (its size, the i-th member, the
 * index of one, a random one) is a walk from the root. */
#ifndef LATHE_SEARCH_SPACE_IMPL_H
#define LATHE_SEARCH_SPACE_IMPL_H

#include "search/space/space.h"

struct edge {
    uint32_t child;
    config_choice choice;
};

struct node {
    uint32_t first, count;      /* edges[first .. first + count) */
    uint64_t members;           /* below it; > 0 */
};

enum { NODE_END = 0 };          /* below the last parameter: one member, no edges */
#define NODE_NONE UINT32_MAX    /* no member: never stored */

/* A parameter's values in the order of steps: numbers by size, others as written. */
struct space_axis {
    config_choice *order;       /* values by rank */
    config_choice *rank;        /* ranks by value */
};

struct space {
    const struct kernel *kernel;
    struct space_axis *axes;    /* one a parameter */
    int *param;                 /* of each level */
    int *least;                 /* the least parameter from each level on */
    struct value *fixed;        /* kernel->scope.count slots; those of dims, scalars and limits are filled */
    struct node *nodes;
    struct edge *edges;
    uint32_t nnodes, node_cap, nedges, edge_cap;
    uint32_t root;
    uint64_t size;
    bool too_large;             /* why it could not be built */
    bool listed;                /* made by space_of_list */
    double cartesian;
    double *refused;            /* combinations that each constraint refused first */
    double inactive;            /* combinations that differ from another in an inactive parameter only */
};

/* What is needed when, worked out before building. Levels run from -1 (before the first parameter) to nparams - 1; the
 * level of a formula is the greatest of a parameter it depends on, itself or through lets. Constraints are split at
 * their `and`s into conditions. What a condition or a let needs of earlier levels is a value of its own, a part, so
 * that states can meet where the parts are equal though the choices are not. */
struct space_value {
    struct expr *expr;          /* owned */
    int slot;                   /* a let's own, or from scope.count on */
    int level;
    int let;                    /* -1: a part, which may turn out not to be computable and then is VALUE_NONE */
};
struct space_condition {
    struct expr *expr;          /* owned */
    int level, constraint;
    int ahead;                  /* the level to look ahead from; nparams: none */
};
/* To look ahead is to refuse, as soon as all but the last parameter of a condition is known, what no value of that one
 * can make true, where there are levels in between. */
struct space_op {
    enum { SPACE_VALUE, SPACE_CONDITION, SPACE_LOOK_AHEAD } kind;
    int index;                  /* of the value or condition */
};
struct space_plan {
    int nslots;                 /* scope.count and the parts */
    struct space_value *values; /* lets that are needed first, in their order; a part after those that it needs */
    int nvalues, values_cap;
    struct space_condition *conditions;
    int nconditions, conditions_cap;
    struct space_op *ops;       /* of level l: ops[first_op[l + 1] .. first_op[l + 2]) */
    int *first_op;
    int *keys;                  /* the slots that all from level l on depends on: keys[first_key[l] ..
                                   first_key[l + 1]) */
    int *first_key;
    bool *forgets;              /* level l's keys say less than the choices before it, so states can meet there */
    int widest;                 /* the constraint that depends on most parameters, -1: none */
    int widest_params;
};
/* param: of each level. */
void space_plan_make(const struct kernel *k, const int *param, struct space_plan *plan);
void space_plan_free(struct space_plan *plan);

/* Marks the parameters that x depends on, itself or through lets; others stay as they are. */
void space_params_of(const struct kernel *k, const struct expr *x, bool *params);

/* An order of parameters in which few of them have a condition open at a time: param[level]; returns whether it is
 * another than the one written. Parameters that a `when` names come before its own. */
bool space_order(const struct kernel *k, int *param);

/* When to give up building. */
struct space_limits {
    double seconds;             /* of this thread's processor time: what else runs does not decide */
    double evaluations;         /* of formulas */
    double first;               /* evaluations in the order as written, before another one is tried; 0: none */
    uint32_t edges;
    const struct space_watch *watch;    /* NULL: none */
};
#define SPACE_LIMITS ((struct space_limits){.seconds = 60, .evaluations = 2e9, .first = 2e7, .edges = 1u << 26})

/* As space_open; *too_large: whether that is what failed. */
status space_open_telling(const struct problem *p, const struct kernel *k, const struct target *t,
                          const struct space_limits *limits, struct space **out, bool *too_large, struct err *e);
status space_open_sampled_limited(const struct problem *p, const struct kernel *k, const struct target *t,
                                  const struct space_limits *limits, uint64_t seed, struct space **out,
                                  struct space_draw *d, struct err *e);
/* The space of members drawn by rejection. watch may be NULL. */
status space_sample(const struct problem *p, const struct kernel *k, const struct target *t, uint64_t seed,
                    const struct space_watch *watch, struct space **out, struct space_draw *d, struct err *e);
status space_open_limited(const struct problem *p, const struct kernel *k, const struct target *t,
                          const struct space_limits *limits, struct space **out, struct err *e);

/* LATHE_INTERRUPTED if the watch (NULL: none) says stop. */
status space_look(const struct space_watch *watch, const struct kernel *k, struct err *e);

/* Fills nodes, root, size, refused, from param and fixed. Fails with LATHE_SPEC. */
status space_build(struct space *s, const struct space_limits *limits, struct err *e);

/* Fills axes, param and least, once kernel is known: the order as written. */
void space_make_axes(struct space *s);
void space_set_order(struct space *s, const int *param);

/* The edge of a node with this choice, or NULL. */
const struct edge *space_edge(const struct space *s, uint32_t node, config_choice choice);

#endif
