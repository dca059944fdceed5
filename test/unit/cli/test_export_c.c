/* test_export_c.c: the exported C for CUDA's driver, compiled as strict C11 against a driver that runs nothing: it
 * launches what the plan says at any size. test_export_c_choice.c: which of several configurations it chooses. */
#include "driver/exported.h"

#include "runtime/compare.h"

static void test_linear(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear/spec.lua", 2, 11, c_says);
}

static void test_narrow(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear_bf16/spec.lua", 1, 11, c_says);
}

static void test_all_that_a_launch_says(void **state)
{
    needs_compiler();
    compare_kernels("test/specs/launch.lua", 6, 11, c_says);
}

/* Lets and workspace that depend on scalars. */
static void test_scalars(void **state)
{
    needs_compiler();
    compare_kernels("test/specs/scalars.lua", 2, 11, c_says);
}

/* Results of different problems have no common parameters. */
static void test_different(void **state)
{
    struct target t;
    struct err e = {0};
    json_t *provenance = json_object();
    struct strbuf header = {0}, source = {0};
    struct problem *a = program_problem(program_tree("kernels/linear/spec.lua"), "kernels/linear/spec.lua");
    struct problem *b = program_problem(program_tree("test/specs/launch.lua"), "test/specs/launch.lua");
    config_choice choice[64] = {0};
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    const struct export_input in[] = {{a, &a->kernels[0], choice, &t, provenance, NULL},
                                      {b, &b->kernels[0], choice, &t, provenance, NULL}};
    const struct export_variant v[] = {{.in = &in[0], .cubin = {.data = "a", .len = 1}},
                                       {.in = &in[1], .cubin = {.data = "b", .len = 1}}};
    assert_int_equal(export_c(v, 2, "w.h", &header, &source, &e), LATHE_USAGE);
    assert_non_null(strstr(e.text, "different problems"));
    sb_free(&header);
    sb_free(&source);
    json_decref(provenance);
    problem_free(a);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_all_that_a_launch_says),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_different),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
