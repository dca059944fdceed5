/* space.h: the valid configurations of one kernel at one size on one target.
 *
 * Order: the lexicographic order of choices, first parameter slowest; of a space that is too large to build so, that of
 * another order of its parameters, the same on every machine. Index 0 .. size-1. Inactive parameters are 0, so
 * no two members differ only in them. Read-only after opening; may be shared. Nothing here lists the space: each
 * question costs a walk over the parameters, also where there are 10^12 members. */
#ifndef LATHE_SEARCH_SPACE_H
#define LATHE_SEARCH_SPACE_H

#include "base/rng.h"
#include "model/config.h"

struct space;

enum { SPACE_PARAMS_MAX = 64 };         /* problem_from_json takes no more */

enum neighbourhood { NEIGHBOURS_ADJACENT, NEIGHBOURS_HAMMING };
/* adjacent: one parameter one step up or down its values (numbers by size, others as written); Hamming:
 * one parameter to any other value. Where the change activates a conditional parameter, that parameter takes its first
 * valid value. A neighbour that is not valid is left out, not stepped over. */

/* problem, kernel and target must outlive the space (target: not needed after opening). An empty space is
 * LATHE_NOTHING, and the message says which requirement is not met or which constraints refused most combinations. A
 * constraint that cannot be evaluated refuses; a let or a parameter's condition that cannot, and a space that is too
 * large to build (60 s of processor time, 2e9 evaluations, 512 MiB), is LATHE_SPEC. */
status space_open(const struct problem *p, const struct kernel *k, const struct target *t, struct space **out,
                  struct err *e);
/* The space of exactly the n configurations in choices (n * kernel->nparams), which are in the order of a space and
 * each once: the i-th is the member i. problem, kernel and target as space_open's; constraints are not looked at.
 * LATHE_SPEC: they are not in order, or a choice is none of its parameter's. */
status space_of_list(const struct problem *p, const struct kernel *k, const struct target *t,
                     const config_choice *choices, uint64_t n, struct space **out, struct err *e);
/* How members were drawn by rejection; tried is 0 where the space is whole. */
struct space_draw {
    double tried, valid;        /* combinations of all values, and how many of them are members, repeated ones too */
    char why[1000];             /* what made the space too large */
};
/* Asked now and then while a space is opened, every few milliseconds: true gives up. */
struct space_watch {
    bool (*stop)(void *ctx);
    void *ctx;
};
/* As space_open, but a space that is too large to build is that of up to 65536 of its members, drawn uniformly from up
 * to 2e7 combinations, always the same for a seed: size, index and neighbours are among those. LATHE_SPEC: none was
 * found. watch may be NULL; LATHE_INTERRUPTED: it said stop. */
status space_open_sampled(const struct problem *p, const struct kernel *k, const struct target *t, uint64_t seed,
                          const struct space_watch *watch, struct space **out, struct space_draw *d, struct err *e);
/* Of a space that was drawn: why, how many of its members stand for it and at what rate they were met, appended. */
void space_draw_explain(struct strbuf *b, const struct space *s, const struct space_draw *d);
void space_close(struct space *s);                  /* NULL is fine */

const struct kernel *space_kernel(const struct space *s);
uint64_t space_size(const struct space *s);         /* 1 .. 2^63 - 1 */
double space_cartesian(const struct space *s);      /* combinations of all values, valid or not */
size_t space_bytes(const struct space *s);          /* memory that the members take */
void space_at(const struct space *s, uint64_t index, config_choice *out);   /* index < size */
/* -1 if not a member */
int64_t space_index(const struct space *s, const config_choice *c);
uint64_t space_random(const struct space *s, struct rng *r);    /* a uniform index */

/* All members in order, at the cost of what changes from one to the next. */
struct space_cursor;
struct space_cursor *space_cursor_open(const struct space *s);      /* before the first member */
/* To the next member: no parameter before the one returned differs (0 at first); -1 at the end. */
int space_cursor_next(struct space_cursor *c);
const config_choice *space_cursor_choice(const struct space_cursor *c);     /* valid until the next call */
void space_cursor_close(struct space_cursor *c);

/* Indices of the valid neighbours of a member, in parameter order then value order (as written); *out is mem_free'd by
 * the caller. Returns their number. */
int space_neighbours(const struct space *s, const config_choice *c, enum neighbourhood kind, uint64_t **out);

/* How far two configurations are apart. A parameter that is active in one of them only counts as one step. */
struct space_distance {
    int changed;                /* parameters that differ */
    uint64_t steps;             /* along the values of each, as adjacent neighbours go */
};
struct space_distance space_distance(const struct space *s, const config_choice *a, const config_choice *b);

/* The member nearest to what is wanted, a choice a parameter (-1: whatever): it differs in the fewest parameters, and
 * among those goes the fewest steps; where several do, always the same one. A conditional parameter that takes its
 * first value counts as hardly different: it may be inactive. */
void space_nearest(const struct space *s, const int *wanted, config_choice *out);

/* The values formulas see for a configuration, for config_print and such; slots must hold scope.count values. */
status space_slots(const struct space *s, const config_choice *c, struct value *slots, struct err *e);

/* As space_slots, without lets: what parameters' conditions see. Inactive ones have their first value. */
void space_param_slots(const struct space *s, const config_choice *c, struct value *slots);

/* For a configuration given as choices: true if valid, else appends which constraint refuses and the values. */
bool space_explain(const struct space *s, const config_choice *c, struct strbuf *why);

/* Constraints by how many combinations each refused first, most first, for messages: appended as text lines. */
void space_refusals(const struct space *s, struct strbuf *b);

#endif
