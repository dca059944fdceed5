/* test_launch.c: what a launch may say beside its extents: tensor maps, the L2 window, programmatic launches. From the
 * specification's tree to the plan and the plan's JSON. */
#include "spec_fixture.h"

#include "model/plan.h"
#include <stdio.h>

static const char split[] = "BM=64 SPLIT_K=4 REDUCE=second_kernel PADDED=true ALPHA=0.5";
static const char last_block[] = "BM=64 SPLIT_K=4 REDUCE=last_block PADDED=true ALPHA=0.5";
static const char whole[] = "BM=64 SPLIT_K=1 PADDED=true ALPHA=0.5";

/* X [128, 512] and partial [4, 128, 1024], which is there where SPLIT_K > 1, are f32. */
static const char map[] = "{\"tag\": \"tensor_map\", \"#\": [\"X\"], \"box\": [\"BM\", \"BM // 2\"], "
                          "\"swizzle\": \"select(PADDED, 128, 0)\", \"l2\": 256}";
static const char map3[] = "{\"tag\": \"tensor_map\", \"#\": [\"partial\"], \"box\": [1, 2, 4]}";
static const char viewed[] = "{\"tag\": \"tensor_map\", \"#\": [\"X\"], \"shape\": [\"M * 2\", 4, \"K // 8\"], "
                             "\"box\": [\"BM\", 1, 16]}";
static const char window[] = "{\"#\": [\"W\"], \"hit\": \"persisting\", \"miss\": \"streaming\", \"ratio\": \"ALPHA\", "
                             "\"when\": \"SPLIT_K > 1\"}";

static json_t *tree_with_launches(void)
{
    json_t *tree = fixture_tree();
    fixture_set(tree, "kernels/0/source_text", "\"LatheTensorMap linear_simt linear_reduce\"");
    fixture_set(tree, "kernels/0/steps/0/args/0", map);
    fixture_set(tree, "kernels/0/steps/0/args/3", map3);
    fixture_set(tree, "kernels/0/steps/0/l2_window", window);
    fixture_set(tree, "kernels/0/steps/1/args/0", viewed);
    fixture_set(tree, "kernels/0/steps/1/programmatic", "\"SPLIT_K > 1\"");
    return tree;
}

static struct problem *launches_changed(const char *path, const char *text)
{
    char full[100];
    json_t *tree = tree_with_launches();
    snprintf(full, sizeof full, "kernels/0/%s", path ? path : "");
    if (path)
        fixture_set(tree, full, text);
    return fixture_problem(tree);
}

static status build(const struct problem *p, const char *config, struct plan *plan, struct err *e)
{
    config_choice c[16];
    struct value *slots = fixture_slots(p, &p->kernels[0], config, c);
    status s = plan_build(p, &p->kernels[0], slots, plan, e);
    mem_free(slots);
    return s;
}

static void fields(void **state)
{
    (void)state;
    struct problem *p = launches_changed(NULL, NULL);
    const struct launch *l = &p->kernels[0].steps[0].launch, *second = &p->kernels[0].steps[1].launch;
    assert_true(l->args[0].kind == ARG_TENSOR_MAP && l->args[0].tensor == 0 && l->args[0].map->rank == 2);
    assert_null(l->args[0].map->shape[0]);
    assert_string_equal(expr_text(l->args[0].map->box[1]), "BM // 2");
    assert_string_equal(expr_text(l->args[3].map->swizzle), "0");
    assert_string_equal(expr_text(l->args[3].map->l2), "0");
    assert_true(l->args[3].tensor == 4 && l->args[3].map->rank == 3);
    assert_null(l->programmatic);
    assert_true(l->l2_window->tensor == 1 && l->l2_window->hit == L2_persisting && l->l2_window->miss == L2_streaming);
    assert_true(second->args[0].map->rank == 3 && second->args[0].map->shape[2]);
    assert_non_null(second->programmatic);
    assert_null(second->l2_window);
    problem_free(p);
    p = launches_changed("steps/0/l2_window", "{\"#\": [\"tickets\"], \"hit\": \"normal\"}");
    const struct l2_window *w = p->kernels[0].steps[0].launch.l2_window;
    assert_true(w->hit == L2_normal && w->miss == L2_normal && w->tensor == 5 && !w->when);
    assert_string_equal(expr_text(w->ratio), "1.0");
    problem_free(p);
}

/* An output may be written through a tensor map alone. */
static void output_by_map(void **state)
{
    (void)state;
    json_t *tree = tree_with_launches();
    fixture_set(tree, "kernels/0/steps/0/args/2",
                "{\"tag\": \"tensor_map\", \"#\": [\"Y\"], \"box\": [8, 8]}");
    fixture_set(tree, "kernels/0/steps/1", NULL);
    problem_free(fixture_problem(tree));
}

