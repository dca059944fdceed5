/* Spaces against listing every combination: members, order, indices, neighbours, what refused what. */
#include "fixture.h"

#include "base/clock.h"
#include <math.h>
#include <stdio.h>

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr(text, part))                                                                                       \
            fail_msg("'%s' does not contain '%s'", text, part);                                                        \
    } while (0)

/* Every member, by trying every combination. */
struct listing {
    const struct kernel *k;
    config_choice *members;     /* nparams each, in order */
    struct value *slots;
    int n, cap;
};

static bool is_member(struct listing *l, const config_choice *c)
{
    struct strbuf why = {0};
    config_choice *settled = config_copy(l->k, c);
    bool member = kernel_slots_config(l->k, c, l->slots, NULL) == LATHE_OK;
    if (member) {
        config_normalise(l->k, l->slots, settled);
        member = config_equal(l->k, c, settled) && kernel_allows(l->k, l->slots, &why);
    }
    mem_free(settled);
    sb_free(&why);
    return member;
}

static struct listing list_all(const struct problem *p, const struct kernel *k)
{
    struct listing l = {.k = k, .slots = mem_zalloc((size_t)k->scope.count, sizeof(struct value))};
    struct target t = fixture_target();
    config_choice *c = mem_zalloc((size_t)k->nparams, sizeof *c);
    kernel_slots_fixed(p, k, &t, l.slots);
    for (;;) {
        if (is_member(&l, c)) {
            l.members = mem_resize(l.members, (size_t)(l.n + 1) * (size_t)k->nparams, sizeof *l.members);
            memcpy(l.members + (size_t)l.n++ * (size_t)k->nparams, c, (size_t)k->nparams * sizeof *c);
        }
        int i = k->nparams - 1;
        while (i >= 0 && ++c[i] == k->params[i].nvalues)
            c[i--] = 0;
        if (i < 0)
            break;
    }
    mem_free(c);
    return l;
}

static void list_free(struct listing *l)
{
    mem_free(l->members);
    mem_free(l->slots);
}

static const config_choice *member(const struct listing *l, int i)
{
    return l->members + (size_t)i * (size_t)l->k->nparams;
}

static void actives(struct listing *l, const config_choice *c, bool *active)
{
    assert_int_equal(kernel_slots_config(l->k, c, l->slots, NULL), LATHE_OK);
    for (int i = 0; i < l->k->nparams; i++)
        active[i] = param_active(l->k, i, l->slots);
}

/* The first member that has value v of parameter i and else what c has, as far as both have it; -1: none. */
static int neighbour_by_listing(struct listing *l, const config_choice *c, int i, int v)
{
    bool before[16], after[16];
    actives(l, c, before);
    for (int m = 0; m < l->n; m++) {
        const config_choice *d = member(l, m);
        bool fits = d[i] == v;
        for (int j = 0; j < l->k->nparams && fits; j++)
            if (j != i && d[j] != c[j]) {
                actives(l, d, after);
                fits = !before[j] || !after[j];
            }
        if (fits)
            return m;
    }
    return -1;
}

static int value_rank(const struct param *p, int v)
{
    double a, b;
    int rank = 0;
    if (!value_as_double(p->values[v], &a))
        return v;
    for (int i = 0; i < p->nvalues; i++)
        rank += value_as_double(p->values[i], &b) && b < a;
    return rank;
}

static void check_neighbours(struct space *s, struct listing *l, int at, enum neighbourhood kind)
{
    const struct kernel *k = l->k;
    const config_choice *c = member(l, at);
    uint64_t *got;
    bool active[16];
    int n = space_neighbours(s, c, kind, &got), found = 0;
    actives(l, c, active);
    for (int i = 0; i < k->nparams; i++)
        for (int v = 0; v < k->params[i].nvalues && active[i]; v++) {
            int step = abs(value_rank(&k->params[i], v) - value_rank(&k->params[i], c[i]));
            if (v == c[i] || (kind == NEIGHBOURS_ADJACENT && step != 1))
                continue;
            int wanted = neighbour_by_listing(l, c, i, v);
            actives(l, c, active);
            if (wanted < 0)
                continue;
            assert_true(found < n);
            assert_int_equal(got[found], wanted);
            found++;
        }
    assert_int_equal(found, n);
    mem_free(got);
}

