/* test_scalars.c: other values of scalars: which, of which scalars, and the plans with them. */
#include "spec_fixture.h"

#include "base/rng.h"
#include "model/scalars.h"
#include <stdio.h>

/* "a = 1.5, b = -0.8125" for scalars given as JSON; "" if none varies. The epilogue is any of them. */
static void assert_others(const char *scalars, const char *expected)
{
    json_t *tree = fixture_tree();
    fixture_set(tree, "scalars", scalars);
    fixture_set(tree, "epilogue", "\"s * z * sigmoid(z)\"");
    if (strstr(scalars, "steps"))
        fixture_set(tree, "kernels/0/constraints/3", "\"steps < 8\"");
    struct problem *p = fixture_problem(tree), varied;
    struct strbuf text = {0};
    if (scalars_vary(p, &varied))
        scalars_text(p, &varied, &text);
    assert_string_equal(sb_str(&text), expected);
    sb_free(&text);
    scalars_free(&varied);
    problem_free(p);
}

static void values(void **state)
{
    (void)state;
    assert_others("[[\"s\", 2.0]]", "s = 1.5");
    assert_others("[[\"s\", 0.1], [\"t\", -1.0]]", "s = 0.075, t = -0.8125");
    assert_others("[[\"s\", 2.0], [\"t\", 2.0]]", "s = 1.5, t = 1.625");              /* told apart */
    assert_others("[[\"s\", 0.0]]", "s = 0.5");
    assert_others("[[\"s\", 0.0], [\"hi\", 0.1]]", "s = 0.05, hi = 0.08125");         /* bounds stay in order */
    assert_others("[[\"s\", -0.1], [\"hi\", 0.0]]", "s = -0.075, hi = 0.05625");
    assert_others("[[\"s\", 1.05], [\"lo\", 1.0]]", "s = 0.853125, lo = 0.75");      /* by size, where it must be */
    assert_others("[[\"s\", -1.05], [\"lo\", -1.0], [\"hi\", 1.01]]", "s = -0.91875, lo = -0.75, hi = 0.820625");
    assert_others("[[\"s\", 1.0], [\"t\", 1.0], [\"u\", 1.0], [\"v\", 1.0], [\"w\", 1.0]]",    /* more than four */
                  "s = 0.75, t = 0.796875, u = 0.84375, v = 0.890625, w = 0.9375");
    assert_others("[[\"s\", 1e-45]]", "");                                            /* no float lies between */
    assert_others("[[\"s\", 3e38]]", "s = 2.25e+38");
}

/* One that must stay lies between: the others keep their order with it too, and vary. */
static void beside_one_that_stays(void **state)
{
    (void)state;
    assert_others("[[\"s\", 4.0], [\"steps\", 3.9]]", "s = 3.925");
    assert_others("[[\"s\", -4.0], [\"steps\", -3.9], [\"t\", 1.0]]", "s = -3.93125, t = 0.75");
    assert_others("[[\"s\", 3.9], [\"steps\", 4.0]]", "s = 2.925");
    assert_others("[[\"s\", 1.0], [\"steps\", 1.0]]", "s = 0.75");
    assert_others("[[\"s\", 1.00000012], [\"steps\", 1.0], [\"t\", 3.0]]", "t = 2.4375");     /* nothing lies between */
}

/* Whatever the values: all but the one that stays become others, of the same sign and in the same order. */
static void any_values(void **state)
{
    enum { N = 7, STAYS = 3 };
    (void)state;
    json_t *tree = fixture_tree();
    fixture_set(tree, "scalars",
                "[[\"s\", 1], [\"t\", 1], [\"u\", 1], [\"steps\", 1], [\"v\", 1], [\"w\", 1], [\"x\", 1]]");
    fixture_set(tree, "epilogue", "\"s * z * sigmoid(z)\"");
    fixture_set(tree, "kernels/0/constraints/3", "\"steps < 8\"");
    struct problem *p = fixture_problem(tree), varied;
    struct rng r;
    rng_seed(&r, 5);
    for (int round = 0; round < 5000; round++) {
        for (int i = 0; i < N; i++)
            p->scalars[i].value = ((double)rng_below(&r, 9) - 4) / (round % 2 ? 4 : 1);
        assert_true(scalars_vary(p, &varied));
        for (int i = 0; i < N; i++) {
            const double old = p->scalars[i].value, now = varied.scalars[i].value;
            assert_true(i == STAYS ? now == old : now != old && now * old >= 0);
            for (int j = 0; j < N; j++)
                assert_true(p->scalars[j].value <= old || varied.scalars[j].value > now);
        }
        scalars_free(&varied);
    }
    problem_free(p);
}

