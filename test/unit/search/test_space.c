/* Spaces against listing every combination: members, order, indices, neighbours, the nearest, what refused what. */
#include "random_kernel.h"

#include <math.h>
#include <stdio.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_spaces),
        cmocka_unit_test(test_constraints_through_lets),
        cmocka_unit_test(test_conditional_parameters),
        cmocka_unit_test(test_random_spaces_match_listing),
        cmocka_unit_test(test_another_order_of_parameters),
        cmocka_unit_test(test_neighbours_are_symmetric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