/* The members in order, each with the first parameter that changed. */
static void check_cursor(struct space *s, struct listing *l)
{
    struct space_cursor *c = space_cursor_open(s);
    const size_t n = (size_t)l->k->nparams;
    for (int i = 0; i < l->n; i++) {
        int first = space_cursor_next(c), wanted = 0;
        assert_memory_equal(space_cursor_choice(c), member(l, i), n * sizeof(config_choice));
        while (i > 0 && wanted < l->k->nparams && member(l, i)[wanted] == member(l, i - 1)[wanted])
            wanted++;
        assert_int_equal(first, wanted);
    }
    assert_int_equal(space_cursor_next(c), -1);
    space_cursor_close(c);
}

/* Parameters that differ and steps between, as one number; parameters without a wish count nothing. */
static uint64_t far(const struct kernel *k, const int *wanted, const config_choice *c)
{
    uint64_t changed = 0, steps = 0;
    for (int i = 0; i < k->nparams; i++) {
        int step = wanted[i] < 0 ? 0 : abs(value_rank(&k->params[i], wanted[i]) - value_rank(&k->params[i], c[i]));
        changed += step != 0;
        steps += (uint64_t)step;
    }
    return changed * 1000000 + steps;
}

/* The nearest member to combinations of all kinds, and distances, against all members. */
static void check_nearest(struct space *s, struct listing *l)
{
    const struct kernel *k = l->k;
    int wanted[16];
    config_choice got[16];
    struct rng r;
    for (int i = 0; i < k->nparams; i++)
        if (k->params[i].when)
            return;
    rng_seed(&r, (uint64_t)l->n);
    for (int n = 0; n < 40; n++) {
        uint64_t best = UINT64_MAX;
        for (int i = 0; i < k->nparams; i++)
            wanted[i] = (int)rng_below(&r, (uint64_t)k->params[i].nvalues + (n % 4 == 0)) - (n % 4 == 0);
        space_nearest(s, wanted, got);
        assert_true(space_index(s, got) >= 0);
        for (int m = 0; m < l->n; m++) {
            uint64_t d = far(k, wanted, member(l, m));
            best = d < best ? d : best;
        }
        assert_int_equal(far(k, wanted, got), best);
        const config_choice *a = member(l, (int)rng_below(&r, (uint64_t)l->n));
        for (int i = 0; i < k->nparams; i++)
            wanted[i] = a[i];
        space_nearest(s, wanted, got); /* a member is nearest to itself */
        assert_true(config_equal(k, a, got));
        struct space_distance d = space_distance(s, a, member(l, 0));
        assert_int_equal((uint64_t)d.changed * 1000000 + d.steps, far(k, wanted, member(l, 0)));
    }
}

static void check_space(struct space *s, const struct problem *p)
{
    const struct kernel *k = space_kernel(s);
    struct listing l = list_all(p, k);
    config_choice *c = mem_zalloc((size_t)k->nparams, sizeof *c);
    assert_int_equal(space_size(s), l.n);
    double refused = (double)space_size(s) + s->inactive;
    for (int i = 0; i < k->nconstraints; i++)
        refused += s->refused[i];
    assert_true(refused == space_cartesian(s));
    check_cursor(s, &l);
    check_nearest(s, &l);
    for (int i = 0; i < l.n; i++) {
        struct strbuf why = {0};
        space_at(s, (uint64_t)i, c);
        assert_memory_equal(c, member(&l, i), (size_t)k->nparams * sizeof *c);
        assert_int_equal(space_index(s, c), i);
        assert_true(space_explain(s, c, &why));
        assert_int_equal(why.len, 0);
        if (l.n < 300 || i % 17 == 0) {
            check_neighbours(s, &l, i, NEIGHBOURS_ADJACENT);
            check_neighbours(s, &l, i, NEIGHBOURS_HAMMING);
        }
    }
    mem_free(c);
    list_free(&l);
}

static void check_text(const char *kernel, int64_t size)
{
    struct problem *p = fixture_problem(&kernel, 1);
    struct space *s = fixture_space(p, 0);
    if (size >= 0)
        assert_int_equal(space_size(s), size);
    check_space(s, p);
    space_close(s);
    problem_free(p);
}

