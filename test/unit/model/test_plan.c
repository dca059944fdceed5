/* test_plan.c: plans of good configurations, refusals of what a launch cannot take, and a plan's JSON both ways. */
#include "spec_fixture.h"

#include "model/plan.h"
#include <stdio.h>

static const char split[] = "BM=64 SPLIT_K=4 REDUCE=second_kernel PADDED=true ALPHA=0.5";
static const char whole[] = "BM=64 SPLIT_K=1 PADDED=true ALPHA=0.5";

static status build(const struct problem *p, int kernel, const char *config, struct plan *plan, struct err *e)
{
    config_choice c[16];
    struct value *slots = fixture_slots(p, &p->kernels[kernel], config, c);
    status s = plan_build(p, &p->kernels[kernel], slots, plan, e);
    mem_free(slots);
    return s;
}

static void buffers(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    struct plan plan;
    struct err e = {0};
    assert_int_equal(build(p, 0, split, &plan, &e), LATHE_OK);
    assert_true(plan.nbuffers == 6 && plan.ntensors == 4);
    const struct plan_buffer *b = plan.buffers;
    assert_string_equal(b[1].name, "W");
    assert_true(b[1].role == PLAN_INPUT && b[1].count == 1024 * 512 && b[1].rank == 2 && b[1].shape[1] == 512);
    assert_true(b[1].fill == FILL_UNIFORM && b[1].fill_a == -b[1].fill_b && b[1].fill_b > 0.044);
    assert_true(b[2].fill == FILL_NORMAL && !b[0].has_check && !b[2].has_check);
    assert_int_equal(b[3].role, PLAN_OUTPUT);
    assert_true(b[4].role == PLAN_WORKSPACE && b[4].count == 4 * 128 * 1024 && b[4].zero == ZERO_NEVER);
    assert_true(b[5].count == 2 && b[5].dtype == DTYPE_u32 && b[5].zero == ZERO_ONCE);
    assert_int_equal(plan_buffer_bytes(&b[4]), 4 * 4 * 128 * 1024);
    assert_int_equal(plan_bytes(&plan), 4 * (128 * 512 + 1024 * 512 + 1024 + 128 * 1024 + 4 * 128 * 1024 + 2));
    plan_free(&plan);
    assert_int_equal(build(p, 0, whole, &plan, &e), LATHE_OK);
    assert_true(plan.buffers[4].count == 0 && plan.buffers[5].count == 0);
    assert_int_equal(plan.nsteps, 1);
    assert_true(plan.steps[0].args[3].kind == PLAN_BUFFER && plan.steps[0].args[3].buffer == 4);
    plan_free(&plan);
    assert_int_equal(plan_tensors(p, &plan, &e), LATHE_OK);
    assert_true(plan.nbuffers == 4 && plan.ntensors == 4 && plan.nsteps == 0 && plan.buffers[3].count == 128 * 1024);
    plan_free(&plan);
    problem_free(p);
}

static void check_values(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("tensors/0/check", "{\"tag\": \"normal\", \"#\": [\"K/512\", 4]}");
    struct plan plan, back;
    struct err e = {0};
    assert_true(problem_has_check(p));
    assert_int_equal(build(p, 0, split, &plan, &e), LATHE_OK);
    json_t *j = plan_to_json(&plan);
    assert_int_equal(plan_from_json(j, &back, &e), LATHE_OK);
    const struct plan_buffer *b = back.buffers;
    assert_true(b[0].has_check && b[0].check == FILL_NORMAL && b[0].check_a == 1 && b[0].check_b == 4);
    assert_true(b[0].fill == FILL_UNIFORM && !b[1].has_check && !b[3].has_check && !b[4].has_check);
    json_decref(j);
    plan_free(&plan);
    plan_free(&back);
    problem_free(p);
}

