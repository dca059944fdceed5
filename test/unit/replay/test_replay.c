/* test_replay.c: a recording as a device: its own problem, and kernels with the same parameters. */
#include "fixture.h"
#include "replay/replay.h"

#include <math.h>

#define RECORDING                                                                                                      \
    "{\"kernel_name\": \"my kernel\", \"tune_params_keys\": [\"a\", \"b\", \"one\"], \"cache\": {"                     \
    "\"1\": {\"a\": 1, \"b\": \"x\", \"one\": 7, \"time\": 1, \"times\": [], \"compile_time\": 1000},"                 \
    "\"2\": {\"a\": 2, \"b\": \"x\", \"one\": 7, \"time\": 2, \"times\": [], \"compile_time\": 3000},"                 \
    "\"3\": {\"a\": 2, \"b\": \"y\", \"one\": 7, \"time\": \"InvalidConfig\", \"compile_time\": 4000}}}"

static struct problem *problem_of(const char *text)
{
    struct problem *p = NULL;
    struct err e = {0};
    json_t *tree = json_loads(text, 0, NULL);
    if (problem_from_json(tree, "space.json", NULL, &p, &e))
        fail_msg("%s", e.text);
    json_decref(tree);
    return p;
}

static void its_own_problem(void **state)
{
    struct recording *r = from_text(RECORDING);
    struct problem *p = NULL;
    struct replay *d = NULL;
    struct err e = {0};
    assert_int_equal(replay_problem(r, &p, &e), LATHE_OK);
    assert_string_equal(p->name, "my_kernel");
    assert_int_equal(p->nkernels, 1);
    assert_int_equal(p->kernels[0].nparams, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(p->kernels[0].params[i].name, r->params[i].name);
        assert_int_equal(p->kernels[0].params[i].nvalues, r->params[i].nvalues);
        for (int v = 0; v < r->params[i].nvalues; v++)
            assert_true(value_equal(p->kernels[0].params[i].values[v], r->params[i].values[v]));
    }
    assert_int_equal(replay_open(r, &p->kernels[0], &d, &e), LATHE_OK);
    for (uint64_t i = 0; i < r->nconfigs; i++)
        assert_int_equal(replay_find(d, r->choices + 3 * i), (int64_t)i);
    const config_choice missing[] = {0, 1, 0};
    assert_int_equal(replay_find(d, missing), -1);
    assert_true(fabs(replay_missing_seconds(d) - 3) < 1e-12);
    replay_close(d);
    problem_free(p);
    recording_free(r);
}

/* Another order of parameters and values, a value that is not recorded, a parameter of one value more and one less. */
static void another_kernel(void **state)
{
    struct recording *r = from_text(RECORDING);
    struct problem *p = problem_of("{\"tag\": \"space\", \"name\": \"s\", \"params\": [[\"b\", [\"y\", \"x\"]], "
                                   "[\"extra\", [3]], [\"a\", [3, 2, 1]]]}");
    struct replay *d = NULL;
    struct err e = {0};
    assert_int_equal(replay_open(r, &p->kernels[0], &d, &e), LATHE_OK);
    static const struct {
        config_choice choice[3];
        double ms;              /* 0: missing; NaN: failed */
    } cases[] = {{{1, 0, 2}, 1}, {{1, 0, 1}, 2}, {{0, 0, 1}, NAN}, {{0, 0, 2}, 0}, {{1, 0, 0}, 0}};
    for (int i = 0; i < 5; i++) {
        int64_t at = replay_find(d, cases[i].choice);
        assert_true((at < 0) == (cases[i].ms == 0));
        if (at >= 0)
            assert_true(isnan(cases[i].ms) ? isnan(r->configs[at].value_ms) : r->configs[at].value_ms == cases[i].ms);
    }
    replay_close(d);
    problem_free(p);
    recording_free(r);
}

static void parameters_that_do_not_match(void **state)
{
    static const struct {
        const char *params, *message;
    } cases[] = {
        {"[[\"a\", [1, 2]]]", "r.json has a parameter b with 2 values, which s lacks"},
        {"[[\"a\", [1, 2]], [\"b\", [\"x\", \"y\"]], [\"z\", [1, 2]]]", "s has a parameter z with 2 values"},
    };
    struct recording *r = from_text(RECORDING);
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"tag\": \"space\", \"name\": \"s\", \"params\": %s}", cases[i].params);
        struct problem *p = problem_of(text);
        struct replay *d = NULL;
        struct err e = {0};
        assert_int_equal(replay_open(r, &p->kernels[0], &d, &e), LATHE_SPEC);
        assert_null(d);
        if (!strstr(e.text, cases[i].message))
            fail_msg("%s", e.text);
        problem_free(p);
    }
    recording_free(r);
}

static void names_that_no_specification_has(void **state)
{
    struct recording *r = from_text("{\"tune_params_keys\": [\"a b\"], \"cache\": {\"1\": {\"a b\": 1, \"time\": 1}}}");
    struct problem *p = NULL;
    struct err e = {0};
    assert_int_equal(replay_problem(r, &p, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "a b"));
    recording_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_problem),
        cmocka_unit_test(another_kernel),
        cmocka_unit_test(parameters_that_do_not_match),
        cmocka_unit_test(names_that_no_specification_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