static void test_small_spaces(void **state)
{
    check_text("params = {}", 1);
    check_text("params = { { 'A', { 5 } } }", 1);
    check_text("params = { { 'A', { 1, 2, 4 } }, { 'B', { true, false } } }", 6);
    check_text("params = { { 'A', { 1, 2, 4 } }, { 'B', { 1, 2, 4 } } }, constraints = { 'A <= B' }", 6);
    check_text("params = { { 'A', { 4, 1, 2 } }, { 'B', { 'x', 'y', 'z' } } }, constraints = { \"B != 'y' or A > 1\" }",
               8);
    check_text("params = { { 'A', { 0.5, 0.25 } }, { 'B', { 1, 2 } } }, constraints = { 'A * B <= 0.5' }", 3);
}

static void test_constraints_through_lets(void **state)
{
    check_text(
        "params = { { 'A', { 1, 2, 3, 4 } }, { 'B', { 1, 2, 3, 4 } }, { 'C', { 1, 2 } }, { 'D', { 1, 2, 3 } } },"
        "let = { { 'ab', 'A * B' }, { 'abc', 'ab * C' }, { 'unused', '1 // (A - 1 + C)' }, { 'fixed', 'M // 8' } },"
        "constraints = { 'abc <= fixed', 'ab % D == 0', 'abc >= 2' }",
        -1);
}

static void test_conditional_parameters(void **state)
{
    check_text("params = { { 'S', { 1, 2, 4 } }, { 'R', { 'two', 'last' }, when = 'S > 1' } }", 5);
    check_text(
        "params = { { 'S', { 1, 2 } }, { 'R', { 1, 2, 3 }, when = 'S > 1' }, { 'Q', { 7, 8 }, when = 'R == 2' } }", -1);
    check_text("params = { { 'S', { 1, 2 } }, { 'R', { 3, 1, 2 }, when = 'S > 1' }, { 'T', { 1, 2, 3 } } },"
               "constraints = { 'S == 1 or R < T', 'S == 2 or T != 2' }",
               -1);
    check_text("params = { { 'S', { 1, 2 } }, { 'R', { 3, 1, 2 }, when = 'M > 1000' }, { 'T', { 1, 2, 3 } } }", 6);
}

/* Random kernels: up to 7 parameters, conditions, lets and constraints. */
static unsigned draw_state;
static int draw(int n)
{
    draw_state = draw_state * 1664525u + 1013904223u;
    return (int)((draw_state >> 8) % (unsigned)n);
}

static void add_random_constraint(struct strbuf *b, int nparams, int nlets)
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

static char *random_kernel(void)
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

static void test_random_spaces_match_listing(void **state)
{
    int empty = 0, conditional = 0;
    struct target t = fixture_target();
    for (unsigned seed = 0; seed < 300; seed++) {
        draw_state = seed;
        char *text = random_kernel();
        struct problem *p = fixture_problem((const char *const *)&text, 1);
        struct space *s = NULL;
        status st = space_open(p, &p->kernels[0], &t, &s, &fixture_err);
        if (st == LATHE_NOTHING) {
            struct listing l = list_all(p, &p->kernels[0]);
            assert_int_equal(l.n, 0);
            list_free(&l);
            empty++;
        } else {
            assert_int_equal(st, LATHE_OK);
            check_space(s, p);
            conditional += s->inactive > 0;
            space_close(s);
        }
        problem_free(p);
        mem_free(text);
    }
    assert_true(empty > 5 && empty < 100);
    assert_true(conditional > 30);
}

/* The same members in a narrow order of parameters, whatever it is. */
static void check_reordered(struct space *s, struct space *other, bool conditional)
{
    const struct kernel *k = space_kernel(s);
    config_choice c[16], d[16];
    struct space_cursor *cursor = space_cursor_open(other);
    assert_int_equal(space_size(s), space_size(other));
    for (uint64_t i = 0; i < space_size(other); i++) {
        space_at(other, i, c);
        assert_true(space_index(s, c) >= 0);
        assert_int_equal(space_index(other, c), i);
        int first = space_cursor_next(cursor);
        assert_true(config_equal(k, c, space_cursor_choice(cursor)));
        for (int p = 0; p < first; p++)
            assert_int_equal(c[p], d[p]);
        memcpy(d, c, sizeof d);
        int wanted[16];
        for (int p = 0; p < k->nparams; p++)
            wanted[p] = c[p];
        config_choice nearest[16];
        space_nearest(other, wanted, nearest);
        assert_true(config_equal(k, c, nearest));
        for (int kind = 0; kind < 2 && !conditional; kind++) {
            uint64_t *here, *there;
            int n = space_neighbours(s, c, (enum neighbourhood)kind, &here);
            assert_int_equal(space_neighbours(other, c, (enum neighbourhood)kind, &there), n);
            for (int j = 0; j < n; j++) {
                config_choice a[16], b[16];
                space_at(s, here[j], a);
                space_at(other, there[j], b);
                assert_true(config_equal(k, a, b));
            }
            mem_free(here);
            mem_free(there);
        }
    }
    assert_int_equal(space_cursor_next(cursor), -1);
    space_cursor_close(cursor);
}

