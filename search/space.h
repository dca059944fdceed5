/* space.h: the valid configurations of one kernel at one size on one target.
 *
 * Order: the lexicographic order of choices, first parameter slowest. Index 0 .. size-1. Inactive parameters are 0, so
 * no two members differ only in them. Read-only after opening; may be shared. */
#ifndef LATHE_SEARCH_SPACE_H
#define LATHE_SEARCH_SPACE_H

#include "base/rng.h"
#include "model/config.h"

struct space;

enum neighbourhood { NEIGHBOURS_ADJACENT, NEIGHBOURS_HAMMING };
/* adjacent: one parameter one step up or down its ordered values; Hamming: one parameter to any other value. Where the
 * change (de)activates a conditional parameter, that parameter takes its first valid value. */

/* problem, kernel and target are borrowed and must outlive the space. An empty space is LATHE_NOTHING, and the message
 * says which constraint refused most combinations. */
status space_open(const struct problem *p, const struct kernel *k, const struct target *t, struct space **out,
                  struct err *e);
void space_close(struct space *s);

const struct kernel *space_kernel(const struct space *s);
uint64_t space_size(const struct space *s);
double space_cartesian(const struct space *s);
void space_at(const struct space *s, uint64_t index, config_choice *out);
/* -1 if not a member */
int64_t space_index(const struct space *s, const config_choice *c);
uint64_t space_random(const struct space *s, struct rng *r);

/* Indices of the valid neighbours, in parameter order then value order; *out is mem_free'd by the caller. */
int space_neighbours(const struct space *s, const config_choice *c, enum neighbourhood kind, uint64_t **out);

/* For a configuration given as choices: true if valid, else appends which constraint refuses and the values. */
bool space_explain(const struct space *s, const config_choice *c, struct strbuf *why);

/* Constraints by how many combinations each refused first, for messages: appended as text lines. */
void space_refusals(const struct space *s, struct strbuf *b);

#endif