static void launches(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("kernels/0/steps/0/cluster", "[2, 1, 2]");
    struct plan plan;
    struct err e = {0};
    assert_int_equal(build(p, 0, split, &plan, &e), LATHE_OK);
    assert_int_equal(plan.nsteps, 2);
    const struct plan_step *s = &plan.steps[0];
    assert_string_equal(s->function, "linear_simt");
    assert_true(s->grid[0] == 16 && s->grid[1] == 2 && s->grid[2] == 4);
    assert_true(s->block[0] == 32 && s->block[1] == 1 && s->block[2] == 1);
    assert_true(s->cluster[0] == 2 && s->cluster[1] == 1 && s->cluster[2] == 2);
    assert_int_equal(s->shared, 64 * 32 * 4);
    assert_int_equal(s->nargs, 10);
    assert_true(s->args[5].kind == PLAN_I32 && s->args[5].i == 128);
    assert_true(s->args[6].kind == PLAN_I64 && s->args[6].i == 1024 * 512);
    assert_true(s->args[7].kind == PLAN_F32 && s->args[7].f == 2.0);
    assert_true(s->args[8].kind == PLAN_F64 && s->args[8].f == 2.0);
    const struct plan_arg *ep = &s->args[9];
    assert_true(ep->kind == PLAN_STRUCT && ep->nfields == 2);
    assert_true(ep->fields[0].kind == PLAN_BUFFER && ep->fields[0].buffer == 2);
    assert_true(ep->fields[1].kind == PLAN_F32 && ep->fields[1].f == 2.0);
    assert_int_equal(plan.steps[1].grid[0], 128 * 1024 / 256);
    assert_int_equal(plan.steps[1].cluster[0], 0);
    plan_free(&plan);
    problem_free(p);
}

static void gemms(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    struct plan plan;
    struct err e = {0};
    assert_int_equal(build(p, 1, "", &plan, &e), LATHE_OK);
    const struct plan_step *s = &plan.steps[0];
    assert_true(s->kind == STEP_GEMM && s->a == 0 && s->b == 1 && s->c == 4);
    assert_true(!s->trans_a && s->trans_b && s->compute == GEMM_TF32);
    assert_true(s->m == 128 && s->n == 1024 && s->k == 512);
    plan_free(&plan);
    problem_free(p);
}