static void test_another_order_of_parameters(void **state)
{
    struct target t = fixture_target();
    struct space_limits narrow = SPACE_LIMITS;
    int other_order = 0;
    narrow.first = 0;
    for (unsigned seed = 1000; seed < 1100; seed++) {
        draw_state = seed;
        char *text = random_kernel();
        struct problem *p = fixture_problem((const char *const *)&text, 1);
        struct space *s = NULL, *other = NULL;
        status st = space_open(p, &p->kernels[0], &t, &s, &fixture_err);
        assert_int_equal(space_open_limited(p, &p->kernels[0], &t, &narrow, &other, &fixture_err), st);
        if (!st) {
            bool conditional = false;
            for (int i = 0; i < p->kernels[0].nparams; i++) {
                other_order += other->param[i] != i;
                conditional = conditional || p->kernels[0].params[i].when;
            }
            check_reordered(s, other, conditional);
        }
        space_close(s);
        space_close(other);
        problem_free(p);
        mem_free(text);
    }
    assert_true(other_order > 20);
}

/* Twelve pairs, written all firsts and then all seconds: 10^24 combinations, too many states in that order. */
static void test_groups_far_apart(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 24; i++)
        sb_addf(&b, "{ '%c%d', { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89 } }, ", i < 12 ? 'A' : 'B', i % 12);
    sb_add(&b, "}, constraints = { ");
    for (int i = 0; i < 12; i++)
        sb_addf(&b, "'A%d * 2 + B%d == 11 or A%d == B%d', ", i, i, i, i);
    sb_add(&b, "}");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    struct space *s = fixture_space(p, 0);
    uint64_t wanted = 1; /* (3, 5), (5, 1) and the ten equal ones */
    for (int i = 0; i < 12; i++)
        wanted *= 12;
    assert_int_equal(space_size(s), wanted);
    struct rng r;
    config_choice c[24];
    rng_seed(&r, 1);
    for (int n = 0; n < 100; n++) {
        uint64_t at = space_random(s, &r);
        space_at(s, at, c);
        assert_int_equal(space_index(s, c), at);
        for (int i = 0; i < 12; i++)
            assert_true(c[i] == c[12 + i] || (c[i] == 2 && c[12 + i] == 3) || (c[i] == 3 && c[12 + i] == 0));
    }
    space_close(s);
    problem_free(p);
    mem_free(text);
}

/* Members drawn by rejection: all of a small space, none but its members, at about its share of all combinations. */
static void test_members_drawn_by_rejection(void **state)
{
    struct target t = fixture_target();
    int some = 0;
    for (unsigned seed = 500; seed < 520; seed++) {
        draw_state = seed;
        char *text = random_kernel();
        struct problem *p = fixture_problem((const char *const *)&text, 1);
        struct space *whole = NULL, *drawn = NULL;
        struct space_draw d;
        config_choice a[16], b[16];
        if (space_open(p, &p->kernels[0], &t, &whole, &fixture_err) == LATHE_OK) {
            assert_int_equal(space_sample(p, &p->kernels[0], &t, seed, &drawn, &d, &fixture_err), LATHE_OK);
            assert_int_equal(space_size(drawn), space_size(whole));
            for (uint64_t i = 0; i < space_size(whole); i++) {
                space_at(whole, i, a);
                space_at(drawn, i, b);
                assert_true(config_equal(&p->kernels[0], a, b));
            }
            double share = (double)space_size(whole) / space_cartesian(whole);
            assert_true(d.valid == 65536 && fabs(d.valid / d.tried - share) < 0.02);
            space_close(drawn);
            space_close(whole);
            some++;
        }
        problem_free(p);
        mem_free(text);
    }
    assert_true(some > 10);
    const char *impossible = "params = { { 'A', { 1, 2 } } }, constraints = { 'A * A == 3' }";
    struct problem *p = fixture_problem(&impossible, 1);
    struct space *none = NULL;
    struct space_draw d;
    assert_int_equal(space_sample(p, &p->kernels[0], &t, 1, &none, &d, &fixture_err), LATHE_SPEC);
    assert_contains(fixture_err.text, "none of 2e+07 combinations drawn at random is valid");
    problem_free(p);
}

