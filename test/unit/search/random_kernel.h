/* random_kernel.h: kernels made at random, for the tests of spaces. */
#ifndef LATHE_TEST_SEARCH_RANDOM_KERNEL_H
#define LATHE_TEST_SEARCH_RANDOM_KERNEL_H

#include "fixture.h"

#include <stdio.h>

/* Random kernels: up to 7 parameters, conditions, lets and constraints. */
static unsigned draw_state;
static inline int draw(int n)
{
    draw_state = draw_state * 1664525u + 1013904223u;
    return (int)((draw_state >> 8) % (unsigned)n);
}

static inline void add_random_constraint(struct strbuf *b, int nparams, int nlets)
{
    char name[3][8];
    for (int i = 0; i < 3; i++)
        if (nlets && draw(3) == 0)
            snprintf(name[i], sizeof name[i], "l%d", draw(nlets));
        else
            snprintf(name[i], sizeof name[i], "P%d", draw(nparams));
    switch (draw(7)) {
    case 0: sb_addf(b, "'%s * %s <= %d'", name[0], name[1], 4 + draw(20)); break;
    case 1: sb_addf(b, "'%s %% %s == 0'", name[0], name[1]); break;
    case 2: sb_addf(b, "'%s != %s or %s > %d'", name[0], name[1], name[2], 1 + draw(3)); break;
    case 3: sb_addf(b, "'%s + %s + %s < %d'", name[0], name[1], name[2], 8 + draw(20)); break;
    case 4: sb_addf(b, "'(%s * %s + 1) %% 3 != %d and %s != 3'", name[0], name[1], draw(3), name[2]); break;
    case 5: /* cannot be evaluated where it is not short-cut and the divisor is 0: refuses */
        sb_addf(b, "'%s == 2 or 12 // (%s - %s) > %d'", name[0], name[1], name[2], draw(4) - 2);
        break;
    default: sb_addf(b, "'%s >= %d or %s < 3'", name[0], 1 + draw(2), name[1]); break;
    }
}

static inline char *random_kernel(void)
{
    struct strbuf b = {0};
    int nparams = 1 + draw(6), nlets = draw(4), nconstraints = draw(5);
    sb_add(&b, "params = { ");
    for (int i = 0; i < nparams; i++) {
        int n = 1 + draw(4), first = 1 + draw(3), down = draw(2);
        sb_addf(&b, "{ 'P%d', { ", i);
        for (int v = 0; v < n; v++)
            sb_addf(&b, "%d, ", down ? first + n - v : first + v);
        sb_add(&b, "}");
        if (i > 0 && draw(3) == 0)
            sb_addf(&b, ", when = 'P%d > %d'", draw(i), 1 + draw(3));
        sb_add(&b, " }, ");
    }
    sb_add(&b, "}, let = { ");
    for (int i = 0; i < nlets; i++)
        if (i > 0 && draw(2))
            sb_addf(&b, "{ 'l%d', 'l%d + P%d' }, ", i, draw(i), draw(nparams));
        else
            sb_addf(&b, "{ 'l%d', 'P%d * P%d' }, ", i, draw(nparams), draw(nparams));
    sb_add(&b, "}, constraints = { ");
    for (int i = 0; i < nconstraints; i++) {
        add_random_constraint(&b, nparams, nlets);
        sb_add(&b, ", ");
    }
    sb_add(&b, "}");
    return sb_take(&b);
}

#endif