static void assert_varies(const char *path, const char *text, bool expected)
{
    struct problem *p = fixture_changed(path, text);
    if (scalar_varies(p, 0) != expected)
        fail_msg("%s = %s: expected that it %s", path ? path : "-", text ? text : "-", expected ? "varies" : "is left");
    problem_free(p);
}

static void what_else_depends_on_one_keeps_it(void **state)
{
    (void)state;
    assert_varies(NULL, NULL, true);
    assert_varies("tensors/0/fill", "{\"tag\": \"uniform\", \"#\": [0, \"s\"]}", true);    /* inputs stay */
    assert_varies("flops", "\"s * M\"", true);
    assert_varies("kernels/0/let/4", "[\"scaled\", \"s / 3\"]", true);
    assert_varies("kernels/0/let/4", "[\"whole\", \"floor(s)\"]", false);                  /* it may be a macro */
    assert_varies("kernels/0/let/4", "[\"large\", \"s > 1\"]", false);
    assert_varies("tensors/2", "{\"#\": [\"b\", \"f32\", [\"N * floor(s) // 2\"]]}", false);
    assert_varies("kernels/0/constraints/3", "\"s < 8\"", false);
    assert_varies("kernels/0/workspace/2", "{\"#\": [\"more\", \"f32\", [\"floor(s)\"]]}", false);
    assert_varies("kernels/0/workspace/2", "{\"#\": [\"more\", \"f32\", [4]], \"when\": \"s > 1\"}", false);
    assert_varies("kernels/0/steps/0/shared", "\"smem + floor(s)\"", false);
    assert_varies("kernels/0/steps/0/grid", "[\"floor(s)\"]", false);
    assert_varies("kernels/0/steps/1/when", "\"SPLIT_K > 1 and s > 1\"", false);
    assert_varies("kernels/0/steps/0/args/5", "{\"tag\": \"i32\", \"#\": [\"round(s)\"]}", false);
    assert_varies("epilogue", "\"s * z * b[n]\"", true);
    assert_varies("epilogue", "\"z * b[n % (1 + floor(s))]\"", false);
}

static void plans(void **state)
{
    static const char config[] = "BM=64 SPLIT_K=1 PADDED=true ALPHA=0.5";
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL), varied;
    config_choice c[16];
    struct target t;
    struct err e = {0};
    struct plan plan, other;
    const struct kernel *k = &p->kernels[0];
    assert_int_equal(target_named("sm_90a", &t, &e), LATHE_OK);
    assert_true(scalars_vary(p, &varied));
    struct value *slots = fixture_slots(p, k, config, c);
    assert_int_equal(plan_build(p, k, slots, &plan, &e), LATHE_OK);
    assert_true(scalars_plan(&varied, k, slots, &t, &plan, &other));
    const struct plan_arg *a = plan.steps[0].args, *b = other.steps[0].args;
    assert_true(a[7].f == 2 && b[7].f == 1.5 && b[8].f == 1.5 && b[8].kind == PLAN_F64 && b[6].i == a[6].i);
    const struct plan_arg *scalar = &b[9].fields[b[9].nfields - 1];
    assert_true(scalar->kind == PLAN_F32 && scalar->f == 1.5);
    plan_free(&other);
    plan.steps[0].grid[0]++;                        /* of something else */
    assert_false(scalars_plan(&varied, k, slots, &t, &plan, &other));
    assert_true(other.nsteps == 0 && !other.buffers);
    plan_free(&plan);
    mem_free(slots);
    scalars_free(&varied);
    problem_free(p);
}

static void an_argument_without_a_value(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("kernels/0/steps/0/args/7", "\"1 / (s - 1.5)\""), varied;
    config_choice c[16];
    struct target t;
    struct err e = {0};
    struct plan plan, other;
    assert_int_equal(target_named("sm_90a", &t, &e), LATHE_OK);
    assert_true(scalars_vary(p, &varied));
    struct value *slots = fixture_slots(p, &p->kernels[0], "BM=64 SPLIT_K=1 PADDED=true ALPHA=0.5", c);
    assert_int_equal(plan_build(p, &p->kernels[0], slots, &plan, &e), LATHE_OK);
    assert_false(scalars_plan(&varied, &p->kernels[0], slots, &t, &plan, &other));
    assert_int_equal(other.nsteps, 0);
    plan_free(&plan);
    mem_free(slots);
    scalars_free(&varied);
    problem_free(p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(beside_one_that_stays),
        cmocka_unit_test(any_values),
        cmocka_unit_test(what_else_depends_on_one_keeps_it),
        cmocka_unit_test(plans),
        cmocka_unit_test(an_argument_without_a_value),
    };
    return cmocka_run_group_tests_name("scalars", tests, NULL, NULL);
}