/* A constraint that joins everything, and whose parts are all different: 10^9 combinations. */
static void test_a_space_too_large_is_sampled(void **state)
{
    struct strbuf b = {0};
    static const double factors[] = {1.13, 1.77, 1.999, 2.31, 2.77, 3.017, 3.7, 4.1, 4.77};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 9; i++)
        sb_addf(&b, "{ 'P%d', { 0.11, 0.37, 0.58, 0.93, 1.7, 2.9, 3.3, 4.1, 5.7, 6.61 } }, ", i);
    sb_add(&b, "}, constraints = { '(0");
    for (int i = 0; i < 9; i++)
        sb_addf(&b, " + P%d * %g", i, factors[i]);
    sb_add(&b, ") % 10 < 2' }");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    struct target t = fixture_target();
    struct space_limits limits = SPACE_LIMITS;
    struct space *s[3];
    struct space_draw d;
    config_choice c[2][9];
    limits.evaluations = 1e6;
    for (int i = 0; i < 3; i++) {
        uint64_t seed = i < 2 ? 7 : 8;
        status st = space_open_sampled_limited(p, &p->kernels[0], &t, &limits, seed, &s[i], &d, &fixture_err);
        assert_int_equal(st, LATHE_OK);
        assert_true(d.valid == 65536 && space_size(s[i]) <= 65536 && space_size(s[i]) > 65000);
        assert_true(fabs(d.valid / d.tried - 0.2) < 0.01);
        assert_contains(d.why, "the space is too large to build: given up after");
        assert_contains(d.why, "% 10 < 2, depends on 9 parameters");
    }
    assert_int_equal(space_size(s[0]), space_size(s[1]));
    int same = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        space_at(s[0], i, c[0]);
        space_at(s[1], i, c[1]);
        assert_true(config_equal(&p->kernels[0], c[0], c[1]));
        space_at(s[2], i, c[1]);
        same += config_equal(&p->kernels[0], c[0], c[1]);
    }
    assert_true(same < 100);
    for (int i = 0; i < 3; i++)
        space_close(s[i]);
    problem_free(p);
    mem_free(text);
}

static void test_neighbours_are_symmetric(void **state)
{
    const char *text = "params = { { 'A', { 1, 2, 4, 8 } }, { 'B', { 8, 4, 2, 1 } }, { 'C', { 'x', 'y', 'z' } }, "
                       "{ 'D', { 3, 1, 2 } } }, constraints = { 'A * B <= 16', 'D * A != 4', \"C != 'y' or B > 1\" }";
    struct problem *p = fixture_problem(&text, 1);
    struct space *s = fixture_space(p, 0);
    config_choice c[4], d[4];
    for (int kind = 0; kind < 2; kind++)
        for (uint64_t i = 0; i < space_size(s); i++) {
            uint64_t *there, *back;
            space_at(s, i, c);
            int n = space_neighbours(s, c, (enum neighbourhood)kind, &there);
            for (int j = 0; j < n; j++) {
                assert_true(there[j] != i && there[j] < space_size(s));
                space_at(s, there[j], d);
                int m = space_neighbours(s, d, (enum neighbourhood)kind, &back), found = 0;
                for (int k = 0; k < m; k++)
                    found += back[k] == i;
                assert_int_equal(found, 1);
                mem_free(back);
            }
            mem_free(there);
        }
    space_close(s);
    problem_free(p);
}

static void test_random_members_are_uniform(void **state)
{
    const char *text = "params = { { 'A', { 1, 2, 3 } }, { 'B', { 1, 2, 3 } } }, constraints = { 'A <= B' }";
    struct problem *p = fixture_problem(&text, 1);
    struct space *s = fixture_space(p, 0);
    struct rng r;
    int counts[6] = {0};
    rng_seed(&r, 7);
    for (int i = 0; i < 6000; i++) {
        uint64_t drawn = space_random(s, &r);
        assert_true(drawn < 6);
        counts[drawn]++;
    }
    for (int i = 0; i < 6; i++)
        assert_true(counts[i] > 850 && counts[i] < 1150);
    space_close(s);
    problem_free(p);
}

