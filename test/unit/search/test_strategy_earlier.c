/* tune.here, tune.earlier and tune.parallel: what a script is told of where it runs, and of earlier campaigns. */
#include "fixture.h"

#include "search/strategy/strategy.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const kernels[] = {
    "params = { { 'A', { 1, 2, 4, 8 } }, { 'B', { 1, 2, 4, 8 } } }, constraints = { 'A * B <= 16' }",
    "params = { { 'V', { 1, 2, 4 } } }",
};

static struct problem *problem;
static struct space *spaces[2];
static struct err err;

static const struct dim here_dims[] = {{"M", 64}}, there_dims[] = {{"M", 32}, {"K", 7}};
static const struct place here = {"t", "Toy GPU", here_dims, 1};
static const struct earlier list[] = {
    {0, 3, true, 1.5, 1, 7, {"t", "Toy GPU", there_dims, 2}},
    {1, 2, false, 3, 2, 6, {"other", "Toy CPU", NULL, 0}},
};

/* A strategy whose run function is the body. */
static struct strategy *script(const char *body, size_t memory)
{
    char path[] = "/tmp/lathe-test-earlier-XXXXXX.lua";
    struct strategy *s = NULL;
    int fd = mkstemps(path, 4);
    char *text = mem_printf("return strategy { name = 'own', run = function(tune, space, opt) %s end }", body);
    assert_int_equal(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
    status st = strategy_open_limited(path, NULL, 0, spaces, 2, 1, memory, 60, &s, &err);
    unlink(path);
    mem_free(text);
    if (st)
        fail_msg("%s", err.text);
    return s;
}

/* Runs it to its end; its asserts speak. */
static void run(struct strategy *s)
{
    const struct proposal *batch;
    int n;
    status st = strategy_ask(s, &batch, &n, &err);
    if (st)
        fail_msg("%s", err.text);
    assert_int_equal(n, 0);
    strategy_close(s);
}

static void test_what_is_told(void **state)
{
    struct strategy *s = script(
        "local h, e = tune.here, tune.earlier "
        "assert(h.problem == 't' and h.device == 'Toy GPU' and h.size.M == 64 and next(h.size, 'M') == nil) "
        "assert(#e == 2 and e == tune.earlier) "
        "local a, b = e[1], e[2] "
        "assert(a.config == space:at(4) and a.exact == true and a.value == 1.5 and a.ratio == 1 and a.campaign == 7) "
        "assert(a.problem == 't' and a.device == 'Toy GPU' and a.size.M == 32 and a.size.K == 7) "
        "assert(b.config == space:at(3, 'k2') and b.exact == false and b.value == 3 and b.ratio == 2) "
        "assert(b.problem == 'other' and b.device == 'Toy CPU' and next(b.size) == nil and b.campaign == 6)",
        (size_t)32 << 20);
    assert_int_equal(strategy_inform(s, &here, list, 2, &err), LATHE_OK);
    run(s);
}

static void test_nothing_is_told(void **state)
{
    static const char body[] = "assert(#tune.earlier == 0 and tune.earlier == tune.earlier) "
                               "assert(tune.here.problem == '' and tune.here.device == '') "
                               "assert(next(tune.here.size) == nil and tune.here == tune.here)";
    run(script(body, (size_t)32 << 20));
    struct strategy *s = script(body, (size_t)32 << 20);
    assert_int_equal(strategy_inform(s, &(struct place){0}, NULL, 0, &err), LATHE_OK);
    run(s);
}

static void test_how_many_run_at_once(void **state)
{
    run(script("assert(tune.parallel == 1)", (size_t)32 << 20));
    struct strategy *s = script("assert(tune.parallel == 7)", (size_t)32 << 20);
    strategy_set_parallel(s, 7);
    run(s);
}

/* A bounded script may have no room for it: an error, no crash. */
static void test_more_than_fits(void **state)
{
    enum { MANY = 20000 };
    struct strategy *s = script("", (size_t)4 << 20);
    struct earlier *many = mem_zalloc(MANY, sizeof *many);
    for (int i = 0; i < MANY; i++)
        many[i] = list[0];
    assert_int_equal(strategy_inform(s, &here, many, MANY, &err), LATHE_STRATEGY);
    assert_non_null(strstr(err.text, "memory"));
    strategy_close(s);
    mem_free(many);
}

static int set_up(void **state)
{
    problem = fixture_problem(kernels, 2);
    for (int i = 0; i < 2; i++)
        spaces[i] = fixture_space(problem, i);
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < 2; i++)
        space_close(spaces[i]);
    problem_free(problem);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_told),
        cmocka_unit_test(test_nothing_is_told),
        cmocka_unit_test(test_how_many_run_at_once),
        cmocka_unit_test(test_more_than_fits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