static void refusals(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"steps/0/grid/0", "\"N - 1024\"", "kernel simt: step 1 (linear_simt): grid.x is 0, expected 1 to 2147483647"},
        {"steps/0/grid/0", "\"N - 1024\"", "(N - 1024: 1024 - 1024"},
        {"steps/0/grid/0", "\"N * N * N * 2\"", "grid.x is 2147483648, expected 1 to 2147483647"},
        {"steps/0/grid/1", "65536", "grid.y is 65536, expected 1 to 65535"},
        {"steps/0/grid/2", "-1", "grid.z is -1, expected 1 to 65535"},
        {"steps/0/grid/0", "\"N * 4611686018427387904\"", "kernel simt: step 1 (linear_simt): grid.x: "},
        {"steps/0/grid/0", "\"N // (M - 128)\"", "kernel simt: step 1 (linear_simt): grid.x: "},
        {"steps/0/block", "1025", "block.x is 1025, expected 1 to 1024"},
        {"steps/0/block", "[32, 33]", "block is 32 x 33 x 1 = 1056, expected at most 1024"},
        {"steps/0/block", "[1, 1, 65]", "block.z is 65, expected 1 to 64"},
        {"steps/0/cluster", "[16, 2]", "cluster is 16 x 2 x 1 = 32, expected at most 16"},
        {"steps/0/cluster", "3", "cluster.x is 3, which does not divide grid.x = 16"},
        {"steps/0/shared", "\"smem - 999999\"", "shared is -991807, expected 0 to 2147483648"},
        {"steps/0/shared", "2147483649", "shared is 2147483649, expected 0 to 2147483648"},
        {"steps/0/args/5", "\"N*N*N*N\"",
         "step 1 (linear_simt): args[6]: N*N*N*N is 1099511627776, expected -2147483648"},
        {"steps/0/args/6", "{\"tag\": \"i64\", \"#\": [\"N*N*N*N*N*N*N\"]}", "args[7]: "},
        {"steps/0/args/7", "\"s * 1e300\"", "args[8]: `s * 1e300` is 2e+300, expected a finite f32"},
        {"steps/0/args/8", "{\"tag\": \"f64\", \"#\": [\"s / (s - 2.0)\"]}", "args[9]: "},
        {"steps/1/when", "\"M // (M - 128) > 1\"", "kernel simt: step 2 (linear_reduce): "},
        {"workspace/0/#/2/0", "\"SPLIT_K - 5\"",
         "kernel simt: workspace: partial: shape[1]: SPLIT_K - 5 is -1, expected 0"},
        {"workspace/0/#/2/0", "1125899906842624",
         "kernel simt: workspace: partial: 1125899906842624 x 128 x 1024 elements "
         "of f32 are more than 2^60 bytes"},
        {"workspace/0/when", "\"M // (M - 128) > 1\"", "kernel simt: workspace: partial: when: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[100];
        struct plan plan;
        struct err e = {0};
        snprintf(path, sizeof path, "kernels/0/%s", cases[i].path);
        struct problem *p = fixture_changed(path, cases[i].value);
        assert_int_equal(build(p, 0, split, &plan, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        assert_null(plan.buffers);
        problem_free(p);
    }
}

static void refusals_of_gemms_and_steps(void **state)
{
    (void)state;
    struct plan plan;
    struct err e = {0};
    json_t *tree = fixture_tree();
    fixture_set(tree, "baselines/0/params", "[[\"EXTRA\", [8]]]");
    fixture_set(tree, "baselines/0/workspace/0/2/1", "\"N + EXTRA\"");
    struct problem *p = fixture_problem(tree);
    assert_int_equal(build(p, 1, "EXTRA=8", &plan, &e), LATHE_SPEC);
    assert_has(e.text,
               "kernel cublas_tf32: step 1 (gemm): the shapes do not match: W is 1024 x 512, Z is 128 x 1032, and "
               "axis 1 of W must equal axis 2 of Z");
    problem_free(p);

    p = fixture_changed("baselines/0/workspace/0", "{\"#\": [\"Z\", \"f32\", [\"M\", \"N\"]], \"when\": \"M > 1000\"}");
    assert_int_equal(build(p, 1, "", &plan, &e), LATHE_SPEC);
    assert_has(e.text, "step 1 (gemm): Z is not there in this configuration (its `when` does not hold)");
    problem_free(p);

    p = fixture_changed("kernels/0/steps/0/when", "\"SPLIT_K > 1\"");
    assert_int_equal(build(p, 0, whole, &plan, &e), LATHE_SPEC);
    assert_has(e.text, "kernel simt: no step's `when` holds in this configuration");
    problem_free(p);

    tree = fixture_tree();
    fixture_set(tree, "epilogue", "\"z + M\"");
    fixture_set(tree, "kernels/0/steps/0/grid/1", "1");
    fixture_set(tree, "kernels/0/steps/0/args/5", "\"N\"");
    p = fixture_problem(tree);
    assert_int_equal(problem_set_dim(p, "K", 1, &e), LATHE_OK);
    assert_int_equal(problem_set_dim(p, "N", 1, &e), LATHE_OK);
    assert_int_equal(problem_set_dim(p, "M", INT64_C(1) << 32, &e), LATHE_OK);
    assert_int_equal(build(p, 0, whole, &plan, &e), LATHE_SPEC);
    assert_has(e.text, "args[10]: epilogue: the size M=4294967296 does not fit an int");
    assert_int_equal(build(p, 1, "", &plan, &e), LATHE_SPEC);
    assert_has(e.text, "step 1 (gemm): X is 4294967296 x 1, and a gemm takes at most 2^31-1 rows and columns");
    problem_free(p);
}

static void json_both_ways(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("kernels/0/steps/0/cluster", "[2, 1, 2]");
    struct err e = {0};
    for (int k = 0; k < 2; k++) {
        struct plan plan, back;
        assert_int_equal(build(p, k, k == 0 ? split : "", &plan, &e), LATHE_OK);
        json_t *j = plan_to_json(&plan);
        char *text = json_dumps(j, 0);
        json_t *sent = json_loads(text, 0, NULL);
        assert_int_equal(plan_from_json(sent, &back, &e), LATHE_OK);
        json_t *again = plan_to_json(&back);
        assert_true(json_equal(j, again));
        assert_int_equal(back.nsteps, plan.nsteps);
        assert_int_equal(plan_bytes(&back), plan_bytes(&plan));
        plan_free(&plan);
        plan_free(&back);
        free(text);
        json_decref(j);
        json_decref(sent);
        json_decref(again);
    }
    problem_free(p);
}

/* In every precision, and for narrow matrices: what a device worker is told is what the specification says. */
static void json_of_gemms(void **state)
{
    (void)state;
    static const struct {
        const char *type, *compute;
        enum gemm_compute is;
    } cases[] = {{"f32", "f32", GEMM_F32},   {"f32", "tf32", GEMM_TF32}, {"f32", "bf16", GEMM_BF16},
                 {"f32", "f16", GEMM_F16},   {"f64", "f64", GEMM_F64},   {"f16", "f32", GEMM_F32},
                 {"bf16", "f32", GEMM_F32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = fixture_tree();
        struct plan plan, back;
        struct err e = {0};
        char type[16], compute[16];
        snprintf(type, sizeof type, "\"%s\"", cases[i].type);
        snprintf(compute, sizeof compute, "\"%s\"", cases[i].compute);
        fixture_set(tree, "tensors/0/#/1", type);
        fixture_set(tree, "tensors/1/#/1", type);
        fixture_set(tree, "baselines/0/workspace/0/1", type);
        fixture_set(tree, "baselines/1/workspace/0/1", type);
        fixture_set(tree, "baselines/0/steps/0/compute", compute);
        struct problem *p = fixture_problem(tree);
        assert_int_equal(build(p, 1, "", &plan, &e), LATHE_OK);
        json_t *j = plan_to_json(&plan);
        assert_int_equal(plan_from_json(j, &back, &e), LATHE_OK);
        assert_int_equal(back.steps[0].compute, cases[i].is);
        assert_string_equal(dtype_name(back.buffers[back.steps[0].a].dtype), cases[i].type);
        assert_string_equal(dtype_name(back.buffers[back.steps[0].c].dtype), cases[i].type);
        json_decref(j);
        plan_free(&plan);
        plan_free(&back);
        problem_free(p);
    }
}

static void bad_json(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"buffers", NULL, "plan.buffers: expected a value"},
        {"ntensors", "7", "plan.ntensors: expected an integer from 0 to 6"},
        {"buffers/0/dtype", "\"f8\"", "plan.buffers.dtype: expected a known name"},
        {"buffers/0/role", "\"guest\"", "plan.buffers.role: expected a known name"},
        {"buffers/0/count", "7", "plan.buffers.count: expected the product of the shape, or 0"},
        {"buffers/0/shape", "[1, 2, 3, 4, 5]", "plan.buffers.shape: expected at most 4 elements"},
        {"buffers/0/shape", "[-1]", "plan.buffers.shape: expected integers of 0 or more"},
        {"buffers/0/shape", "[4611686018427387904, 4]", "and at most 2^60 bytes"},
        {"buffers/0/name", "\"a name of far too many characters for any buffer there is\"", "expected a shorter text"},
        {"steps/0/kind", "\"copy\"", "plan.steps.kind: expected a known name"},
        {"steps/0/grid", "[1, 2]", "plan.steps.grid: expected three integers"},
        {"steps/0/grid", "[1, 2, 0]", "plan.steps.grid: expected three integers"},
        {"steps/0/shared", "-1", "plan.steps.shared: expected an integer from 0"},
        {"steps/0/args/0/buffer", "6", "args.buffer: expected an integer from 0 to 5"},
        {"steps/0/args/0/kind", "\"i32\"", "args.i: expected a value, but it is missing"},
        {"steps/0/args/5/i", "2147483648", "args.i: expected an integer from -2147483648 to 2147483647"},
        {"steps/0/args/9/fields/0/kind", "\"struct\"", "fields.kind: expected no struct within a struct"},
        {"steps/0/args", "3", "plan.steps.args: expected an array"},
        {"steps/1", "3", "plan.steps: expected an object"},
    };
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    struct plan plan, back;
    struct err e = {0};
    assert_int_equal(build(p, 0, split, &plan, &e), LATHE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *j = plan_to_json(&plan);
        fixture_set(j, cases[i].path, cases[i].value);
        assert_int_equal(plan_from_json(j, &back, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        assert_null(back.steps);
        json_decref(j);
    }
    plan_free(&plan);
    assert_int_equal(build(p, 1, "", &plan, &e), LATHE_OK);
    json_t *j = plan_to_json(&plan);
    fixture_set(j, "steps/0/k", "513");
    assert_int_equal(plan_from_json(j, &back, &e), LATHE_SPEC);
    assert_has(e.text, "plan.steps.m: expected extents that are the buffers' own");
    json_decref(j);
    plan_free(&plan);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers),
        cmocka_unit_test(check_values),
        cmocka_unit_test(launches),
        cmocka_unit_test(gemms),
        cmocka_unit_test(refusals),
        cmocka_unit_test(refusals_of_gemms_and_steps),
        cmocka_unit_test(json_both_ways),
        cmocka_unit_test(json_of_gemms),
        cmocka_unit_test(bad_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