/* 10^14 combinations in independent groups, interleaved. */
static void test_huge_spaces_with_structure(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 14; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, ", i);
    sb_add(&b, "}, constraints = { 'P0 <= P5', 'P3 + P9 < 12', 'P1 % P2 == 0', 'P12 * P13 <= 20' }");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    double start = clock_seconds();
    struct space *s = fixture_space(p, 0);
    config_choice c[14];
    struct rng r;
    assert_true(clock_seconds() - start < 5);
    /* 55 pairs, 55 pairs, 27 pairs, 46 pairs (counted by hand), and six free parameters */
    assert_true(space_cartesian(s) == 1e14);
    assert_int_equal(space_size(s), 55ull * 55 * 27 * 46 * 1000000);
    rng_seed(&r, 1);
    for (int i = 0; i < 2000; i++) {
        uint64_t at = space_random(s, &r);
        space_at(s, at, c);
        assert_int_equal(space_index(s, c), at);
    }
    assert_true(space_bytes(s) < 20000000);
    space_at(s, space_size(s) - 1, c);
    assert_int_equal(c[0], 9);
    assert_int_equal(c[5], 9);
    space_close(s);
    problem_free(p);
    mem_free(text);
}

static status open_text(const char *text, const struct space_limits *limits, char *message)
{
    struct problem *p = fixture_problem(&text, 1);
    struct target t = fixture_target();
    struct space *s = NULL;
    struct err e = {0};
    status st = space_open_limited(p, &p->kernels[0], &t, limits ? limits : &SPACE_LIMITS, &s, &e);
    strcpy(message, e.text);
    space_close(s);
    problem_free(p);
    return st;
}

static void test_empty_spaces_say_why(void **state)
{
    char m[2000];
    assert_int_equal(open_text("params = { { 'A', { 1, 2, 3 } }, { 'B', { 1, 2 } } }, "
                               "constraints = { { 'A > 2', 'A is large' }, 'B * A < 3' }",
                               NULL, m),
                     LATHE_NOTHING);
    assert_string_equal(m, "kernel k1 has no valid configuration among 6 combinations; refused by\n"
                           "  A > 2 (A is large): 4 combinations (66.7 %)\n"
                           "  B * A < 3: 2 combinations (33.3 %)");
    assert_int_equal(open_text("params = { { 'A', { 1, 2, 3 } } }, constraints = { 'M % 7 == 0' }", NULL, m),
                     LATHE_NOTHING);
    assert_contains(m, "M % 7 == 0: 3 combinations (100 %): M % 7 == 0: 64 % 7 == 0");
    assert_int_equal(
        open_text("params = { { 'A', { 1 } } }, requires = { { 'sm >= 100', 'it needs tcgen05' } }", NULL, m),
        LATHE_NOTHING);
    assert_contains(m, "kernel k1 cannot run on ");
    assert_contains(m, "it requires sm >= 100: 90 >= 100 (it needs tcgen05)");
}

static void test_formulas_that_fail(void **state)
{
    char m[2000];
    assert_int_equal(
        open_text("params = { { 'A', { 2, 1 } }, { 'B', { 0 } } }, constraints = { 'A // B > 0' }", NULL, m),
        LATHE_NOTHING); /* it refuses, as kernel_slots_config and the documents have it */
    assert_contains(m, "A // B > 0: 2 combinations (100 %)");
    assert_int_equal(
        open_text("params = { { 'A', { 2, 1 } }, { 'B', { 1, 0 } } }, constraints = { 'A // B > 0' }", NULL, m),
        LATHE_OK);
    assert_int_equal(
        open_text("params = { { 'A', { 2, 0 } } }, let = { { 'q', '8 // A' } }, constraints = { 'q > 0' }", NULL, m),
        LATHE_SPEC);
    assert_contains(m, "kernel k1: let q cannot be evaluated at A=0: ");
    assert_int_equal(open_text("params = { { 'A', { 2, 0 } }, { 'B', { 1, 2 }, when = '8 // A > 0' } }", NULL, m),
                     LATHE_SPEC);
    assert_contains(m, "the condition of parameter B cannot be evaluated at A=0: ");
    assert_int_equal(
        open_text("params = { { 'A', { 2, 0 } } }, let = { { 'q', '8 // A' } }, constraints = { 'A > 0', 'q > 0' }",
                  NULL, m),
        LATHE_OK); /* the first constraint keeps A = 0 away from q */
}