static void bad_fields(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"steps/0/args/0/#/0", "\"XX\"", "args[1][1]: expected the name of a tensor or workspace buffer, got 'XX'"},
        {"steps/0/args/0/box", NULL, "kernels.simt.steps[1].args[1].box: expected at least one formula"},
        {"steps/0/args/0/box", "\"BM\"", "args[1].box: expected a list of formula"},
        {"steps/0/args/0/box", "[8]", "args[1]: the box has 1 axis, and the tensor X has 2"},
        {"steps/0/args/0/box", "[8, 8, 8]", "args[1]: the box has 3 axes, and the tensor X has 2"},
        {"steps/0/args/0/box", "[8, 8, 8, 8, 8]", "args[1].box: 5 entries, and at most 4"},
        {"steps/0/args/0/box/0", "2.5", "args[1].box[1]: expected an integer"},
        {"steps/0/args/0/shape", "[64]", "the box has 2 axes, and the shape given for X has 1"},
        {"steps/0/args/0/shape", "[\"half\", 4]", "args[1].shape[1]: expected an integer, but `half` is of type float"},
        {"steps/0/args/0/swizzle", "true", "args[1].swizzle: expected an integer"},
        {"steps/0/args/0/swizle", "64", "args[1]: unknown key 'swizle' (did you mean 'swizzle'?)"},
        {"steps/0/args/0/l2", "\"half\"", "args[1].l2: expected an integer"},
        {"source_text", "\"linear_simt linear_reduce\"", "args[1]: simt.cu has no LatheTensorMap, which is the "
                                                         "parameter's type: include \"lathe.cuh\""},
        {"steps/1/programmatic", "1", "steps[2].programmatic: expected true or false"},
        {"steps/0/programatic", "true", "steps[1]: unknown key 'programatic' (did you mean 'programmatic'?)"},
        {"steps/0/l2_window", "\"W\"", "steps[1].l2_window: expected { \"buffer\", hit = ..., miss = ... }"},
        {"steps/0/l2_window/#/0", "\"Q\"", "steps[1].l2_window[1]: expected the name of a tensor or workspace buffer"},
        {"steps/0/l2_window/hit", NULL, "steps[1].l2_window.hit: expected 'normal', 'streaming' or 'persisting', got "
                                        "nothing"},
        {"steps/0/l2_window/hit", "\"sticky\"", "l2_window.hit: expected 'normal', 'streaming' or 'persisting', got"},
        {"steps/0/l2_window/miss", "\"persisting\"", "l2_window.miss: expected 'normal' or 'streaming', got the text"},
        {"steps/0/l2_window/ratio", "\"PADDED\"", "l2_window.ratio: expected a number"},
        {"steps/0/l2_window/when", "3", "l2_window.when: expected true or false"},
        {"steps/0/l2_window/size", "3", "l2_window: unknown key 'size'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem *p;
        struct err e = {0};
        char path[100];
        json_t *tree = tree_with_launches();
        snprintf(path, sizeof path, "kernels/0/%s", cases[i].path);
        fixture_set(tree, path, cases[i].value);
        assert_int_equal(problem_from_json(tree, "spec.lua", NULL, &p, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        json_decref(tree);
    }
}

static void plans(void **state)
{
    (void)state;
    struct problem *p = launches_changed(NULL, NULL);
    struct plan plan;
    struct err e = {0};
    assert_int_equal(build(p, split, &plan, &e), LATHE_OK);
    const struct plan_step *s = plan.steps;
    const struct plan_tensor_map *m = &s[0].args[0].map;
    assert_true(s[0].args[0].kind == PLAN_TENSOR_MAP && s[0].args[0].buffer == 0);
    assert_true(m->rank == 2 && m->shape[0] == 128 && m->shape[1] == 512);
    assert_true(m->box[0] == 64 && m->box[1] == 32 && m->swizzle == 128 && m->l2 == 256);
    m = &s[0].args[3].map;
    assert_true(s[0].args[3].buffer == 4 && m->rank == 3 && m->shape[0] == 4 && m->shape[2] == 1024);
    assert_true(m->swizzle == 0 && m->l2 == 0);
    m = &s[1].args[0].map;
    assert_true(m->rank == 3 && m->shape[0] == 256 && m->shape[1] == 4 && m->shape[2] == 64 && m->box[2] == 16);
    assert_true(!s[0].programmatic && s[1].programmatic && !s[1].window.on);
    const struct plan_window *w = &s[0].window;
    assert_true(w->on && w->buffer == 1 && w->hit == L2_persisting && w->miss == L2_streaming && w->ratio == 0.5);
    plan_free(&plan);
    assert_int_equal(build(p, whole, &plan, &e), LATHE_OK);     /* partial is not there: neither is its map's content */
    assert_true(plan.steps[0].args[3].kind == PLAN_TENSOR_MAP && plan.steps[0].args[3].map.rank == 0);
    assert_false(plan.steps[0].window.on);
    plan_free(&plan);
    problem_free(p);
    p = launches_changed("steps/0/l2_window", "{\"#\": [\"partial\"], \"hit\": \"normal\"}");
    assert_int_equal(build(p, whole, &plan, &e), LATHE_OK);     /* nor is a window on it */
    assert_false(plan.steps[0].window.on);
    plan_free(&plan);
    problem_free(p);
}

/* A step may be programmatic only after another that runs. */
static void programmatic(void **state)
{
    (void)state;
    struct plan plan;
    struct err e = {0};
    struct problem *p = launches_changed("steps/0/programmatic", "\"SPLIT_K == 1\"");
    assert_int_equal(build(p, split, &plan, &e), LATHE_OK);
    assert_false(plan.steps[0].programmatic);
    plan_free(&plan);
    assert_int_equal(build(p, whole, &plan, &e), LATHE_SPEC);
    assert_has(e.text, "kernel simt: step 1 (linear_simt): programmatic is true, but this is the first step that runs "
                       "in this configuration");
    problem_free(p);

    p = launches_changed("steps/0/when", "\"REDUCE == 'last_block'\"");     /* the second step is the first then */
    assert_int_equal(build(p, split, &plan, &e), LATHE_SPEC);
    assert_has(e.text, "kernel simt: step 2 (linear_reduce): programmatic is true");
    assert_int_equal(build(p, last_block, &plan, &e), LATHE_OK);
    assert_int_equal(plan.nsteps, 1);
    plan_free(&plan);
    problem_free(p);
}

static void refusals(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"steps/0/args/0/box/0", "\"BM * 8\"", "step 1 (linear_simt): args[1]: tensor_map X: box[1] is 512, expected 1 "
                                               "to 256 (BM * 8: 64 * 8)"},
        {"steps/0/args/0/box/1", "0", "tensor_map X: box[2] is 0, expected 1 to 256"},
        {"steps/0/args/0/box/1", "6", "tensor_map X: the innermost axis of the box, box[2], is 24 bytes (6 elements of "
                                      "f32), expected a multiple of 16"},
        {"steps/0/args/0/box/1", "64", "box[2], is 256 bytes (64 elements of f32), and a swizzle of 128 takes at most "
                                       "128"},
        {"steps/0/args/0/swizzle", "16", "tensor_map X: swizzle is 16, expected 0, 32, 64 or 128 bytes"},
        {"steps/0/args/0/swizzle", "256", "tensor_map X: swizzle is 256, expected 0 to 128"},
        {"steps/0/args/0/l2", "32", "tensor_map X: l2 is 32, expected 0, 64, 128 or 256 bytes"},
        {"steps/0/args/0/l2", "-64", "tensor_map X: l2 is -64, expected 0 to 256"},
        {"steps/0/args/0/shape", "[128, 513]", "tensor_map X: the shape has more elements than X, which has 65536"},
        {"steps/0/args/0/shape", "[4294967295, 4294967295]", "the shape has more elements than X"},
        {"steps/0/args/0/shape", "[1, 4294967296]", "tensor_map X: shape[2] is 4294967296, expected 1 to 4294967295"},
        {"steps/0/args/0/shape", "[100, 510]", "axis 1 of X has a pitch of 2040 bytes (one step along it in memory), "
                                               "expected a multiple of 16 below 2^40"},
        {"steps/1/args/0/shape/2", "\"K // (M - 128)\"", "step 2 (linear_reduce): args[1]: tensor_map X: shape[3]: "},
        {"steps/1/programmatic", "\"M // (M - 128) > 1\"", "step 2 (linear_reduce): programmatic: "},
        {"steps/0/l2_window/ratio", "\"ALPHA * 3\"", "step 1 (linear_simt): l2_window.ratio is 1.5, expected 0 to 1 "
                                                     "(ALPHA * 3)"},
        {"steps/0/l2_window/ratio", "-0.25", "l2_window.ratio is -0.25"},
        {"steps/0/l2_window/ratio", "\"1 / (M - 128)\"", "l2_window.ratio: "},
        {"steps/0/l2_window/when", "\"M // (M - 128) > 1\"", "l2_window.when: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan plan;
        struct err e = {0};
        struct problem *p = launches_changed(cases[i].path, cases[i].value);
        assert_int_equal(build(p, split, &plan, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        assert_null(plan.buffers);
        problem_free(p);
    }
}

/* Extents and pitches that only a buffer of terabytes has. */
static void huge(void **state)
{
    static const struct {
        struct plan_tensor_map map;
        const char *expected;
    } cases[] = {
        {{2, {2, INT64_C(1) << 36}, {1, 16}, 0, 0}, "shape[2] is 68719476736, expected 1 to 4294967295"},
        {{3, {2, INT64_C(1) << 10, INT64_C(1) << 28}, {1, 1, 16}, 0, 0}, "axis 1 of big has a pitch of 1099511627776 "},
        {{0, {0}, {0}, 0, 0}, "a shape of 0 axes, expected 1 to 4"},
        {{5, {1, 1, 1, 1}, {1, 1, 1, 4}, 0, 0}, "a shape of 5 axes, expected 1 to 4"},
    };
    const struct plan_buffer big = {.name = "big", .dtype = DTYPE_f32, .count = INT64_C(1) << 50};
    struct plan_tensor_map fits = {3, {2, INT64_C(1) << 9, INT64_C(1) << 28}, {1, 1, 16}, 0, 0};
    struct err e = {0};
    (void)state;
    assert_int_equal(plan_tensor_map_check(&fits, &big, &e), LATHE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(plan_tensor_map_check(&cases[i].map, &big, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
    }
}

static void json_both_ways(void **state)
{
    (void)state;
    struct problem *p = launches_changed(NULL, NULL);
    struct err e = {0};
    for (int i = 0; i < 2; i++) {
        struct plan plan, back;
        assert_int_equal(build(p, i == 0 ? split : whole, &plan, &e), LATHE_OK);
        json_t *j = plan_to_json(&plan);
        assert_int_equal(plan_from_json(j, &back, &e), LATHE_OK);
        json_t *again = plan_to_json(&back);
        assert_true(json_equal(j, again));
        assert_memory_equal(&plan.steps[0].args[0].map, &back.steps[0].args[0].map, sizeof(struct plan_tensor_map));
        assert_memory_equal(&plan.steps[0].args[3].map, &back.steps[0].args[3].map, sizeof(struct plan_tensor_map));
        assert_int_equal(back.steps[0].window.on, i == 0);
        assert_true(i == 1 || (back.steps[1].programmatic && back.steps[0].window.ratio == 0.5));
        plan_free(&plan);
        plan_free(&back);
        json_decref(j);
        json_decref(again);
    }
    problem_free(p);
}

static void bad_json(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"steps/0/programmatic", "1", "plan.steps.programmatic: expected"},
        {"steps/0/l2_window", NULL, "plan.steps.l2_window: expected a value, but it is missing"},
        {"steps/0/l2_window", "3", "plan.steps.l2_window: expected an object"},
        {"steps/0/l2_window/buffer", "6", "l2_window.buffer: expected an integer from 0 to 5"},
        {"steps/0/l2_window/hit", "\"sticky\"", "l2_window.hit: expected a known name"},
        {"steps/0/l2_window/miss", "3", "l2_window.miss: expected"},
        {"steps/0/l2_window/ratio", "1.5", "l2_window.ratio: expected a number from 0 to 1"},
        {"steps/0/args/0/buffer", "6", "args.buffer: expected an integer from 0 to 5"},
        {"steps/0/args/0/shape", "[128, 512, 1]", "args.shape: expected a tensor map that CUDA takes"},
        {"steps/0/args/0/shape", "[1, 1, 1, 1, 1]", "args.shape: expected at most 4 elements"},
        {"steps/0/args/0/shape", "[128, 1024]", "args.shape: expected a tensor map"},
        {"steps/0/args/0/shape", "[]", "args.shape: expected a tensor map"},
        {"steps/0/args/0/box/0", "4294967297", "args.shape: expected a tensor map"},
        {"steps/0/args/0/box/0", "\"8\"", "args.shape: expected a tensor map"},
        {"steps/0/args/0/swizzle", "7", "args.shape: expected a tensor map"},
        {"steps/0/args/0/l2", "-1", "args.l2: expected an integer from 0"},
        {"steps/0/args/9/fields/0/kind", "\"tensor_map\"", "fields.kind: expected no tensor map within a struct"},
    };
    (void)state;
    struct problem *p = launches_changed(NULL, NULL);
    struct plan plan, back;
    struct err e = {0};
    assert_int_equal(build(p, split, &plan, &e), LATHE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *j = plan_to_json(&plan);
        fixture_set(j, cases[i].path, cases[i].value);
        assert_int_equal(plan_from_json(j, &back, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        assert_null(back.steps);
        json_decref(j);
    }
    plan_free(&plan);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),
        cmocka_unit_test(output_by_map),
        cmocka_unit_test(bad_fields),
        cmocka_unit_test(plans),
        cmocka_unit_test(programmatic),
        cmocka_unit_test(refusals),
        cmocka_unit_test(huge),
        cmocka_unit_test(json_both_ways),
        cmocka_unit_test(bad_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