static void test_building_is_bounded(void **state)
{
    char m[2000];
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 12; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 5, 7, 11, 13, 17, 19, 23 } }, ", i);
    sb_add(&b, "}, constraints = { 'P0*P1*P2*P3*P4*P5*P6*P7*P8*P9*P10*P11 == 4' }");
    char *text = sb_take(&b);
    struct space_limits limits = SPACE_LIMITS;
    limits.seconds = 0.2;
    double start = clock_seconds();
    assert_int_equal(open_text(text, &limits, m), LATHE_SPEC);
    assert_true(clock_seconds() - start < 3);
    assert_contains(m, "kernel k1: the space is too large to build: given up after 0.2 s, with ");
    assert_contains(m, "of 1e+12 combinations looked at and ");
    assert_contains(m, "P11 == 4, depends on 12 parameters");
    limits = SPACE_LIMITS;
    limits.evaluations = 1e5;
    assert_int_equal(open_text(text, &limits, m), LATHE_SPEC);
    assert_contains(m, "given up after 1.31e+05 evaluations");
    mem_free(text);
    sb_add(&b, "params = { ");
    for (int i = 0; i < 8; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 5, 7, 11, 13, 17, 19, 23 } }, ", i);
    sb_add(&b, "}, constraints = { '(P0 * 101 + P1 * 3001 + P2 * 701 + P3 * 97 + P4 * 17011 + P5 * 5003 + P6 * 70001 + "
               "P7 * 900007) % 99991 < 50000' }");
    text = sb_take(&b);
    limits = SPACE_LIMITS;
    limits.edges = 20000;
    assert_int_equal(open_text(text, &limits, m), LATHE_SPEC);
    assert_contains(m, "MiB of memory");
    assert_contains(m, " valid configurations found so far");
    mem_free(text);
}

static void test_more_than_an_index_can_count(void **state)
{
    char m[2000];
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 20; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, ", i);
    sb_add(&b, "}");
    assert_int_equal(open_text(sb_str(&b), NULL, m), LATHE_SPEC);
    assert_contains(m, "kernel k1: more than 2^63 valid configurations (1e+20 combinations)");
    sb_free(&b);
}

static void test_explanations(void **state)
{
    const char *text = "params = { { 'A', { 1, 2, 4 } }, { 'B', { 1, 2, 4 } }, { 'C', { 1, 2 }, when = 'A > 1' } },"
                       "let = { { 'ab', 'A * B' } }, constraints = { { 'ab <= 4', 'a reason' }, 'A != B' }";
    struct problem *p = fixture_problem(&text, 1);
    struct space *s = fixture_space(p, 0);
    struct strbuf why = {0};
    assert_true(space_explain(s, (config_choice[]){0, 1, 0}, &why));
    assert_false(space_explain(s, (config_choice[]){2, 2, 0}, &why));
    assert_contains(sb_str(&why), "ab <= 4: 16 <= 4 (a reason)");
    sb_free(&why);
    assert_false(space_explain(s, (config_choice[]){0, 1, 1}, &why));
    assert_string_equal(sb_str(&why), "C does not apply here and must be left out: A > 1: 1 > 1");
    sb_free(&why);
    space_refusals(s, &why);
    assert_string_equal(sb_str(&why),
                        "  A != B: 6 combinations (33.3 %)\n  ab <= 4 (a reason): 4 combinations (22.2 %)\n");
    sb_free(&why);
    space_close(s);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_spaces),
        cmocka_unit_test(test_constraints_through_lets),
        cmocka_unit_test(test_conditional_parameters),
        cmocka_unit_test(test_random_spaces_match_listing),
        cmocka_unit_test(test_another_order_of_parameters),
        cmocka_unit_test(test_groups_far_apart),
        cmocka_unit_test(test_members_drawn_by_rejection),
        cmocka_unit_test(test_a_space_too_large_is_sampled),
        cmocka_unit_test(test_neighbours_are_symmetric),
        cmocka_unit_test(test_random_members_are_uniform),
        cmocka_unit_test(test_huge_spaces_with_structure),
        cmocka_unit_test(test_empty_spaces_say_why),
        cmocka_unit_test(test_formulas_that_fail),
        cmocka_unit_test(test_building_is_bounded),
        cmocka_unit_test(test_more_than_an_index_can_count),
        cmocka_unit_test(test_explanations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
